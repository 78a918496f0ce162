//! Processors of other machines.

use super::*;

const STAT: &[u8] =
    b"cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 60 10 20 3000 40 5 6 7 8 9\ncpu2 40 10 10 1000 10 1 1 1 1 1\n\
    cpu1 1 2 3 4 5 6 7 8 9 10\nintr 12345 1 2 3\nctxt 67890\nbtime 1700000000\n";

const CPUINFO: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 85\n\
    model name\t: Intel(R) Xeon(R) Gold: 6248 CPU @ 2.50GHz \nstepping\t: 7\n\n\
    processor\t: 2\nmodel name\t: Intel(R) Xeon(R) Gold\nflags\t\t: fpu vme\n\n\
    processor\t: 7\nmodel name\t: of one that is not running\n\n";

fn parse(stat: &[u8], cpuinfo: &str) -> Cpus {
    Cpus::parse(stat, cpuinfo.into(), "model name").unwrap()
}

fn numbers(cpus: &Cpus) -> Vec<u32> {
    cpus.list().iter().map(|cpu| cpu.number).collect()
}

#[test]
fn processors_come_in_the_order_of_their_numbers_with_milliseconds() {
    let cpus = parse(STAT, CPUINFO);
    assert_eq!(numbers(&cpus), [0, 1, 2]);
    let times = cpus.list()[0].times;
    assert_eq!(times, Times { user: 600, nice: 100, system: 200, idle: 30_000, interrupts: 50 });
    assert_eq!(cpus.list()[2].times.user, 400);
}

#[cfg(not(target_arch = "aarch64"))]
#[test]
fn models_are_matched_by_number() {
    let cpus = parse(STAT, CPUINFO);
    let models: Vec<_> = cpus.list().iter().map(|cpu| cpus.model(cpu)).collect();
    assert_eq!(models, [b"Intel(R) Xeon(R) Gold: 6248 CPU @ 2.50GHz".as_slice(), b"unknown", b"Intel(R) Xeon(R) Gold"]);
}

#[test]
fn a_model_that_is_not_told_is_unknown() {
    for cpuinfo in [
        "",
        "\n",
        "processor\t: 0\n",
        "processor\t: 0\nmodel name\t:\n",
        "model name\t: none\n",
        "processor: x\nmodel name: y\n",
    ] {
        let cpus = parse(STAT, cpuinfo);
        assert!(cpus.list().iter().all(|cpu| cpus.model(cpu) == b"unknown"), "{cpuinfo:?}");
    }
}

#[test]
fn gaps_strange_lines_and_strange_numbers() {
    let stat =
        b"cpu  1 1 1 1 1 1\ncpu5 1 2 3 4 5 6\ncpu4294967295 1 2 3 4 5 6\ncpu4294967296 1 2 3 4 5 6\ncpu6 1 2 3\n\
        cpux 1 2 3 4 5 6\ncpu7 1 2 3 4 5 -6\ncpu5 9 9 9 9 9 9\n\xff\n";
    let cpus = parse(stat, "");
    assert_eq!(numbers(&cpus), [5, u32::MAX]);
    assert_eq!(numbers(&parse(b"", CPUINFO)), []);
}

#[test]
fn the_speed_is_the_limit_in_megahertz() {
    let directory = std::env::temp_dir().join(format!("oxuv-cpu-{}", std::process::id()));
    for (cpu, text) in [("cpu0", "3400000\n"), ("cpu1", "<unknown>\n")] {
        let frequency = directory.join(cpu).join("cpufreq");
        std::fs::create_dir_all(&frequency).unwrap();
        std::fs::write(frequency.join("scaling_max_freq"), text).unwrap();
    }
    let mut cpus = parse(STAT, CPUINFO);
    cpus.read_speeds(&directory).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let speeds: Vec<_> = cpus.list().iter().map(|cpu| cpu.speed).collect();
    assert_eq!(speeds, [3400, 0, 0]);
}

#[test]
fn decimals() {
    let mut digits = [0; 10];
    for number in [0, 7, 10, 99, 12_345, u32::MAX] {
        assert_eq!(decimal(number, &mut digits), number.to_string().as_bytes());
    }
}

#[test]
fn this_machine_has_processors() {
    let cpus = Cpus::read().unwrap();
    assert!(!cpus.list().is_empty());
    assert!(available_parallelism() >= 1);
    // The standard library knows the same limits.
    let standard = std::thread::available_parallelism().unwrap().get();
    assert!(available_parallelism() as usize <= standard);
}

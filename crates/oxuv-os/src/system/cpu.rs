//! The processors, and how many of them a program should use.

use std::ops::Range;
use std::path::Path;

use rustix::thread::sched_getaffinity;

use super::cgroup::Cgroups;
use super::text::{lines, number, path, read, split_once, words};
use crate::Result;

/// The field of /proc/cpuinfo that tells the model.
const MODEL_FIELD: &str = if cfg!(target_arch = "aarch64") {
    "CPU part"
} else if cfg!(any(target_arch = "powerpc", target_arch = "powerpc64")) {
    "cpu"
} else if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
    "cpu model"
} else if cfg!(target_arch = "loongarch64") {
    "cpu family"
} else {
    "model name"
};

/// The kernel counts time in hundredths of a second towards programs, on all machines.
const MILLISECONDS_PER_TICK: u64 = 10;

/// A processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// Its number. Processors that are switched off leave gaps.
    pub number: u32,
    /// The highest frequency that it is allowed to have, in MHz; 0 when the system does not say.
    pub speed: u32,
    /// What it has done since the system was started.
    pub times: Times,
    /// Where its model stands in /proc/cpuinfo.
    model: Range<usize>,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// In programs.
    pub user: u64,
    /// In programs that are nice.
    pub nice: u64,
    /// In the kernel.
    pub system: u64,
    /// With nothing to do.
    pub idle: u64,
    /// In interrupts.
    pub interrupts: u64,
}

/// The processors that are switched on, in the order of their numbers.
#[derive(Debug)]
pub struct Cpus {
    cpuinfo: Vec<u8>,
    list: Vec<Cpu>,
}

impl Cpus {
    /// Reads what /proc and /sys say of them.
    ///
    /// # Errors
    /// Those of opening and reading /proc/stat; ENOMEM. Where another file is missing, less is told.
    #[doc(alias = "uv_cpu_info")]
    pub fn read() -> Result<Cpus> {
        let stat = read(Path::new("/proc/stat"))?;
        let cpuinfo = read(Path::new("/proc/cpuinfo")).unwrap_or_default();
        let mut cpus = Cpus::parse(&stat, cpuinfo, MODEL_FIELD)?;
        cpus.read_speeds(Path::new("/sys/devices/system/cpu"))?;
        Ok(cpus)
    }

    fn parse(stat: &[u8], cpuinfo: Vec<u8>, model_field: &str) -> Result<Cpus> {
        let mut list = Vec::new();
        for cpu in lines(stat).filter_map(times) {
            list.try_reserve(1)?;
            list.push(cpu);
        }
        list.sort_unstable_by_key(|cpu: &Cpu| cpu.number);
        list.dedup_by_key(|cpu| cpu.number);
        let mut cpus = Cpus { cpuinfo, list };
        cpus.find_models(model_field.as_bytes());
        Ok(cpus)
    }

    /// A block of /proc/cpuinfo begins with `processor : 0`.
    fn find_models(&mut self, model_field: &[u8]) {
        let mut current = None;
        let mut begin = 0;
        for line in lines(&self.cpuinfo) {
            let end = begin + line.len();
            if let Some((name, value)) = split_once(line, b':') {
                let name = name.trim_ascii_end();
                if name == b"processor" {
                    let number = number::<u32>(value);
                    current = self.list.iter().position(|cpu| Some(cpu.number) == number);
                } else if let (true, Some(cpu)) = (name == model_field, current) {
                    self.list[cpu].model = end - value.trim_ascii_start().len()..end;
                }
            }
            begin = end + 1;
        }
    }

    /// Reads the frequencies, which stand in kHz, each in a file of its own.
    fn read_speeds(&mut self, directory: &Path) -> Result<()> {
        let directory = directory.as_os_str().as_encoded_bytes();
        for cpu in &mut self.list {
            // The limit that is set for it, and not what it runs at: to ask for that takes some machines 20 ms.
            let mut digits = [0; 10];
            let file = path(&[directory, b"/cpu", decimal(cpu.number, &mut digits), b"/cpufreq/scaling_max_freq"])?;
            let frequency: Option<u64> = read(&file).ok().and_then(|text| number(&text));
            cpu.speed = frequency.map_or(0, |khz| u32::try_from(khz / 1000).unwrap_or(0));
        }
        Ok(())
    }

    /// The processors.
    pub fn list(&self) -> &[Cpu] {
        &self.list
    }

    /// The name of a processor's model, `unknown` if the system does not say.
    pub fn model(&self, cpu: &Cpu) -> &[u8] {
        let said = self.cpuinfo.get(cpu.model.clone()).unwrap_or_default().trim_ascii_end();
        let name = if cfg!(target_arch = "aarch64") { super::arm::core_name(said) } else { Some(said) };
        name.filter(|name| !name.is_empty()).unwrap_or(b"unknown")
    }
}

/// A line of /proc/stat about one processor: `cpu0 user nice system idle iowait irq ...`, in ticks.
fn times(line: &[u8]) -> Option<Cpu> {
    let mut words = words(line);
    let number: u32 = number(words.next()?.strip_prefix(b"cpu")?)?;
    let mut milliseconds = || super::text::number::<u64>(words.next()?)?.checked_mul(MILLISECONDS_PER_TICK);
    let (user, nice, system, idle) = (milliseconds()?, milliseconds()?, milliseconds()?, milliseconds()?);
    let _waiting_for_disks = milliseconds()?;
    let times = Times { user, nice, system, idle, interrupts: milliseconds()? };
    Some(Cpu { number, speed: 0, times, model: 0..0 })
}

fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut place = digits.len();
    loop {
        place -= 1;
        digits[place] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[place..];
        }
    }
}

/// How many threads can do something at the same time: the processors that the calling thread may run on, and no more
/// than its control groups give time for. At least 1.
///
/// As `std::thread::available_parallelism`, which does not find the limit in a container that is told its group's path on
/// the host.
#[doc(alias = "uv_available_parallelism")]
pub fn available_parallelism() -> u32 {
    let groups = Cgroups::of_this_process().ok();
    let quota = groups.and_then(|groups| groups.cpu_limit()).and_then(|quota| u32::try_from(quota).ok());
    processors().min(quota.unwrap_or(u32::MAX)).max(1)
}

/// The processors that the calling thread may run on, or if there are too many to say so, all that are switched on.
fn processors() -> u32 {
    match sched_getaffinity(None) {
        Ok(set) => set.count(),
        // SAFETY: `sysconf` takes a number and returns one, -1 when it does not know.
        Err(_) => u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1),
    }
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;

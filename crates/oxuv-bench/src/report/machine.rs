//! What the measurements were made on, and with.

use std::fs;
use std::process::Command;

/// Lines with a name each.
pub(crate) struct Machine {
    pub(crate) lines: Vec<(&'static str, String)>,
}

impl Machine {
    /// Looks at this machine. What it does not tell is left out.
    pub(crate) fn look() -> Machine {
        let cpuinfo = file("/proc/cpuinfo");
        let processor = line_after(&cpuinfo, "model name").map(|model| {
            let count = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
            let flags = line_after(&cpuinfo, "flags").unwrap_or_default();
            let is_virtual = flags.split(' ').any(|flag| flag == "hypervisor");
            format!("{model}, {count} cores{}", if is_virtual { ", of a virtual machine" } else { "" })
        });
        let memory = line_after(&file("/proc/meminfo"), "MemTotal")
            .and_then(|size| size.strip_suffix(" kB")?.parse::<u64>().ok())
            .map(|kilobytes| format!("{} MiB", kilobytes / 1024));
        let kernel = file("/proc/sys/kernel/osrelease").trim().to_owned();
        let lines = [
            ("processor", processor),
            ("memory", memory),
            ("kernel", Some(format!("Linux {kernel}"))),
            ("Rust", first_line("rustc", "--version")),
            ("C compiler", first_line("cc", "--version")),
            ("peers", Some(peers(include_str!("../../../../Cargo.lock")))),
            ("load at the start", Some(load())),
        ];
        Machine { lines: lines.into_iter().filter_map(|(name, text)| Some((name, text?))).collect() }
    }

    /// Others that run meanwhile spoil the times: so the load is told from before and from after.
    pub(crate) fn look_again(&mut self) {
        self.lines.push(("load at the end, of the measuring itself", load()));
    }

    #[cfg(test)]
    pub(crate) fn made_up() -> Machine {
        Machine { lines: vec![("processor", "an abacus".into())] }
    }
}

fn file(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What stands behind a name and a colon, where it stands first.
fn line_after(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn first_line(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

/// The runnable programs, on average over the last minute.
fn load() -> String {
    file("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned()
}

/// The newest versions in Cargo's lock file: a peer brings older ones of another with it.
fn peers(lock: &str) -> String {
    let version = |name: &str| {
        let head = format!("name = \"{name}\"\nversion = \"");
        let all = lock.split(&head).skip(1).filter_map(|rest| rest.split('"').next());
        all.max_by_key(|version| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>())
    };
    let named = |name| Some(format!("{name} {}", version(name)?));
    ["tokio", "mio", "monoio", "libuv-sys2"].into_iter().filter_map(named).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_each_peer_is_told() {
        let lock = "name = \"mio\"\nversion = \"0.8.11\"\n\nname = \"mio\"\nversion = \"1.10.2\"\n\n\
                    name = \"mio\"\nversion = \"1.9.0\"\n\nname = \"tokio\"\nversion = \"1.54.1\"\n";
        assert_eq!(peers(lock), "tokio 1.54.1, mio 1.10.2");
    }

    #[test]
    fn this_machine_tells_its_kernel_and_its_load() {
        let mut machine = Machine::look();
        machine.look_again();
        let text = |name| machine.lines.iter().find(|(each, _)| *each == name).map(|(_, text)| text.as_str());
        assert!(text("kernel").is_some_and(|kernel| kernel.starts_with("Linux ")));
        assert!(text("load at the start").is_some_and(|load| load.parse::<f64>().is_ok()));
        assert!(text("peers").is_some_and(|peers| peers.contains("monoio 0.2")));
    }
}

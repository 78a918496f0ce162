//! Control groups: the limits of a container, or of whatever else this process was put in.
//!
//! A process is in one group of each hierarchy: version 1 has a hierarchy for each controller, version 2 one for all;
//! both may be there. A limit of a group binds all groups within it, so each question here goes from the process's group
//! outwards and takes what is tightest.

use std::path::{Path, PathBuf};

use super::text::{lines, number, path, read, split_once, words};
use crate::Result;

/// Version 1 says "no limit" by the largest number of pages that fits, in bytes. What that is depends on the size of a
/// page; this is it for the largest, 64 KiB.
const VERSION_1_NO_LIMIT: u64 = 0x7fff_ffff_ffff_0000;

/// The groups that a process is in.
#[derive(Debug)]
pub struct Cgroups<'a> {
    root: &'a Path,
    membership: Vec<u8>,
}

/// A memory limit, and how much of it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryLimit {
    /// Bytes; `u64::MAX` when the group says that it has no limit.
    limit: u64,
    /// Bytes.
    used: u64,
}

/// The files that tell a group's memory: the hard limit, the soft one, and what is used.
const MEMORY_FILES_1: [&str; 3] = ["memory.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.usage_in_bytes"];
const MEMORY_FILES_2: [&str; 3] = ["memory.max", "memory.high", "memory.current"];

impl Cgroups<'_> {
    /// The groups of this process.
    ///
    /// # Errors
    /// Those of opening and reading /proc/self/cgroup; ENOMEM.
    pub fn of_this_process() -> Result<Cgroups<'static>> {
        let membership = read(Path::new("/proc/self/cgroup"))?;
        Ok(Cgroups::new(Path::new("/sys/fs/cgroup"), membership))
    }

    /// The groups of the process whose /proc/PID/cgroup has this text, with the control groups' file systems under
    /// `root`.
    pub fn new(root: &Path, membership: Vec<u8>) -> Cgroups<'_> {
        Cgroups { root, membership }
    }

    /// How many bytes the process's groups may have together with all else that is in them; `u64::MAX` if they say that
    /// there is no limit, nothing if they say nothing.
    ///
    /// Beyond the soft limit (memory.high) a group is slowed down and reclaimed from: it counts as a limit here.
    pub fn memory_limit(&self) -> Option<u64> {
        let mut tightest = None;
        self.memory_limits(|at| lower(&mut tightest, at.limit));
        tightest
    }

    /// How many bytes are left until the first limit, of those that are not beyond the machine's `total`; nothing if
    /// there is no such limit. A group may be over its limit for a while; then this is 0.
    pub fn memory_left(&self, total: u64) -> Option<u64> {
        let mut least = None;
        self.memory_limits(|at| {
            if at.limit <= total {
                lower(&mut least, at.limit.saturating_sub(at.used));
            }
        });
        least
    }

    /// How many processors' time the process's groups may use, rounded down, but at least 1; nothing if there is no
    /// limit.
    pub fn cpu_limit(&self) -> Option<u64> {
        let mut tightest = None;
        let mut note = |level: &mut Level, quota: fn(&mut Level) -> Option<u64>| {
            if let Some(quota) = quota(level) {
                lower(&mut tightest, quota);
            }
        };
        if let Some((controllers, group)) = self.group_1(b"cpu") {
            // Mounted under one of its names, or under all: "cpu,cpuacct".
            for mount in [b"cpu".as_slice(), controllers] {
                if self.outwards(mount, group, |level| note(level, cpu_quota_1)) {
                    break;
                }
            }
        } else if let Some(group) = self.group_2() {
            self.outwards(b"", group, |level| note(level, cpu_quota_2));
        }
        tightest
    }

    /// Calls `found` with what each group says of memory.
    fn memory_limits(&self, mut found: impl FnMut(MemoryLimit)) {
        let mut any = false;
        let mut look = |mount: &[u8], group: &[u8], files: &[&str; 3]| {
            self.outwards(mount, group, |level| {
                // Before Linux 5.11, a group of version 1 could leave those within it alone.
                if any && level.read("memory.use_hierarchy").is_some_and(|text| text.trim_ascii() == b"0") {
                    return;
                }
                if let Some(limit) = memory_limit(level, files) {
                    any = true;
                    found(limit);
                }
            });
        };
        if let Some((_, group)) = self.group_1(b"memory") {
            look(b"memory", group, &MEMORY_FILES_1);
        } else if let Some(group) = self.group_2() {
            look(b"", group, &MEMORY_FILES_2);
        }
        // Without a group of its own a process still lives under what is said for all.
        if !any {
            self.outwards(b"memory", b"/", |level| {
                if let Some(limit) = memory_limit(level, &MEMORY_FILES_1) {
                    found(limit);
                }
            });
        }
    }

    /// The names of the controllers that share version 1's hierarchy with this one, and the process's group in it.
    fn group_1(&self, controller: &[u8]) -> Option<(&[u8], &[u8])> {
        self.groups().find(|(controllers, _)| controllers.split(|&byte| byte == b',').any(|name| name == controller))
    }

    /// The process's group in version 2's hierarchy.
    fn group_2(&self) -> Option<&[u8]> {
        self.groups().find_map(|(controllers, group)| controllers.is_empty().then_some(group))
    }

    /// Controllers and group of each line, such as `4:cpu,cpuacct:/user.slice` or `0::/user.slice`.
    fn groups(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        lines(&self.membership).filter_map(|line| {
            let (_number, rest) = split_once(line, b':')?;
            let (controllers, group) = split_once(rest, b':')?;
            // A group that is outside of what this process is shown begins with "/..": what its limits are, cannot be
            // seen from here.
            (group.starts_with(b"/") && !group.starts_with(b"/..")).then_some((controllers, group))
        })
    }

    /// Calls `visit` for a group and those around it, innermost first. False if not even the outermost is there.
    ///
    /// In a container that is told its group's path on the host, only the outermost is there, and it is the right one.
    fn outwards(&self, mount: &[u8], group: &[u8], mut visit: impl FnMut(&mut Level)) -> bool {
        let root = self.root.as_os_str().as_encoded_bytes();
        let (Ok(outermost), Ok(directory)) = (path(&[root, b"/", mount]), path(&[root, b"/", mount, group])) else {
            return false;
        };
        if !outermost.is_dir() {
            return false;
        }
        let mut level = Level { directory };
        let depth = group.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count();
        for _ in 0..=depth {
            visit(&mut level);
            level.directory.pop();
        }
        true
    }
}

/// One group on the way outwards.
struct Level {
    directory: PathBuf,
}

impl Level {
    /// What one of its files says, if it is there.
    fn read(&mut self, file: &str) -> Option<Vec<u8>> {
        self.directory.push(file);
        let text = read(&self.directory).ok();
        self.directory.pop();
        text
    }
}

/// A group's limit; nothing if it does not say any, or 0: that is not meant.
fn memory_limit(level: &mut Level, [hard, soft, used]: &[&str; 3]) -> Option<MemoryLimit> {
    let mut limit = None;
    for file in [hard, soft] {
        let said = level.read(file).and_then(|text| bytes(&text)).filter(|&said| said > 0);
        if let Some(said) = said {
            lower(&mut limit, said);
        }
    }
    let used = level.read(used).and_then(|text| number(&text)).unwrap_or(0);
    Some(MemoryLimit { limit: limit?, used })
}

/// A number of bytes, or `u64::MAX` for "no limit".
fn bytes(text: &[u8]) -> Option<u64> {
    match number(text) {
        Some(VERSION_1_NO_LIMIT..) => Some(u64::MAX),
        None if text.trim_ascii() == b"max" => Some(u64::MAX),
        number => number,
    }
}

/// Version 1 has a file for the quota, which is -1 for none, and one for the period; both in microseconds.
fn cpu_quota_1(level: &mut Level) -> Option<u64> {
    let quota = number(&level.read("cpu.cfs_quota_us")?)?;
    processors(quota, number(&level.read("cpu.cfs_period_us")?)?)
}

/// Version 2 has both in one line; the quota may be "max".
fn cpu_quota_2(level: &mut Level) -> Option<u64> {
    let text = level.read("cpu.max")?;
    let mut words = words(&text);
    processors(number(words.next()?)?, number(words.next()?)?)
}

fn processors(quota: u64, period: u64) -> Option<u64> {
    quota.checked_div(period).map(|processors| processors.max(1))
}

/// Lowers what was found so far to another value, or takes that if nothing was found yet.
fn lower(found: &mut Option<u64>, other: u64) {
    let found = found.get_or_insert(other);
    *found = other.min(*found);
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;

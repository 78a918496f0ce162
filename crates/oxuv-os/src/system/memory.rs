//! How much memory there is, is free, is allowed, and is used by this process. In bytes throughout.

use std::path::Path;

use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

use super::cgroup::Cgroups;
use super::sysinfo;
use super::text::{lines, number, read, split_once, words};
use crate::{Errno, Result};

/// What of this process lies in memory now.
///
/// # Errors
/// Those of reading /proc/self/stat; EINVAL when it makes no sense.
#[doc(alias = "uv_resident_set_memory")]
pub fn resident() -> Result<u64> {
    let pages = resident_pages(&read(Path::new("/proc/self/stat"))?).ok_or(Errno::EINVAL)?;
    Ok(pages.saturating_mul(page_size() as u64))
}

/// The 24th field of a process's `stat`. The second is the program's name in parentheses, with whatever is in it.
fn resident_pages(stat: &[u8]) -> Option<u64> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    number(words(&stat[name_end + 1..]).nth(21)?)
}

/// What the machine has.
#[doc(alias = "uv_get_total_memory")]
pub fn total() -> u64 {
    said_or("MemTotal", |info| info.totalram)
}

/// What programs may take before the machine begins to swap; on a kernel older than 3.14, what nothing uses at all.
#[doc(alias = "uv_get_free_memory")]
pub fn free() -> u64 {
    said_or("MemAvailable", |info| info.freeram)
}

/// What /proc/meminfo says; if it is missing or says 0, what the kernel says itself; 0 if that does not, either.
fn said_or(field: &str, kernel: fn(&libc::sysinfo) -> libc::c_ulong) -> u64 {
    let text = read(Path::new("/proc/meminfo")).unwrap_or_default();
    match meminfo(&text, field) {
        Some(said) if said > 0 => said,
        _ => sysinfo().map_or(0, |info| units(kernel(&info), info.mem_unit)),
    }
}

/// A field of /proc/meminfo, such as `MemTotal:       16384256 kB`.
fn meminfo(text: &[u8], field: &str) -> Option<u64> {
    let value = lines(text).find_map(|line| split_once(line, b':').filter(|(name, _)| *name == field.as_bytes()))?.1;
    number::<u64>(words(value).next()?)?.checked_mul(1024)
}

#[allow(clippy::unnecessary_cast)] // The type of the count is not the same on all machines.
fn units(count: libc::c_ulong, unit: u32) -> u64 {
    (count as u64).saturating_mul(unit.into())
}

/// What this process may have by its control groups and by its own limits (RLIMIT_AS, RLIMIT_DATA), whichever is
/// tighter; that may be more than the machine has. `u64::MAX` when its groups say that there is no limit, nothing when
/// nobody says anything.
#[doc(alias = "uv_get_constrained_memory")]
pub fn constrained() -> Option<u64> {
    let group = Cgroups::of_this_process().ok().and_then(|groups| groups.memory_limit());
    let own = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    // A limit of 0 could not be told from none by those who ask in C, and nobody lives under it.
    own.into_iter().flatten().filter(|&limit| limit > 0).chain(group).min()
}

/// What this process may still take: what is left of its control groups' limit, or if they have none below the machine's
/// memory, what is [`free`].
#[doc(alias = "uv_get_available_memory")]
pub fn available() -> u64 {
    let left = Cgroups::of_this_process().ok().and_then(|groups| groups.memory_left(total()));
    left.unwrap_or_else(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &[u8] = b"MemTotal:        8123456 kB\nMemFree:          123456 kB\nMemAvailable:    4000000 kB\n\
        Buffers:           12345 kB\nHugePages_Total:       3\nNonsense\nOdd: x kB\nHuge: 18446744073709551615 kB\n";

    #[test]
    fn fields_of_meminfo_are_in_kibibytes() {
        assert_eq!(meminfo(MEMINFO, "MemTotal"), Some(8_123_456 * 1024));
        assert_eq!(meminfo(MEMINFO, "MemAvailable"), Some(4_000_000 * 1024));
        assert_eq!(meminfo(MEMINFO, "Total"), None);
        assert_eq!(meminfo(MEMINFO, "Nonsense"), None);
        assert_eq!(meminfo(MEMINFO, "Odd"), None);
        assert_eq!(meminfo(MEMINFO, "Huge"), None);
        assert_eq!(meminfo(b"", "MemTotal"), None);
    }

    #[test]
    fn resident_pages_are_found_behind_any_name() {
        // libuv PR 4353
        let tail = "S 1 2 3 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 100 5000000 731 18446744073709551615 1 1";
        for name in ["cat", "a) b (c", ") ) )", "x y z"] {
            let stat = format!("42 ({name}) {tail}\n");
            assert_eq!(resident_pages(stat.as_bytes()), Some(731), "{name}");
        }
        assert_eq!(resident_pages(b"42 (cat) S 1 2 3"), None);
        assert_eq!(resident_pages(b"42 cat"), None);
        assert_eq!(resident_pages(b""), None);
    }

    #[test]
    fn this_machine_is_consistent() {
        assert!(resident().unwrap() > 0);
        assert!(resident().unwrap() < total());
        assert!(free() > 0 && free() <= total());
        assert!(available() <= total());
        assert_ne!(constrained(), Some(0));
    }
}

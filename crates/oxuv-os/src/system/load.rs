//! How long the system has been up, and how busy it is.

use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use super::sysinfo;
use super::text::{number, read, words};
use crate::Result;

/// Seconds since the system was started, the time it slept included.
///
/// In a container whose /proc says so, since that was started.
#[doc(alias = "uv_uptime")]
pub fn uptime() -> f64 {
    let said = read(Path::new("/proc/uptime")).ok().and_then(|text| numbers(&text));
    said.map_or_else(|| clock_gettime(ClockId::Boottime).tv_sec as f64, |[uptime]| uptime)
}

/// How many threads wanted to run, on average over the last 1, 5 and 15 minutes.
///
/// # Errors
/// EPERM and the like where a filter forbids to ask.
#[doc(alias = "uv_loadavg")]
pub fn average() -> Result<[f64; 3]> {
    match read(Path::new("/proc/loadavg")).ok().and_then(|text| numbers(&text)) {
        Some(said) => Ok(said),
        // The kernel counts with 16 bits behind the point.
        None => Ok(sysinfo()?.loads.map(|load| load as f64 / 65536.0)),
    }
}

/// The first numbers of a text.
fn numbers<const N: usize>(text: &[u8]) -> Option<[f64; N]> {
    let mut all = [0.0; N];
    let mut words = words(text);
    for one in &mut all {
        *one = number(words.next()?)?;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_beginning() {
        assert_eq!(numbers(b"350735.47 234388.90\n"), Some([350735.47]));
        assert_eq!(numbers(b"0.52 1.08 0.97 2/1234 56789\n"), Some([0.52, 1.08, 0.97]));
        assert_eq!(numbers::<3>(b"0.52 1.08\n"), None);
        assert_eq!(numbers::<1>(b"up\n"), None);
        assert_eq!(numbers::<1>(b""), None);
    }

    #[test]
    fn time_goes_on() {
        let (before, after) = (uptime(), uptime());
        assert!(before > 0.0 && after >= before);
        assert!(average().unwrap().iter().all(|&load| load >= 0.0));
    }
}

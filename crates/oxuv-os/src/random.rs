//! Random bytes of the kernel's.

use std::mem::MaybeUninit;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{self, read};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Errno, Result};

/// Fills `bytes` with random ones, fit for keys. Waits if the machine has only just started and has no randomness yet.
///
/// # Errors
/// EFAULT; where the kernel or a filter refuses the system call, what opening and reading `/dev/urandom` gives. Then
/// some of the bytes may be written.
#[doc(alias = "uv_random")]
pub fn fill(bytes: &mut [MaybeUninit<u8>]) -> Result<()> {
    let filled = fill_from(bytes, |rest| Ok(getrandom(rest, GetRandomFlags::empty())?.0.len()));
    if let Err(Errno::ENOSYS | Errno::EPERM) = filled { fill_from_device(bytes) } else { filled }
}

/// So many random bytes, as from [`fill`].
///
/// # Errors
/// ENOMEM; as [`fill`].
pub fn bytes(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    fill(&mut bytes.spare_capacity_mut()[..len])?;
    // SAFETY: there is room for so many, and they are filled.
    unsafe { bytes.set_len(len) };
    Ok(bytes)
}

fn fill_from_device(bytes: &mut [MaybeUninit<u8>]) -> Result<()> {
    let device = open("/dev/urandom", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    // A file that lies there in some container is not random.
    if !FileType::from_raw_mode(fstat(&device)?.st_mode).is_char_device() {
        return Err(Errno::EIO);
    }
    fill_from(bytes, |rest| Ok(read(&device, rest)?.0.len()))
}

/// Fills the bytes by a source that may give fewer than it is asked for, and may be interrupted.
fn fill_from(
    mut rest: &mut [MaybeUninit<u8>],
    source: impl Fn(&mut [MaybeUninit<u8>]) -> io::Result<usize>,
) -> Result<()> {
    while !rest.is_empty() {
        match source(rest) {
            Ok(0) => return Err(Errno::EIO),
            Ok(filled) => rest = &mut rest[filled..],
            Err(io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fill = fn(&mut [MaybeUninit<u8>]) -> Result<()>;

    /// That 32 bytes stay zero happens once in 2^256 runs.
    #[test]
    fn all_bytes_are_filled() {
        for fill in [fill as Fill, fill_from_device] {
            let mut bytes = vec![MaybeUninit::new(0); 100_000];
            fill(&mut bytes).unwrap();
            for part in bytes.chunks_exact(32) {
                // SAFETY: they were initialised with zeros.
                assert!(part.iter().any(|byte| unsafe { byte.assume_init() } != 0));
            }
            assert_eq!(fill(&mut []), Ok(()));
        }
    }

    #[test]
    fn short_and_interrupted_sources_are_asked_again() {
        use std::cell::Cell;
        let calls = Cell::new(0);
        let source = |rest: &mut [MaybeUninit<u8>]| {
            calls.set(calls.get() + 1);
            if calls.get() % 2 == 0 { Err(io::Errno::INTR) } else { Ok(rest.len().min(3)) }
        };
        assert_eq!(fill_from(&mut [MaybeUninit::uninit(); 7], source), Ok(()));
        assert_eq!(calls.get(), 5);
        let mut one = [MaybeUninit::uninit()];
        assert_eq!(fill_from(&mut one, |_| Ok(0)), Err(Errno::EIO));
        assert_eq!(fill_from(&mut one, |_| Err(io::Errno::PERM)), Err(Errno::EPERM));
    }
}

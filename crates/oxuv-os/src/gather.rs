//! Small sends to many sockets by one system call: a ring enters them all, and each is done then and there, or fails.
//!
//! Nothing is under way between two calls, so there is nothing to cancel or to wait for: none of the sends may wait
//! (`MSG_DONTWAIT`). The ring has no polling thread.

use std::os::fd::{AsRawFd, RawFd};

use io_uring::types::Fd;
use io_uring::{IoUring, Probe, opcode};
use rustix::net::SendFlags;

use crate::{Descriptor, Errno, Result, fork};

/// So many sends are entered by one call.
const MOST: u32 = 128;

/// Room for their bytes.
const ROOM: usize = 256 * 1024;

/// Sends that are to be done, or are done and not told of.
#[derive(Debug)]
pub struct Gather {
    /// `None` once it has failed.
    ring: Option<Ring>,
    /// What is sent, one after the other.
    bytes: Box<[u8]>,
    sends: Vec<Send>,
    /// So many of them are told of; `None` while they are to be done.
    told: Option<usize>,
    /// See [`fork::forks`].
    forks: u32,
}

struct Ring(IoUring);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ring").field(&self.0.as_raw_fd()).finish()
    }
}

#[derive(Debug, Clone, Copy)]
struct Send {
    fd: RawFd,
    flags: libc::c_int,
    /// What it was given with.
    token: u64,
    start: usize,
    end: usize,
    /// `None` until it is known.
    result: Option<Result<usize>>,
}

/// A send that is done.
pub type Sent<'a> = (u64, &'a [u8], Result<usize>);

impl Gather {
    /// Makes the ring.
    ///
    /// # Errors
    /// ENOSYS, EPERM where there are none or a filter refuses them; EOPNOTSUPP where they can do too little; EMFILE, ENFILE,
    /// ENOMEM.
    pub fn new() -> Result<Gather> {
        fork::count()?;
        let ring: IoUring = IoUring::builder().build(MOST)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let can = ring.params();
        // Completions are never lost, and a send has the credentials of who enters it.
        if !(can.is_feature_nodrop() && can.is_feature_cur_personality() && probe.is_supported(opcode::Send::CODE)) {
            return Err(Errno::EOPNOTSUPP);
        }
        let (mut bytes, mut sends) = (Vec::new(), Vec::new());
        bytes.try_reserve_exact(ROOM)?;
        bytes.resize(ROOM, 0);
        sends.try_reserve_exact(MOST as usize)?;
        let (bytes, told) = (bytes.into_boxed_slice(), Some(0));
        Ok(Gather { ring: Some(Ring(ring)), bytes, sends, told, forks: fork::forks() })
    }

    /// Takes a copy of the bytes, to be sent by the next [`Gather::send`]. False if there is no room; if not all sends that were done
    /// are told of; in a child of the process that made this; and once the ring has failed.
    #[inline]
    pub fn add(&mut self, fd: &Descriptor, bytes: &[u8], token: u64, flags: SendFlags) -> bool {
        if let Some(told) = self.told {
            if told < self.sends.len() || self.forks != fork::forks() {
                return false;
            }
            self.sends.clear();
            self.told = None;
        }
        let (Some(Ring(ring)), nth) = (&mut self.ring, self.sends.len()) else { return false };
        let start = self.sends.last().map_or(0, |last| last.end);
        let Some(room) = self.bytes.get_mut(start..start + bytes.len()) else { return false };
        if nth == MOST as usize {
            return false;
        }
        room.copy_from_slice(bytes);
        let flags = (flags | SendFlags::DONTWAIT).bits() as libc::c_int;
        let entry = opcode::Send::new(Fd(fd.as_raw_fd()), room.as_ptr(), bytes.len() as u32).flags(flags);
        // SAFETY: the entry points into `bytes`, whose memory stays where it is. What is there is written and freed only when the
        // kernel has told of the send (`send` sees to that), or was never told of it.
        if unsafe { ring.submission().push(&entry.build().user_data(nth as u64)) }.is_err() {
            return false;
        }
        self.sends.push(Send { fd: fd.as_raw_fd(), flags, token, start, end: start + bytes.len(), result: None });
        true
    }

    /// Sends all that was added. The sockets must be open still.
    pub fn send(&mut self) {
        // A child has no part in what its parent has added.
        if self.told.is_none() && self.forks == fork::forks() {
            self.told = Some(0);
            if self.enter().is_err() {
                self.do_without();
            }
        }
    }

    /// Enters what was added, and takes note of what has become of it.
    fn enter(&mut self) -> Result<()> {
        let Some(Ring(ring)) = &mut self.ring else { return Err(Errno::EIO) };
        let mut known = 0;
        while known < self.sends.len() {
            match ring.submit_and_wait(1).map_err(Errno::from) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
            for completion in ring.completion() {
                let result = match completion.result() {
                    failed @ ..0 => Err(Errno::from_raw(-failed)),
                    count => Ok(count as usize),
                };
                self.sends[completion.user_data() as usize].result = Some(result);
                known += 1;
            }
        }
        Ok(())
    }

    /// The kernel does not take all of it, and the ring is not used any more: what it has not been told of is sent one by one.
    #[cold]
    fn do_without(&mut self) {
        let Some(Ring(mut ring)) = self.ring.take() else { return };
        let left = ring.submission().len();
        let first_left = self.sends.len() - left.min(self.sends.len());
        for (nth, send) in self.sends.iter_mut().enumerate().filter(|(_, send)| send.result.is_none()) {
            send.result = Some(if nth < first_left {
                // It was entered, and was not told of: what has come of it is not known. The bytes may be the kernel's.
                Err(Errno::EIO)
            } else {
                send_now(send.fd, &self.bytes[send.start..send.end], send.flags)
            });
        }
        if self.sends[..first_left].iter().any(|send| send.result == Some(Err(Errno::EIO))) {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }

    /// The next of the sends that were done.
    #[inline]
    pub fn next_sent(&mut self) -> Option<Sent<'_>> {
        let told = self.told.as_mut()?;
        let &Send { token, start, end, result, .. } = self.sends.get(*told)?;
        *told += 1;
        Some((token, self.bytes.get(start..end).unwrap_or_default(), result.unwrap_or(Err(Errno::EIO))))
    }
}

fn send_now(fd: RawFd, bytes: &[u8], flags: libc::c_int) -> Result<usize> {
    // SAFETY: the bytes live until the call returns; a number that is no socket is an error.
    match unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) } {
        count @ 0.. => Ok(count as usize),
        _ => Err(Errno::from(std::io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unix;

    fn sent(gather: &mut Gather) -> Vec<(u64, Vec<u8>, Result<usize>)> {
        let mut all = Vec::new();
        while let Some((token, bytes, result)) = gather.next_sent() {
            all.push((token, bytes.to_vec(), result));
        }
        all
    }

    fn pair() -> (Descriptor, std::os::unix::net::UnixStream) {
        let (ours, theirs) = unix::pair().unwrap();
        (Descriptor::not_standard(ours).unwrap(), theirs.into())
    }

    fn received(peer: &mut std::os::unix::net::UnixStream) -> Vec<u8> {
        use std::io::Read;
        let mut bytes = vec![0; 100];
        let count = peer.read(&mut bytes).unwrap();
        bytes.truncate(count);
        bytes
    }

    const FLAGS: SendFlags = SendFlags::NOSIGNAL;

    #[test]
    fn all_are_sent_and_told_of_in_order_by_one_call() {
        let mut gather = Gather::new().unwrap();
        let mut pairs: Vec<_> = (0..MOST).map(|_| pair()).collect();
        for round in 0..3 {
            for (nth, (ours, _)) in pairs.iter().enumerate() {
                assert!(gather.add(ours, &[round, nth as u8], nth as u64, FLAGS));
            }
            assert!(!gather.add(&pairs[0].0, b"x", 0, FLAGS), "there is no room");
            gather.send();
            assert!(!gather.add(&pairs[0].0, b"x", 0, FLAGS), "they are not told of");
            for (nth, token) in sent(&mut gather).into_iter().enumerate() {
                assert_eq!(token, (nth as u64, vec![round, nth as u8], Ok(2)));
            }
            for (nth, (_, theirs)) in pairs.iter_mut().enumerate() {
                assert_eq!(received(theirs), [round, nth as u8]);
            }
        }
        assert!(gather.add(&pairs[0].0, &vec![1; ROOM], 0, FLAGS));
        assert!(!gather.add(&pairs[1].0, b"x", 0, FLAGS), "there is no room for the byte");
    }

    #[test]
    fn a_failure_is_one_sends_alone() {
        let mut gather = Gather::new().unwrap();
        let [(full, _reads_not), (broken, gone), (whole, mut peer)] = [(); 3].map(|()| pair());
        drop(gone);
        let mut much = 0;
        crate::set_nonblocking(full.as_raw_fd()).unwrap();
        while let Ok(count) = crate::net::send(&full, &[0; 4096], FLAGS) {
            much += count;
        }
        assert!(much > 0);
        crate::set_blocking(full.as_raw_fd()).unwrap();
        for (token, fd) in [&full, &broken, &whole].into_iter().enumerate() {
            assert!(gather.add(fd, b"abc", token as u64, FLAGS));
        }
        gather.send();
        let results: Vec<_> = sent(&mut gather).into_iter().map(|(_, _, result)| result).collect();
        assert_eq!(results, [Err(Errno::EAGAIN), Err(Errno::EPIPE), Ok(3)]);
        assert_eq!(received(&mut peer), b"abc");
    }

    #[test]
    fn without_the_ring_they_are_sent_one_by_one_and_no_more_are_taken() {
        let mut gather = Gather::new().unwrap();
        let [(one, mut first), (two, mut second)] = [(); 2].map(|()| pair());
        assert!(gather.add(&one, b"1", 1, FLAGS) && gather.add(&two, b"2", 2, FLAGS));
        gather.told = Some(0);
        gather.do_without();
        assert_eq!(sent(&mut gather), [(1, b"1".to_vec(), Ok(1)), (2, b"2".to_vec(), Ok(1))]);
        assert_eq!((received(&mut first), received(&mut second)), (b"1".to_vec(), b"2".to_vec()));
        assert!(!gather.add(&one, b"1", 1, FLAGS));
    }
}

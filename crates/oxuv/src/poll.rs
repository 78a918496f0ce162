//! Poll handles: readiness of a descriptor that the program owns.

use std::os::fd::{AsFd, AsRawFd};

use crate::callbacks::Callback;
use crate::handle::is_a_handle;
use crate::{Handle, LoopRef, Readiness, Result};

/// Calls a closure whenever a descriptor that the program owns is ready. Phase: poll.
///
/// For libraries that do their own reading and writing. The descriptor is made non-blocking, and never closed. Close
/// or stop the handle *before* you close the descriptor: if a copy of it is open elsewhere, the kernel would go on
/// reporting it, and nobody could stop that.
///
/// The closure is called in each turn in which the descriptor is ready (level-triggered). An error of the descriptor
/// is told as EBADF, and the handle is stopped then; so is that it was closed before the loop came to watch it.
///
/// ```
/// use oxuv::{Loop, Mode, Poll, Readiness};
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// let lp = Loop::new()?;
/// let (mut ours, mut theirs) = UnixStream::pair()?;
/// let poll = Poll::new(&lp, &ours)?;
/// poll.start(Readiness::READ, move |poll, _ready| {
///     let mut buffer = [0; 16];
///     let count = ours.read(&mut buffer).unwrap();
///     assert_eq!(&buffer[..count], b"hello");
///     poll.close().unwrap();
/// })?;
/// theirs.write_all(b"hello")?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "uv_poll_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Poll(pub(crate) Handle);

is_a_handle!(Poll);

impl Poll {
    /// A new handle for this descriptor, stopped. Stop or close the handle before you close the descriptor: else the
    /// handle hears of whatever gets its number next.
    ///
    /// # Errors
    /// EEXIST when a handle of this loop waits for the descriptor, EPERM when it cannot be polled (a regular file),
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_poll_init")]
    #[doc(alias = "uv_poll_init_socket")]
    #[track_caller]
    pub fn new(owner: &LoopRef, descriptor: impl AsFd) -> Result<Poll> {
        let number = descriptor.as_fd().as_raw_fd();
        Ok(Poll(Handle::make(owner, |core| core.poll_init(0, number))?))
    }

    /// Calls `callback` whenever the descriptor is ready for any of `interest`: [`Readiness::READ`],
    /// [`Readiness::WRITE`], [`Readiness::PRIORITY`], [`Readiness::READ_HANG_UP`]. It is told for which; when the
    /// descriptor has hung up, all of `interest`, so that it finds out by trying. If the handle was started before, this
    /// replaces interest and closure. An empty interest stops it.
    ///
    /// # Errors
    /// EINVAL when closing, or for other bits; EEXIST when another handle of this loop waits for the descriptor.
    #[doc(alias = "uv_poll_start")]
    pub fn start(&self, interest: Readiness, callback: impl FnMut(&Poll, Result<Readiness>) + 'static) -> Result<()> {
        self.with(|core, key| core.poll_start(key, interest))?;
        self.set_callback(Callback::Poll(Box::new(callback)));
        Ok(())
    }

    /// As [`Poll::start`] with another interest and the closure that the handle has.
    ///
    /// # Errors
    /// As [`Poll::start`].
    #[doc(alias = "uv_poll_start")]
    pub fn set_interest(&self, interest: Readiness) -> Result<()> {
        self.with(|core, key| core.poll_start(key, interest))
    }

    /// Stops the handle. The kernel forgets the descriptor at once. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_poll_stop")]
    pub fn stop(&self) -> Result<()> {
        self.with(|core, key| core.poll_stop(key))
    }
}

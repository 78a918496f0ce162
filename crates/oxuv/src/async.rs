//! Waking the loop from other threads.

use oxuv_core::AsyncSender;
use oxuv_core::linux::Waker;

use crate::callbacks::Callback;
use crate::handle::is_a_handle;
use crate::{Handle, LoopRef, Result};

/// Calls a closure on the loop's thread when another thread, or a signal handler, asks for it. Phase: poll.
///
/// Active from the beginning: it keeps the loop running until it is closed or unreferenced.
///
/// ```
/// use oxuv::{Async, Loop, Mode};
///
/// let lp = Loop::new()?;
/// let wake_up = Async::new(&lp, |wake_up| wake_up.close().unwrap())?;
/// let sender = wake_up.sender()?;
/// let thread = std::thread::spawn(move || sender.send());
/// lp.run(Mode::Default)?;
/// thread.join().unwrap()?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_async_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Async(pub(crate) Handle);

is_a_handle!(Async);

/// Sends to an [`Async`], from any thread and from signal handlers. It may outlive the handle and the loop.
#[derive(Debug, Clone)]
pub struct Sender(AsyncSender<Waker>);

impl Sender {
    /// Makes the handle's closure run on the loop's thread, in its next poll phase. Sends before the closure has begun
    /// are one. What was written before the call is visible to the closure.
    ///
    /// # Errors
    /// EINVAL when the handle is closed: the closure will not run.
    #[doc(alias = "uv_async_send")]
    pub fn send(&self) -> Result<()> {
        self.0.send()
    }
}

impl Async {
    /// A new handle, active.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_async_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef, callback: impl FnMut(&Async) + 'static) -> Result<Async> {
        let handle = Handle::make(owner, |core| core.async_init(0))?;
        handle.set_callback(Callback::Async(Box::new(callback)));
        Ok(Async(handle))
    }

    /// Something to send with, for other threads.
    ///
    /// # Errors
    /// EINVAL when closing.
    pub fn sender(&self) -> Result<Sender> {
        self.with(|core, key| core.async_sender(key)).map(Sender)
    }

    /// Sends from the loop's own thread; see [`Sender::send`].
    ///
    /// # Errors
    /// EINVAL when closing.
    pub fn send(&self) -> Result<()> {
        self.with(|core, key| core.async_send(key))
    }
}

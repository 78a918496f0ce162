//! Signals that the process catches.

use oxuv_core::linux::signal;

mod task;

pub use task::{Signals, ctrl_c, signals};

use crate::callbacks::Callback;
use crate::handle::is_a_handle;
use crate::{Handle, LoopRef, Result};

/// Calls a closure when the process gets a signal. Phase: poll, after all else that has come.
///
/// The closure runs on the loop's thread, with nothing of the restrictions of a signal handler. Each time that the process
/// catches the signal is a call. Any number of handles, of any number of loops on any threads, may wait for the same
/// signal: all of them hear of it, in a loop in the order in which they were started, those started with
/// [`Signal::start_once`] after the others.
///
/// From the first start of a number on, the process catches the signal; when the last handle stops, the action from before
/// is put back. A child of the process that has not called [`LoopRef::after_fork`] hears of nothing.
///
/// ```
/// use oxuv::{Loop, Mode, Signal};
///
/// let lp = Loop::new()?;
/// let signal = Signal::new(&lp)?;
/// signal.start(Signal::USR1, |signal, number| {
///     assert_eq!(number, Signal::USR1);
///     signal.close().unwrap();
/// })?;
/// Signal::raise(Signal::USR1)?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_signal_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Signal(pub(crate) Handle);

is_a_handle!(Signal);

/// Numbers of signals.
impl Signal {
    /// The terminal is gone; by convention also: read the configuration anew.
    pub const HUP: i32 = signal::HUP;
    /// Ctrl+C.
    pub const INT: i32 = signal::INT;
    /// Ctrl+\\.
    pub const QUIT: i32 = signal::QUIT;
    /// The process ends whatever it does: to be sent, not to be caught.
    pub const KILL: i32 = signal::KILL;
    /// The program's own.
    pub const USR1: i32 = signal::USR1;
    /// The program's own.
    pub const USR2: i32 = signal::USR2;
    /// Nobody reads any more what was written.
    pub const PIPE: i32 = signal::PIPE;
    /// A timer of the process is due.
    pub const ALRM: i32 = signal::ALRM;
    /// The process is to end.
    pub const TERM: i32 = signal::TERM;
    /// A child has ended or was stopped.
    pub const CHLD: i32 = signal::CHLD;
    /// The process goes on after it was stopped.
    pub const CONT: i32 = signal::CONT;
    /// Ctrl+Z.
    pub const TSTP: i32 = signal::TSTP;
    /// The terminal's window has another size.
    pub const WINCH: i32 = signal::WINCH;

    /// The number of a real-time signal, counted from 0; of these the system has about 30. If one comes several times while
    /// it is blocked, it is caught as often. `None` if there are not so many.
    pub fn real_time(nth: u8) -> Option<i32> {
        signal::real_time(nth)
    }
}

impl Signal {
    /// Sends a signal to the calling thread, which has it when this returns. If nobody waits for it, that may be the end of
    /// the process. Number 0 only looks whether this can be done.
    ///
    /// # Errors
    /// EINVAL for what is no signal.
    pub fn raise(number: i32) -> Result<()> {
        signal::raise(number)
    }

    /// A new handle, stopped.
    ///
    /// # Errors
    /// ENOMEM; EINVAL when the loop is gone.
    #[doc(alias = "uv_signal_init")]
    #[track_caller]
    pub fn new(owner: &LoopRef) -> Result<Signal> {
        Ok(Signal(Handle::make(owner, |core| core.signal_init(0))?))
    }

    /// Calls `callback` with the number whenever the process catches this signal. If the handle was started before, this
    /// replaces signal and closure.
    ///
    /// # Errors
    /// EINVAL when closing, for a number that is no signal, and for those that cannot be caught, SIGKILL and SIGSTOP; ENOMEM.
    /// The handle stays as it was.
    #[doc(alias = "uv_signal_start")]
    pub fn start(&self, number: i32, callback: impl FnMut(&Signal, i32) + 'static) -> Result<()> {
        self.start_any(number, false, callback)
    }

    /// As [`Signal::start`], for one call: the handle is stopped after it. If all handles that wait for the signal were
    /// started so, a second one that comes before that has the default action, which for most ends the process: a second
    /// Ctrl+C does what the first one does not.
    ///
    /// # Errors
    /// As [`Signal::start`].
    #[doc(alias = "uv_signal_start_oneshot")]
    pub fn start_once(&self, number: i32, callback: impl FnMut(&Signal, i32) + 'static) -> Result<()> {
        self.start_any(number, true, callback)
    }

    fn start_any(&self, number: i32, once: bool, callback: impl FnMut(&Signal, i32) + 'static) -> Result<()> {
        self.with(|core, key| core.signal_start(key, number, once))?;
        self.set_callback(Callback::Signal(Box::new(callback)));
        Ok(())
    }

    /// Stops the handle: it hears no more, not even of what was caught before. Stopped is stopped: again does nothing.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_signal_stop")]
    pub fn stop(&self) -> Result<()> {
        self.with(|core, key| core.signal_stop(key))
    }

    /// The signal that the handle waits for; `None` while it is stopped.
    pub fn number(&self) -> Option<i32> {
        self.with(|core, key| core.signal_number(key)).ok().filter(|&number| number != 0)
    }
}

//! Terminals.

use std::os::fd::OwnedFd;

use oxuv_core::linux::{self, Standard, check_terminal};

use crate::handle::is_a_handle;
use crate::stream::is_a_stream;
use crate::{Handle, LoopRef, Result, TtyMode, WindowSize};

/// A terminal, or the master of a pseudo-terminal.
///
/// The terminal is opened anew: the handle reads and writes without blocking, and whoever shares the descriptor (this
/// program's `println!`, the shell, a pipeline's other programs) goes on to block. Where that cannot be done, as for a master or a
/// terminal of another user, it stays blocking: a write waits until it is done.
///
/// ```no_run
/// use oxuv::{Loop, Mode, Tty, TtyMode};
///
/// let lp = Loop::new()?;
/// let keyboard = Tty::stdin(&lp)?;
/// keyboard.set_mode(TtyMode::Raw)?;
/// keyboard.read_start(|keyboard, read| {
///     print!("{read:?}\r\n");
///     keyboard.close().unwrap(); // the terminal is as it was
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
///
/// The end shows in one of two ways: a terminal whose master was closed, or on which Ctrl-D was typed, reads the error EOF; a
/// master reads EIO when nobody has its terminal open any more. Everything in front of that is read before.
#[doc(alias = "uv_tty_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Tty(pub(crate) Handle);

is_a_handle!(Tty);
is_a_stream!(Tty, tty);

impl Tty {
    /// A handle for a terminal. The descriptor is closed when the terminal was opened anew, else with the handle.
    ///
    /// # Errors
    /// ENOTTY when it is no terminal; ENOMEM; EINVAL when the loop is gone. The descriptor is closed then.
    #[doc(alias = "uv_tty_init")]
    pub fn new(owner: &LoopRef, terminal: impl Into<OwnedFd>) -> Result<Tty> {
        Self::open(owner, terminal.into().into())
    }

    /// A handle for standard input, which stays open.
    ///
    /// # Errors
    /// ENOTTY when it is no terminal; EEXIST when a handle of the loop waits for it; ENOMEM.
    pub fn stdin(owner: &LoopRef) -> Result<Tty> {
        Self::open(owner, Standard::Input.into())
    }

    /// A handle for standard output, which stays open.
    ///
    /// # Errors
    /// As [`Tty::stdin`].
    pub fn stdout(owner: &LoopRef) -> Result<Tty> {
        Self::open(owner, Standard::Output.into())
    }

    /// A handle for the standard error output, which stays open.
    ///
    /// # Errors
    /// As [`Tty::stdin`].
    #[track_caller]
    pub fn stderr(owner: &LoopRef) -> Result<Tty> {
        Self::open(owner, Standard::Error.into())
    }

    fn open(owner: &LoopRef, terminal: linux::Descriptor) -> Result<Tty> {
        check_terminal(&terminal)?;
        let handle = Handle::make(owner, |core| {
            let made = core.tty_init(0, terminal, false).map_err(|refused| refused.error)?;
            Ok(made.key)
        })?;
        Ok(Tty(handle))
    }

    /// Changes what the terminal does with what is typed and printed; at once, not when everything is printed. All modes
    /// are made from how the terminal was when it left [`TtyMode::Normal`].
    ///
    /// The first terminal of a process that was put in a mode is as it was when its handle is closed. Others stay as they are;
    /// set them back to [`TtyMode::Normal`] before.
    ///
    /// # Errors
    /// EIO when the terminal is hung up; EINVAL when closing; ENOMEM.
    #[doc(alias = "uv_tty_set_mode")]
    pub fn set_mode(&self, mode: TtyMode) -> Result<()> {
        self.with(|core, key| core.tty_set_mode(key, mode))
    }

    /// The size of the terminal's window, zero if nobody has set it.
    ///
    /// # Errors
    /// EIO when the terminal is hung up; EINVAL when closing.
    #[doc(alias = "uv_tty_get_winsize")]
    pub fn window_size(&self) -> Result<WindowSize> {
        self.with(|core, key| core.tty_window_size(key))
    }

    /// Gives the first terminal that was put in a mode back as it was, for the next program to find. For a process that is
    /// to end without closing its handles; callable from signal handlers, too.
    ///
    /// # Errors
    /// EBUSY when it comes in the middle of [`Tty::set_mode`]; EIO.
    #[doc(alias = "uv_tty_reset_mode")]
    pub fn reset_mode() -> Result<()> {
        linux::reset_mode()
    }
}

//! Terminals: streams that have modes and a size.

use oxuv_os::Result;
use oxuv_os::tty::{Modes, Opened, TtyMode, WindowSize};

use crate::kernel::{Kernel, Medium};
use crate::stream::StreamFlags;
use crate::{Buffers, Core, Key, Kind, Refused};

/// A terminal handle just made.
#[derive(Debug)]
pub struct NewTty<F> {
    /// Its key.
    pub key: Key,
    /// The descriptor given, if the handle has opened the terminal anew and does not need it.
    pub given: Option<F>,
    /// A write waits until it is done, since the terminal could not be opened anew.
    pub is_blocking: bool,
}

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// A new stream on a terminal, or on a pipe or socket in its place. A terminal is opened anew if that can be done, so
    /// that others who share the descriptor do not find it non-blocking; the descriptor given is returned then, and with
    /// `replace` its number stands for the terminal opened anew, too. Otherwise the handle has the descriptor given; the
    /// master of a pseudo-terminal, and a terminal that cannot be opened, are left blocking: a write waits
    /// until it is done.
    ///
    /// # Errors
    /// EINVAL for files and what else cannot be waited for; EEXIST when a handle waits for the descriptor; ENOMEM.
    #[doc(alias = "uv_tty_init")]
    pub fn tty_init(&mut self, user: U, fd: K::Fd, replace: bool) -> Result<NewTty<K::Fd>, Refused<K::Fd>> {
        let (key, opened) = match self.open_tty(user, &fd, replace) {
            Ok(made) => made,
            Err(error) => return Err(Refused { error, given: fd }),
        };
        let mut flags = StreamFlags::empty();
        flags.set(StreamFlags::READABLE, opened.readable);
        flags.set(StreamFlags::WRITABLE, opened.writable);
        flags.set(StreamFlags::BLOCKING, opened.blocking);
        self.streams[self.slots[key.index].state].flags = flags;
        let (own, given) = match opened.reopened {
            Some(new) => (new, Some(fd)),
            None => (fd, None),
        };
        self.put_descriptor(key.index, own, Medium::Terminal);
        Ok(NewTty { key, given, is_blocking: opened.blocking })
    }

    fn open_tty(&mut self, user: U, fd: &K::Fd, replace: bool) -> Result<(Key, Opened<K::Fd>)> {
        self.check_free(K::number(fd), None)?;
        self.stream_reserve()?;
        let opened = self.kernel.open_terminal(fd, replace)?;
        self.watches.reserve_number(K::number(opened.reopened.as_ref().unwrap_or(fd)))?;
        Ok((self.stream_init(Kind::Tty, user)?, opened))
    }

    /// Changes the mode of the terminal, at once: what is still to be printed is not waited for. It is given back when the
    /// handle is closed if it was the first that was put in a mode, see [`reset_mode`](oxuv_os::tty::reset_mode).
    ///
    /// # Errors
    /// ENOTTY when it is no terminal, EIO when it is hung up, EINVAL when closing, ENOMEM.
    #[doc(alias = "uv_tty_set_mode")]
    pub fn tty_set_mode(&mut self, key: Key, mode: TtyMode) -> Result<()> {
        let index = self.open_handle(key, Kind::Tty)?;
        let fd = self.streams[self.slots[index].state].descriptor()?;
        // There are no more than a few: one is found as fast as by an index.
        let nth = match self.terminals.iter().position(|(terminal, _)| *terminal == key) {
            Some(nth) => nth,
            None if mode == TtyMode::Normal => return Ok(()),
            None => {
                self.terminals.try_reserve(1)?;
                self.terminals.push((key, Modes::new(K::number(fd))));
                self.terminals.len() - 1
            }
        };
        self.kernel.set_terminal_mode(fd, &mut self.terminals[nth].1, mode)
    }

    /// The size of the terminal's window.
    ///
    /// # Errors
    /// ENOTTY when it is no terminal, EIO when it is hung up, EINVAL when closing.
    #[doc(alias = "uv_tty_get_winsize")]
    pub fn tty_window_size(&self, key: Key) -> Result<WindowSize> {
        let index = self.open_handle(key, Kind::Tty)?;
        self.kernel.window_size(self.streams[self.slots[index].state].descriptor()?)
    }

    /// A terminal is about to be closed: gives back its mode, if that is to be done.
    pub(crate) fn close_tty(&mut self, key: Key) {
        self.terminals.retain(|(terminal, _)| *terminal != key);
    }
}

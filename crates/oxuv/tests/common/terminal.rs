//! Pseudo-terminals.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, fcntl_getfl, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

/// A new one: its master, and the terminal.
pub(crate) fn pair() -> (File, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = open_again(&master, OFlags::RDWR);
    (master.into(), slave)
}

/// As `pair`, for one that passes bytes through as they are.
pub(crate) fn plain_pair() -> (File, OwnedFd) {
    let (master, slave) = pair();
    let mut settings = tcgetattr(&slave).unwrap();
    settings.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &settings).unwrap();
    (master, slave)
}

/// Opens the terminal of this master once more.
pub(crate) fn open_again(master: impl AsFd, access: OFlags) -> OwnedFd {
    let name = ptsname(master, Vec::new()).unwrap();
    open(&name, access | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

pub(crate) fn resize(master: &File, columns: u16, rows: u16) {
    tcsetwinsize(master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// Whether it makes lines, echoes, and so on.
pub(crate) fn local_modes(fd: impl AsFd) -> LocalModes {
    tcgetattr(fd).unwrap().local_modes
}

pub(crate) fn is_nonblocking(fd: impl AsFd) -> bool {
    fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

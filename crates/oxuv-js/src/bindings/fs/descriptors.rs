//! The files that the script has open: numbers for it, descriptors for us.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use oxuv::{Errno, Result};

/// Numbers and what they stand for. A file that is closed while a request for it is under way keeps its number until that
/// is done, so the request cannot meet another file.
#[derive(Default)]
pub(crate) struct Descriptors {
    open: RefCell<HashMap<i32, Arc<OwnedFd>>>,
    /// Standard input, output and error are not ours to close: it only looks so.
    closed: Cell<[bool; 3]>,
}

/// What a number stands for.
#[derive(Clone)]
pub(crate) enum Descriptor {
    Standard(BorrowedFd<'static>),
    Owned(Arc<OwnedFd>),
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Descriptor::Standard(fd) => *fd,
            Descriptor::Owned(fd) => fd.as_fd(),
        }
    }
}

impl Descriptors {
    pub(crate) fn add(&self, fd: OwnedFd) -> i32 {
        let number = fd.as_raw_fd();
        self.open.borrow_mut().insert(number, Arc::new(fd));
        number
    }

    /// # Errors
    /// EBADF.
    pub(crate) fn get(&self, number: i32) -> Result<Descriptor> {
        if let Some(fd) = self.open.borrow().get(&number) {
            return Ok(Descriptor::Owned(fd.clone()));
        }
        let standard = match number {
            0 => rustix::stdio::stdin(),
            1 => rustix::stdio::stdout(),
            2 => rustix::stdio::stderr(),
            _ => return Err(Errno::EBADF),
        };
        if self.closed.get()[number as usize] { Err(Errno::EBADF) } else { Ok(Descriptor::Standard(standard)) }
    }

    /// The number by which another process can be given a copy: the script's own files, and what this process was started with.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn number(&self, number: i32) -> Result<i32> {
        if let 0..=2 = number {
            self.get(number)?;
        }
        Ok(number)
    }

    /// Takes out a descriptor that a handle is to have: a file of the script's, or what whoever started the program has left open.
    ///
    /// # Errors
    /// EBADF, also for what is ours.
    pub(crate) fn give_away(&self, number: i32) -> Result<OwnedFd> {
        let file = self.open.borrow_mut().remove(&number);
        match file.map(Arc::try_unwrap) {
            Some(Ok(fd)) => Ok(fd),
            // Something is being done with it; it is closed when that is over.
            Some(Err(shared)) => Ok(shared.try_clone()?),
            None => oxuv_os::take_inherited(number),
        }
    }

    /// Takes a file out, for it to be closed.
    ///
    /// # Errors
    /// EBADF.
    pub(crate) fn take(&self, number: i32) -> Result<Descriptor> {
        if let Some(fd) = self.open.borrow_mut().remove(&number) {
            return Ok(Descriptor::Owned(fd));
        }
        let found = self.get(number)?;
        let mut closed = self.closed.get();
        closed[number as usize] = true;
        self.closed.set(closed);
        Ok(found)
    }
}

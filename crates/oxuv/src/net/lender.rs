//! Buffers that the loop lends.

use std::cell::{Cell, RefCell};

use crate::loop_::BUFFER;

/// Memory to read into. It is initialised once, and then used again and again.
pub(crate) type Buffer = Box<[u8; BUFFER]>;

/// So many buffers are kept for later, and the last.
const SPARE: usize = 16;

/// A loop's buffers that nobody has now. The one that was given back last is lent first: it is in the processor's caches.
#[derive(Default)]
pub(crate) struct Lender {
    last: Cell<Option<Buffer>>,
    others: RefCell<Vec<Buffer>>,
}

impl Lender {
    #[inline]
    pub(crate) fn lend(&self) -> Buffer {
        self.last.take().unwrap_or_else(|| self.next())
    }

    #[cold]
    fn next(&self) -> Buffer {
        let next = self.others.borrow_mut().pop();
        // An array would be made on the stack first.
        next.unwrap_or_else(|| vec![0; BUFFER].try_into().expect("it is as long as it is made"))
    }

    #[inline]
    pub(crate) fn take_back(&self, buffer: Buffer) {
        if let Some(last) = self.last.replace(Some(buffer)) {
            self.put_aside(last);
        }
    }

    #[cold]
    fn put_aside(&self, buffer: Buffer) {
        let mut others = self.others.borrow_mut();
        if others.len() < SPARE {
            others.push(buffer);
        }
    }
}

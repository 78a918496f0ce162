//! Buffers that the loop lends.

use std::cell::RefCell;

use crate::loop_::BUFFER;

/// Memory to read into. It is initialised once, and then used again and again.
pub(crate) type Buffer = Box<[u8; BUFFER]>;

/// So many buffers are kept for later.
const SPARE: usize = 16;

/// A loop's buffers that nobody has now. The one that was given back last is lent first: it is in the processor's caches.
#[derive(Default)]
pub(crate) struct Lender(RefCell<Vec<Buffer>>);

impl Lender {
    #[inline]
    pub(crate) fn lend(&self) -> Buffer {
        self.0.borrow_mut().pop().unwrap_or_else(new_buffer)
    }

    #[inline]
    pub(crate) fn take_back(&self, buffer: Buffer) {
        let mut spare = self.0.borrow_mut();
        if spare.len() < SPARE {
            spare.push(buffer);
        }
    }
}

#[cold]
fn new_buffer() -> Buffer {
    // An array would be made on the stack first.
    vec![0; BUFFER].try_into().expect("it is as long as it is made")
}

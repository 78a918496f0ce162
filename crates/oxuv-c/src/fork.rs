//! Going on in a child with a loop of its parent's.

use std::ffi::c_int;

use crate::error::code;
use crate::loop_::{kernel, with};
use crate::types::{UV_ASYNC, uv_handle_t, uv_loop_t};

/// In a child that a `fork` has made, before anything else is done with the loop: makes it the child's own. Handles go on as
/// they are: what is watched is watched anew, timers keep their times. What was on its way to the parent stays the parent's:
/// sends to async handles, signals and changes of files are forgotten, and requests that threads were to work on end with UV_ECANCELED. A
/// file that cannot be watched any more is told to its handle's callback, with the error, and that is stopped. The
/// loop's descriptors keep their numbers. In the parent, or once more, it does no harm.
///
/// UV_EMFILE, UV_ENFILE, UV_ENOMEM, UV_ENOSPC: the loop is of no use until this succeeds. UV_EINVAL for a closed loop.
///
/// # Safety
/// `loop_` was initialised, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_loop_fork(loop_: *mut uv_loop_t) -> c_int {
    // SAFETY: `loop_` was initialised. Its handles are valid until their close callbacks; nothing is called meanwhile.
    unsafe {
        if with(loop_, |core| Some(kernel::is_inherited(core.kernel()))) == Some(true)
            && let Some(mut walk) = with(loop_, |core| Some(core.walk_begin()))
        {
            while let Some((_, user)) = with(loop_, |core| core.walk_next(&mut walk)) {
                let handle: *mut uv_handle_t = user.0.cast();
                if (*handle).r#type == UV_ASYNC {
                    crate::async_::forget_senders(handle.cast());
                }
            }
        }
        code(with(loop_, |core| core.after_fork().map(drop)))
    }
}

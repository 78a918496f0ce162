//! Going on in a child with a loop of its parent's.

use std::ffi::c_int;

use crate::error::code;
use crate::loop_::{kernel, with};
use crate::types::{UV_ASYNC, uv_handle_t, uv_loop_t};

/// In a child that a `fork` has made, before anything else is done with the loop: makes it the child's own. Handles go on as
/// they are: what is watched is watched anew, timers keep their times. What was on its way to the parent stays the parent's:
/// sends to async handles and signals are forgotten, and requests that threads were to work on end with UV_ECANCELED. The
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
        let forked = with(loop_, |core| Ok((core.after_fork()?, kernel::backend_fd(core.kernel()))));
        let (is_child, backend_fd) = match forked {
            Ok(forked) => forked,
            Err(error) => return code(Err(error)),
        };
        (*loop_).backend_fd = backend_fd;
        if is_child {
            let Ok(mut walk) = with(loop_, |core| Ok(core.walk_begin())) else { return 0 };
            while let Some((_, user)) = with(loop_, |core| core.walk_next(&mut walk)) {
                let handle: *mut uv_handle_t = user.0.cast();
                if (*handle).r#type == UV_ASYNC {
                    crate::async_::forget_senders(handle.cast());
                }
            }
        }
    }
    0
}

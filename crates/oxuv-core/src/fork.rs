//! Going on in a child of the process that a loop was made in.

use oxuv_os::Result;

use crate::kernel::Kernel;
use crate::{Buffers, Core};

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// In a child of the process that the loop was made in, before anything else is done with the loop: makes it the
    /// child's own. Handles stay as they are. What the loop watches is watched anew, timers go on, the close events of
    /// handles closed before come. What was on its way to the parent stays the parent's: sends to async handles,
    /// signals and changes of files are forgotten, and jobs are told of with ECANCELED, without the job. The parent's children
    /// are none of this process: their ends are told with ECHILD, at once where no descriptor tells of them.
    ///
    /// The descriptors of the loop itself, [`Kernel::after_fork`], keep their numbers. In the parent's process, or called
    /// again, it does no harm. Returns whether it was a child's that had not called it.
    ///
    /// # Errors
    /// EMFILE, ENFILE, ENOMEM, ENOSPC. The loop is of no use until this succeeds.
    #[doc(alias = "uv_loop_fork")]
    pub fn after_fork(&mut self) -> Result<bool> {
        self.watches.unsynced.try_reserve(self.watchers())?;
        self.reserve_for_losses()?;
        let is_child = self.kernel.after_fork()?;
        self.poll.forget_batch();
        self.watch_anew();
        if is_child {
            self.lose_gathered();
            self.mailbox.forget_sends();
            self.forget_caught();
            // No SIGCHLD will come of them, nor does one that was forgotten.
            self.look_after_unwatched();
            self.lose_jobs();
            self.watch_files_anew();
        } else {
            self.poll_changes_anew()?;
        }
        Ok(is_child)
    }
}

//! How a ring is made, and what it must be able to do.

use std::collections::{HashMap, VecDeque};

use io_uring::{IoUring, Probe, opcode};

use super::Ring;
use super::operation::NO_CODE;
use crate::{Errno, Result, fork};

/// So many operations are entered by one call.
const SUBMISSIONS: u32 = 128;

/// So many are under way at a time.
const COMPLETIONS: u32 = 1024;

impl<T> Ring<T> {
    /// A new ring, without a polling thread.
    ///
    /// # Errors
    /// ENOSYS, EPERM where there are none or a filter refuses them; EOPNOTSUPP where they can do too little; EMFILE, ENFILE,
    /// ENOMEM.
    pub fn new() -> Result<Ring<T>> {
        fork::count()?;
        let ring: IoUring = IoUring::builder().setup_cqsize(COMPLETIONS).build(SUBMISSIONS)?;
        let can = ring.params();
        // Completions are never lost; positions are used and moved; operations have the credentials of who enters them; and
        // the kernel's workers are threads of this process, with its directory, mask and descriptors.
        let is_able = can.is_feature_nodrop()
            && can.is_feature_rw_cur_pos()
            && can.is_feature_cur_personality()
            && can.is_feature_native_workers();
        if !is_able {
            return Err(Errno::EOPNOTSUPP);
        }
        let known = known(&ring)?;
        let most = can.cq_entries() as usize;
        Ok(Ring {
            ring,
            known,
            slots: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            positions: HashMap::new(),
            entered: 0,
            most,
            forks: fork::forks(),
        })
    }
}

/// The codes of the operations that this kernel knows, as far as we use them.
fn known(ring: &IoUring) -> Result<u64> {
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let mut known = (0..NO_CODE).filter(|&code| probe.is_supported(code)).fold(0, |known, code| known | 1 << code);
    // On kernels before this one, a program that was written and closed by a ring may be busy still when it is run.
    if known & 1 << opcode::SendMsgZc::CODE == 0 {
        known &= !(1 << opcode::Close::CODE);
    }
    Ok(known)
}

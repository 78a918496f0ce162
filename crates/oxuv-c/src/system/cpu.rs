//! Processors.

use std::ffi::{c_char, c_int, c_uint};

use oxuv_core::Result;
use oxuv_os::system::cpu::{Cpus, available_parallelism};

use super::block::{Block, hand_out};
use crate::memory::free;

/// What a processor has done since the system was started, in milliseconds.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_cpu_times_s {
    /// In programs.
    pub user: u64,
    /// In programs that are nice.
    pub nice: u64,
    /// In the kernel.
    pub sys: u64,
    /// With nothing to do.
    pub idle: u64,
    /// In interrupts.
    pub irq: u64,
}

/// A processor.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct uv_cpu_info_t {
    /// The name of its model, `unknown` if the system does not say.
    pub model: *const c_char,
    /// The highest frequency that it is allowed to have, in MHz; 0 if the system does not say.
    pub speed: c_int,
    /// What it has done.
    pub cpu_times: uv_cpu_times_s,
}

/// Tells of the processors that are switched on, in the order of their numbers.
///
/// UV_ENOENT and the like without /proc/stat; UV_ENOMEM.
///
/// # Safety
/// `cpu_infos` and `count` are places for the array, to be freed by [`uv_free_cpu_info`], and for its length.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_cpu_info(cpu_infos: *mut *mut uv_cpu_info_t, count: *mut c_int) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { hand_out(read, cpu_infos, count) }
}

fn read() -> Result<Block<uv_cpu_info_t>> {
    let cpus = Cpus::read()?;
    let room = cpus.list().iter().map(|cpu| Block::<uv_cpu_info_t>::room_of(cpus.model(cpu))).sum();
    let mut block = Block::new(cpus.list().len(), room)?;
    for cpu in cpus.list() {
        let times = &cpu.times;
        let cpu_times = uv_cpu_times_s {
            user: times.user,
            nice: times.nice,
            sys: times.system,
            idle: times.idle,
            irq: times.interrupts,
        };
        let model = block.text(cpus.model(cpu))?;
        block.push(uv_cpu_info_t { model, speed: cpu.speed.try_into().unwrap_or(0), cpu_times })?;
    }
    Ok(block)
}

/// Frees what [`uv_cpu_info`] gave. Null is fine.
///
/// # Safety
/// `cpu_infos` is null, or came from [`uv_cpu_info`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_free_cpu_info(cpu_infos: *mut uv_cpu_info_t, _count: c_int) {
    // SAFETY: the array is one block of `calloc`'s.
    unsafe { free(cpu_infos.cast()) }
}

/// How many threads can do something at the same time: the processors that the calling thread may run on, and no more
/// than its control groups give time for. Never 0.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn uv_available_parallelism() -> c_uint {
    available_parallelism()
}

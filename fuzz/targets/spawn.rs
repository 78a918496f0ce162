//! Children with any arguments, environment, directory, descriptors and flags. What they run is `true`, if anything.

#![no_main]
#![allow(unsafe_op_in_unsafe_fn, reason = "they are C programs in Rust's clothes")]

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::zeroed;
use std::ptr::{null, null_mut};

use libfuzzer_sys::fuzz_target;
use oxuv_fuzz::Bytes;
use uv::{
    UV_RUN_DEFAULT, stdio_data, uv_buf_t, uv_close, uv_handle_t, uv_loop_close, uv_loop_init, uv_loop_t, uv_pipe_init,
    uv_pipe_t, uv_process_options_t, uv_process_t, uv_read_start, uv_run, uv_spawn, uv_stdio_container_t, uv_stream_t,
};

const FILES: [&str; 5] = ["/bin/true", "true", "", "/dev/null", "oxuv-no-such-program"];

thread_local! {
    static EXITS: Cell<u32> = const { Cell::new(0) };
    static CLOSED: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C-unwind" fn on_exit(process: *mut uv_process_t, _status: i64, _signal: c_int) {
    EXITS.set(EXITS.get() + 1);
    uv_close(process.cast(), Some(on_close));
}

unsafe extern "C-unwind" fn on_close(_: *mut uv_handle_t) {
    CLOSED.set(CLOSED.get() + 1);
}

unsafe extern "C-unwind" fn on_alloc(_: *mut uv_handle_t, _: usize, buf: *mut uv_buf_t) {
    static mut ROOM: [u8; 64] = [0; 64];
    *buf = uv_buf_t { base: (&raw mut ROOM).cast(), len: 64 };
}

unsafe extern "C-unwind" fn on_read(stream: *mut uv_stream_t, count: isize, _: *const uv_buf_t) {
    if count < 0 {
        uv_close(stream.cast(), Some(on_close));
    }
}

/// Texts, and null behind them.
struct List {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl List {
    fn new(texts: impl IntoIterator<Item = Vec<u8>>) -> List {
        let texts: Vec<_> = texts.into_iter().map(|text| CString::new(text).expect("no zero is in it")).collect();
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([null()]).collect();
        List { _texts: texts, pointers }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let open = descriptors();
    // SAFETY: all that the options refer to is there until the loop has nothing to do any more.
    unsafe { spawn(Bytes(bytes)) };
    assert_eq!(descriptors(), open, "descriptors are left open");
});

unsafe fn spawn(mut bytes: Bytes<'_>) {
    let (mut lp, mut process): (uv_loop_t, uv_process_t) = (zeroed(), zeroed());
    assert_eq!(uv_loop_init(&mut lp), 0);
    let file = CString::new(FILES[usize::from(bytes.byte()) % FILES.len()]).expect("no zero is in it");
    let (has, count) = (bytes.byte(), usize::from(bytes.byte() % 9));
    let mut pipes: Vec<uv_pipe_t> = (0..count).map(|_| zeroed()).collect();
    for pipe in &mut pipes {
        assert_eq!(uv_pipe_init(&mut lp, pipe, (has & 0x40 != 0).into()), 0);
    }
    let first = pipes.as_mut_ptr();
    let stdio: Vec<uv_stdio_container_t> = (0..count).map(|nth| slot(&mut bytes, first, nth, count)).collect();
    let (uid, gid) = (u32::from(bytes.byte()), u32::from(bytes.byte()));
    let flags = u32::from(bytes.byte());
    let directory = CString::new(bytes.text()).expect("no zero is in it");
    let mut texts = || (0..bytes.byte() % 40).map(|_| bytes.text().to_vec()).collect::<Vec<_>>();
    let (args, env) = (List::new(texts()), List::new(texts()));
    let options = uv_process_options_t {
        exit_cb: Some(on_exit),
        file: if has & 1 != 0 { null() } else { file.as_ptr() },
        args: if has & 2 != 0 { null() } else { args.pointers.as_ptr() },
        env: if has & 4 != 0 { null() } else { env.pointers.as_ptr() },
        cwd: if has & 8 != 0 { directory.as_ptr() } else { null() },
        flags,
        stdio_count: count as c_int,
        stdio: if has & 16 != 0 { null() } else { stdio.as_ptr() },
        uid,
        gid,
    };
    (EXITS.set(0), CLOSED.set(0));
    let spawned = uv_spawn(&mut lp, &mut process, &options);
    if spawned != 0 {
        uv_close((&raw mut process).cast(), Some(on_close));
    }
    for pipe in &mut pipes {
        let stream: *mut uv_stream_t = (&raw mut *pipe).cast();
        if uv_read_start(stream, Some(on_alloc), Some(on_read)) != 0 {
            uv_close(stream.cast(), Some(on_close));
        }
    }
    assert_eq!(uv_run(&mut lp, UV_RUN_DEFAULT), 0);
    assert_eq!((EXITS.get(), CLOSED.get()), (u32::from(spawned == 0), count as u32 + 1), "{spawned}");
    assert_eq!(uv_loop_close(&mut lp), 0);
}

/// What the child gets as a descriptor: mostly something that makes sense.
unsafe fn slot(bytes: &mut Bytes<'_>, pipes: *mut uv_pipe_t, nth: usize, count: usize) -> uv_stdio_container_t {
    let (flags, other) = (u32::from(bytes.byte()), usize::from(bytes.byte()));
    let own = if other % 5 == 0 { other % count } else { nth };
    let data = if flags & 2 != 0 {
        stdio_data { fd: other as c_int - 2 }
    } else if flags & 5 != 0 {
        stdio_data { stream: pipes.add(own).cast() }
    } else {
        stdio_data { stream: null_mut::<c_void>().cast() }
    };
    uv_stdio_container_t { flags, data }
}

/// The number of open descriptors.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

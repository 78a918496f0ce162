//! Pipes on the simulated kernel: names and requests that are freed at once, handles that are taken, and that are not.

use std::ffi::c_int;

use uv::{
    UV_RUN_DEFAULT, simulated_kernel, uv_accept, uv_buf_t, uv_connect_t, uv_handle_t, uv_listen, uv_loop_t,
    uv_pipe_bind2, uv_pipe_chmod, uv_pipe_connect, uv_pipe_connect2, uv_pipe_getsockname, uv_pipe_init, uv_pipe_open,
    uv_pipe_pending_count, uv_pipe_t, uv_read_start, uv_run, uv_stream_t, uv_write, uv_write_t, uv_write2,
};

use crate::memory::{close, free, free_loop, freed, log, logged, new, new_loop};

const ECANCELED: c_int = -libc::ECANCELED;
const ENOENT: c_int = -libc::ENOENT;
const EBADF: c_int = -libc::EBADF;
const EOF: isize = -4095;

const PATH: &[u8] = b"/there";

static BYTES: [u8; 4] = *b"four";

unsafe fn new_pipe(loop_: *mut uv_loop_t, ipc: c_int) -> *mut uv_pipe_t {
    let pipe = new::<uv_pipe_t>();
    assert_eq!(uv_pipe_init(loop_, pipe, ipc), 0);
    pipe
}

/// Two pipes that are connected to each other.
unsafe fn pair(loop_: *mut uv_loop_t, ipc: c_int) -> [*mut uv_pipe_t; 2] {
    let (one, other) = simulated_kernel(loop_).unix_pair().unwrap();
    [one, other].map(|fd| {
        let (pipe, number) = (new_pipe(loop_, ipc), fd.number());
        assert_eq!(uv_pipe_open(pipe, number), 0);
        // It is the pipe's from here on.
        fd.let_go();
        pipe
    })
}

/// A name of its own, which is gone after the call.
fn with_name(name: &[u8], call: impl FnOnce(*const std::ffi::c_char, usize) -> c_int) -> c_int {
    let name = name.to_vec();
    call(name.as_ptr().cast(), name.len())
}

fn four() -> uv_buf_t {
    uv_buf_t { base: BYTES.as_ptr().cast_mut().cast(), len: BYTES.len() }
}

unsafe extern "C-unwind" fn alloc(_: *mut uv_handle_t, _: usize, buf: *mut uv_buf_t) {
    *buf = uv_buf_t { base: new::<[u8; 16]>().cast(), len: 16 };
}

unsafe fn free_buffer(buf: *const uv_buf_t) {
    if !(*buf).base.is_null() {
        free((*buf).base.cast::<[u8; 16]>());
    }
}

unsafe extern "C-unwind" fn written(req: *mut uv_write_t, status: c_int) {
    log(format!("written:{status}"));
    free(req);
}

/// Closes the handle that was sent along, or only hears that it was closed before.
unsafe extern "C-unwind" fn sent(req: *mut uv_write_t, status: c_int) {
    log(format!("sent:{status}"));
    let passed = (*req).req.data.cast::<uv_pipe_t>();
    if !passed.is_null() {
        close(passed);
    }
    free(req);
}

unsafe fn send(pipe: *mut uv_pipe_t, passed: *mut uv_pipe_t, closes: bool) {
    let (req, buf) = (new::<uv_write_t>(), four());
    (*req).req.data = if closes { passed.cast() } else { std::ptr::null_mut() };
    assert_eq!(uv_write2(req, pipe.cast(), &raw const buf, 1, passed.cast(), Some(sent)), 0);
}

// A server and a client.

unsafe extern "C-unwind" fn on_connection(server: *mut uv_stream_t, status: c_int) {
    assert_eq!(status, 0);
    let client = new_pipe((*server).handle.r#loop, 0);
    assert_eq!(uv_accept(server, client.cast()), 0);
    assert_eq!(uv_read_start(client.cast(), Some(alloc), Some(read_until_the_end)), 0);
    close(server.cast::<uv_pipe_t>());
}

unsafe extern "C-unwind" fn read_until_the_end(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    log(format!("read:{nread}"));
    free_buffer(buf);
    if nread < 0 {
        assert_eq!(nread, EOF);
        close(stream.cast::<uv_pipe_t>());
    }
}

unsafe extern "C-unwind" fn write_and_close(req: *mut uv_connect_t, status: c_int) {
    log(format!("connected:{status}"));
    let pipe = (*req).handle.cast::<uv_pipe_t>();
    free(req);
    if status == 0 {
        let buf = four();
        assert_eq!(uv_write(new(), pipe.cast(), &raw const buf, 1, Some(written)), 0);
    }
    close(pipe);
}

#[test]
fn a_name_need_not_outlive_the_call() {
    unsafe {
        let loop_ = new_loop();
        let (server, client) = (new_pipe(loop_, 0), new_pipe(loop_, 0));
        assert_eq!(with_name(PATH, |name, len| uv_pipe_bind2(server, name, len, 0)), 0);
        assert_eq!(uv_listen(server.cast(), 8, Some(on_connection)), 0);
        assert_eq!(uv_pipe_chmod(server, 3), 0);
        let (mut name, mut size) = ([0_u8; 16], 16);
        assert_eq!(uv_pipe_getsockname(server, name.as_mut_ptr().cast(), &raw mut size), 0);
        assert_eq!(&name[..=size], b"/there\0");
        let connected = |name, len| uv_pipe_connect2(new(), client, name, len, 0, Some(write_and_close));
        assert_eq!(with_name(PATH, connected), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(simulated_kernel(loop_).open_descriptors(), []);
        free_loop(loop_);
    }
    let heard = logged();
    assert!(heard.starts_with("connected:0 ") && heard.contains("written:0"), "{heard}");
    assert!(heard.contains("read:4 ") && heard.ends_with("read:-4095 freed"), "{heard}");
}

#[test]
fn a_connect_to_nobody_is_freed_in_its_callback() {
    unsafe {
        let loop_ = new_loop();
        uv_pipe_connect(new(), new_pipe(loop_, 0), c"/nobody".as_ptr(), Some(write_and_close));
        // Closed before it is told.
        let closed = new_pipe(loop_, 0);
        uv_pipe_connect(new(), closed, c"/nobody".as_ptr(), Some(only_free));
        close(closed);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        free_loop(loop_);
    }
    assert_eq!(logged(), format!("connected:{ENOENT} freed freed:{ECANCELED} freed"));
}

unsafe extern "C-unwind" fn only_free(req: *mut uv_connect_t, status: c_int) {
    log(format!("freed:{status}"));
    free(req);
}

// Handles that are passed.

/// Takes the first of the handles that come, and closes both; the others nobody takes.
unsafe extern "C-unwind" fn take_one(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    log(format!("read:{nread} pending:{}", uv_pipe_pending_count(stream.cast())));
    free_buffer(buf);
    if nread < 0 {
        return close(stream.cast::<uv_pipe_t>());
    }
    if nread > 0 && (*stream).handle.data.is_null() {
        (*stream).handle.data = stream.cast();
        let taken = new_pipe((*stream).handle.r#loop, 0);
        assert_eq!(uv_accept(stream, taken.cast()), 0);
        let buf = four();
        assert_eq!(uv_write(new(), taken.cast(), &raw const buf, 1, Some(written)), 0);
        close(taken);
    }
}

#[test]
fn handles_that_are_passed_are_taken_or_closed() {
    unsafe {
        let loop_ = new_loop();
        let [sender, receiver] = pair(loop_, 1);
        let [passed, other] = pair(loop_, 0);
        (*receiver).stream.handle.data = std::ptr::null_mut();
        assert_eq!(uv_read_start(receiver.cast(), Some(alloc), Some(take_one)), 0);
        assert_eq!(uv_read_start(other.cast(), Some(alloc), Some(read_until_the_end)), 0);
        (0..3).for_each(|nth| send(sender, passed, nth == 2));
        let buf = four();
        assert_eq!(uv_write(new(), sender.cast(), &raw const buf, 1, Some(close_its_stream)), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(simulated_kernel(loop_).open_descriptors(), []);
        free_loop(loop_);
    }
    let heard = logged();
    assert_eq!(heard.matches("sent:0").count(), 3, "{heard}");
    assert!(heard.contains("read:4 pending:1") && heard.contains("pending:2") && heard.contains("read:4 "), "{heard}");
}

unsafe extern "C-unwind" fn close_its_stream(req: *mut uv_write_t, _: c_int) {
    close((*req).handle.cast::<uv_pipe_t>());
    free(req);
}

#[test]
fn a_handle_that_is_closed_before_it_goes_fails_its_write() {
    unsafe {
        let loop_ = new_loop();
        simulated_kernel(loop_).set_capacity(2);
        let [sender, receiver] = pair(loop_, 1);
        let [passed, other] = pair(loop_, 0);
        send(sender, passed, false);
        send(sender, other, false);
        close(other);
        close(passed);
        assert_eq!(uv_read_start(receiver.cast(), Some(alloc), Some(until_eight)), 0);
        (*receiver).stream.handle.data = sender.cast();
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(simulated_kernel(loop_).open_descriptors(), []);
        free_loop(loop_);
    }
    let heard = logged();
    assert!(heard.contains("sent:0") && heard.contains(&format!("sent:{EBADF}")), "{heard}");
}

/// Closes both ends when the first message is there, with its handle, which nobody takes.
unsafe extern "C-unwind" fn until_eight(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    assert!(nread >= 0);
    free_buffer(buf);
    let sender = (*stream).handle.data.cast::<uv_pipe_t>();
    if nread > 0 && (*sender).stream.write_queue_size == 0 {
        assert_eq!(uv_pipe_pending_count(stream.cast()), 1);
        uv::uv_close(sender.cast(), Some(freed::<uv_pipe_t>));
        close(stream.cast::<uv_pipe_t>());
    }
}

//! Connects and poll handles on the simulated kernel, whose callbacks close, restart and free what they can.

use std::ffi::c_int;
use std::ptr::null;

use oxuv_core::sim::Fd;
use uv::{
    UV_RUN_DEFAULT, UV_RUN_NOWAIT, UV_WRITABLE, simulated_kernel, uv_buf_t, uv_connect_t, uv_ip4_addr, uv_loop_t,
    uv_poll_init, uv_poll_start, uv_poll_stop, uv_poll_t, uv_run, uv_tcp_bind, uv_tcp_close_reset, uv_tcp_connect,
    uv_tcp_init, uv_tcp_open, uv_tcp_t, uv_write, uv_write_nwritten, uv_write_t,
};

use crate::memory::{close, free, free_loop, freed, log, logged, new, new_loop};

const ECANCELED: c_int = -libc::ECANCELED;
const ECONNREFUSED: c_int = -libc::ECONNREFUSED;
const EADDRINUSE: c_int = -libc::EADDRINUSE;
const EBADF: c_int = -libc::EBADF;

/// The outside accepts at one of them, and nobody listens at the other.
const SERVED: u16 = 7000;
const DEAD: u16 = 7001;

unsafe fn address(port: u16) -> libc::sockaddr_in {
    let mut address = std::mem::zeroed::<libc::sockaddr_in>();
    assert_eq!(uv_ip4_addr(c"127.0.0.1".as_ptr(), c_int::from(port), &raw mut address), 0);
    address
}

unsafe fn new_tcp(loop_: *mut uv_loop_t) -> *mut uv_tcp_t {
    let tcp = new::<uv_tcp_t>();
    assert_eq!(uv_tcp_init(loop_, tcp), 0);
    tcp
}

/// Connects a new handle, with 10 bytes to be written afterwards, and runs until that is over.
unsafe fn connect(port: u16, cb: unsafe extern "C-unwind" fn(*mut uv_connect_t, c_int)) -> String {
    let loop_ = new_loop();
    let sim = simulated_kernel(loop_);
    sim.serve(([127, 0, 0, 1], SERVED).into());
    let tcp = new_tcp(loop_);
    let (req, to) = (new::<uv_connect_t>(), address(port));
    assert_eq!(uv_tcp_connect(req, tcp, (&raw const to).cast(), Some(cb)), 0);
    assert_eq!((*req).handle, tcp.cast());
    write(tcp);
    assert_eq!((*tcp).stream.write_queue_size, BYTES.len());
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    assert_eq!(sim.open_descriptors(), []);
    free_loop(loop_);
    logged()
}

static BYTES: [u8; 10] = [7; 10];

unsafe fn write(tcp: *mut uv_tcp_t) {
    let buf = uv_buf_t { base: BYTES.as_ptr().cast_mut().cast(), len: BYTES.len() };
    assert_eq!(uv_write(new(), tcp.cast(), &raw const buf, 1, Some(written)), 0);
}

unsafe extern "C-unwind" fn written(req: *mut uv_write_t, status: c_int) {
    let sent = uv_write_nwritten(req);
    assert_eq!(sent, if status == 0 { BYTES.len() } else { 0 });
    log(format!("written {status}"));
    if uv::uv_is_closing((*req).handle.cast()) == 0 {
        close((*req).handle.cast::<uv_tcp_t>());
    }
    free(req);
}

unsafe extern "C-unwind" fn connected(req: *mut uv_connect_t, status: c_int) {
    log(format!("connected {status}"));
    free(req);
}

unsafe extern "C-unwind" fn connected_and_closed(req: *mut uv_connect_t, status: c_int) {
    log(format!("connected {status}"));
    close((*req).handle.cast::<uv_tcp_t>());
    free(req);
}

unsafe extern "C-unwind" fn connected_and_reset(req: *mut uv_connect_t, status: c_int) {
    log(format!("connected {status}"));
    assert_eq!(uv_tcp_close_reset((*req).handle.cast(), Some(freed::<uv_tcp_t>)), 0);
    free(req);
}

/// Connects once more with the same request, elsewhere.
unsafe extern "C-unwind" fn connect_again(req: *mut uv_connect_t, status: c_int) {
    log(format!("connected {status}"));
    let to = address(SERVED);
    assert_eq!(uv_tcp_connect(req, (*req).handle.cast(), (&raw const to).cast(), Some(connected)), 0);
}

/// Runs the loop until the handle's memory is gone.
unsafe extern "C-unwind" fn run_until_closed(req: *mut uv_connect_t, status: c_int) {
    let tcp: *mut uv_tcp_t = (*req).handle.cast();
    let loop_ = (*tcp).stream.handle.r#loop;
    log(format!("connected {status}"));
    free(req);
    close(tcp);
    assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 0);
    log("run");
}

#[test]
fn connects_that_succeed() {
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe {
        assert_eq!(connect(SERVED, connected), "connected 0 written 0 freed");
        let canceled = format!("connected 0 written {ECANCELED} freed");
        assert_eq!(connect(SERVED, connected_and_closed), canceled);
        assert_eq!(connect(SERVED, connected_and_reset), canceled);
        assert_eq!(connect(SERVED, run_until_closed), format!("{canceled} run"));
    }
}

#[test]
fn connects_that_are_refused() {
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe {
        let canceled = format!("connected {ECONNREFUSED} written {ECANCELED} freed");
        assert_eq!(connect(DEAD, connected), canceled);
        assert_eq!(connect(DEAD, connected_and_closed), canceled);
        assert_eq!(connect(DEAD, connected_and_reset), canceled);
        assert_eq!(connect(DEAD, run_until_closed), format!("{canceled} run"));
        let again = format!("connected {ECONNREFUSED} written {ECANCELED} connected {ECANCELED} freed");
        assert_eq!(connect(DEAD, connect_again), again);
    }
}

#[test]
fn a_connect_that_has_failed_before_it_began() {
    unsafe fn test() {
        let loop_ = new_loop();
        let (one, two) = (new_tcp(loop_), new_tcp(loop_));
        let at = address(8000);
        assert_eq!(uv_tcp_bind(one, (&raw const at).cast(), 0), 0);
        assert_eq!(uv::uv_listen(one.cast(), 1, None), 0);
        assert_eq!(uv_tcp_bind(two, (&raw const at).cast(), 0), 0);
        assert_eq!(uv_tcp_connect(new(), two, (&raw const at).cast(), Some(connected_and_closed)), 0);
        assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
        assert_eq!(logged(), format!("connected {EADDRINUSE} freed"));
        close(one);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        free_loop(loop_);
    }
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe { test() }
    logged();
}

#[test]
fn an_open_that_is_refused_leaves_the_socket_to_its_owner() {
    unsafe fn test() {
        let loop_ = new_loop();
        let sim = simulated_kernel(loop_);
        let tcp = new_tcp(loop_);
        let (first, second) = (sim.pair().unwrap().0, sim.pair().unwrap().0);
        assert_eq!(uv_tcp_open(tcp, first.number()), 0);
        first.let_go();
        assert_eq!(uv_tcp_open(tcp, second.number()), -libc::EBUSY);
        let own = (*tcp).stream.io_watcher.fd;
        assert_eq!(uv_tcp_open(tcp, own), 0);
        assert_eq!(sim.open_descriptors().len(), 2);
        close(tcp);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(sim.open_descriptors(), [second.number()]);
        free_loop(loop_);
    }
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe { test() }
    logged();
}

// Poll handles that are stopped, started and closed in their callbacks.

type PollCallback = unsafe extern "C-unwind" fn(*mut uv_poll_t, c_int, c_int);

/// Two handles on sockets that can be written to; each knows the other.
unsafe fn poll_two(cb: PollCallback) -> String {
    let loop_ = new_loop();
    let sim = simulated_kernel(loop_);
    let sockets: [Fd; 2] = std::array::from_fn(|_| sim.pair().unwrap().0);
    let polls = sockets.each_ref().map(|socket| {
        let poll = new::<uv_poll_t>();
        assert_eq!(uv_poll_init(loop_, poll, socket.number()), 0);
        assert_eq!(uv_poll_start(poll, UV_WRITABLE, Some(cb)), 0);
        poll
    });
    for (poll, other) in [(0, 1), (1, 0)] {
        (*polls[poll]).handle.data = polls[other].cast();
    }
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    free_loop(loop_);
    logged()
}

unsafe extern "C-unwind" fn close_itself(poll: *mut uv_poll_t, status: c_int, events: c_int) {
    log(format!("{status} {events}"));
    close(poll);
}

unsafe extern "C-unwind" fn close_both(poll: *mut uv_poll_t, status: c_int, events: c_int) {
    log(format!("{status} {events}"));
    close((*poll).handle.data.cast::<uv_poll_t>());
    close(poll);
}

unsafe extern "C-unwind" fn restart(poll: *mut uv_poll_t, status: c_int, events: c_int) {
    log(format!("{status} {events}"));
    assert_eq!(uv_poll_stop(poll), 0);
    assert_eq!(uv_poll_start(poll, UV_WRITABLE, Some(close_itself)), 0);
}

/// Runs the loop until both are gone.
unsafe extern "C-unwind" fn run_until_both_are_closed(poll: *mut uv_poll_t, _: c_int, _: c_int) {
    let loop_ = (*poll).handle.r#loop;
    close((*poll).handle.data.cast::<uv_poll_t>());
    close(poll);
    assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 0);
    log("run");
}

#[test]
fn poll_handles_are_closed_and_restarted_in_their_callbacks() {
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe {
        assert_eq!(poll_two(close_itself), "0 2 0 2 freed freed");
        assert_eq!(poll_two(close_both), "0 2 freed freed");
        assert_eq!(poll_two(restart), "0 2 0 2 0 2 0 2 freed freed");
        assert_eq!(poll_two(run_until_both_are_closed), "freed freed run");
    }
}

#[test]
fn a_poll_handle_whose_descriptor_is_closed_is_told() {
    unsafe fn test() {
        let loop_ = new_loop();
        let poll = new::<uv_poll_t>();
        let (socket, _) = simulated_kernel(loop_).pair().unwrap();
        assert_eq!(uv_poll_init(loop_, poll, socket.number()), 0);
        drop(socket);
        assert_eq!(uv_poll_start(poll, UV_WRITABLE, Some(close_itself)), 0);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        assert_eq!(logged(), format!("{EBADF} 0 freed"));
        free_loop(loop_);
    }
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe { test() }
}

#[test]
fn null_is_refused_where_libuv_refuses_it() {
    // SAFETY: null is looked at and not followed.
    unsafe {
        assert_eq!(uv::uv_read_start(std::ptr::null_mut(), None, None), -libc::EINVAL);
        assert_eq!(uv::uv_write(std::ptr::null_mut(), std::ptr::null_mut(), null(), 0, None), -libc::EINVAL);
        assert_eq!(uv::uv_send_buffer_size(std::ptr::null_mut(), std::ptr::null_mut()), -libc::EINVAL);
    }
}

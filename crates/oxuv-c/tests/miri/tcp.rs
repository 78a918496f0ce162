//! TCP on the simulated kernel: an echo server, and streams that are closed wherever that can be done.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::net::SocketAddr;
use std::rc::Rc;

use oxuv_core::sim::{Faults, Peer, Sim};
use uv::{
    UV_RUN_DEFAULT, UV_RUN_NOWAIT, simulated_kernel, uv_accept, uv_alloc_cb, uv_buf_t, uv_handle_t, uv_ip4_addr,
    uv_is_closing, uv_listen, uv_loop_t, uv_read_cb, uv_read_start, uv_read_stop, uv_run, uv_shutdown, uv_shutdown_t,
    uv_stream_t, uv_tcp_bind, uv_tcp_getsockname, uv_tcp_init, uv_tcp_t, uv_try_write, uv_write, uv_write_t,
};

use crate::memory::{close, free, free_loop, log, logged, new, new_loop};

const EOF: isize = -4095;
const ECANCELED: c_int = -libc::ECANCELED;
const EAGAIN: c_int = -libc::EAGAIN;
const EDEADLK: c_int = -libc::EDEADLK;
const EPIPE: c_int = -libc::EPIPE;
const ENOBUFS: isize = -libc::ENOBUFS as isize;

/// What a buffer from [`alloc`] holds.
const SIZE: usize = 40;

unsafe fn listen(
    loop_: *mut uv_loop_t,
    cb: unsafe extern "C-unwind" fn(*mut uv_stream_t, c_int),
) -> (*mut uv_tcp_t, SocketAddr) {
    let listener = new::<uv_tcp_t>();
    let mut address = std::mem::zeroed::<libc::sockaddr_in>();
    assert_eq!(uv_tcp_init(loop_, listener), 0);
    assert_eq!(uv_ip4_addr(c"127.0.0.1".as_ptr(), 0, &raw mut address), 0);
    assert_eq!(uv_tcp_bind(listener, (&raw const address).cast(), 0), 0);
    assert_eq!(uv_listen(listener.cast(), 8, Some(cb)), 0);
    let mut size = size_of_val(&address) as c_int;
    assert_eq!(uv_tcp_getsockname(listener, (&raw mut address).cast(), &raw mut size), 0);
    (listener, ([127, 0, 0, 1], u16::from_be(address.sin_port)).into())
}

unsafe fn accept(server: *mut uv_stream_t) -> *mut uv_stream_t {
    let tcp = new::<uv_tcp_t>();
    assert_eq!(uv_tcp_init((*server).handle.r#loop, tcp), 0);
    assert_eq!((*tcp).stream.io_watcher.fd, -1);
    assert_eq!(uv_accept(server, tcp.cast()), 0);
    assert!((*tcp).stream.io_watcher.fd >= 0);
    tcp.cast()
}

unsafe fn close_stream(stream: *mut uv_stream_t) {
    if uv_is_closing(stream.cast()) == 0 {
        close(stream.cast::<uv_tcp_t>());
        assert_eq!((*stream).io_watcher.fd, -1);
    }
}

unsafe extern "C-unwind" fn alloc(_: *mut uv_handle_t, suggested: usize, buf: *mut uv_buf_t) {
    assert_eq!(((*buf).base.is_null(), (*buf).len, suggested), (true, 0, 65536));
    *buf = uv_buf_t { base: new::<[u8; SIZE]>().cast(), len: SIZE };
}

// The echo server.

unsafe extern "C-unwind" fn echo_connection(server: *mut uv_stream_t, status: c_int) {
    assert_eq!(status, 0);
    let stream = accept(server);
    assert_eq!(uv_read_start(stream, Some(alloc), Some(echo_read)), 0);
}

unsafe extern "C-unwind" fn echo_read(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    let base = (*buf).base;
    match nread {
        1.. => return echo(stream, base, nread as usize),
        EOF => {
            let req = new::<uv_shutdown_t>();
            if uv_shutdown(req, stream, Some(echo_shutdown)) != 0 {
                free(req);
                close_stream(stream);
            }
        }
        0 => {}
        _ => close_stream(stream),
    }
    if !base.is_null() {
        free(base.cast::<[u8; SIZE]>());
    }
}

/// Writes in 1 to 6 buffers: with more than 4 the array does not fit into the request.
unsafe fn echo(stream: *mut uv_stream_t, base: *mut c_char, size: usize) {
    let parts = 1 + size % 6;
    let mut bufs: Vec<uv_buf_t> = (0..parts)
        .map(|nth| {
            let (from, to) = (size * nth / parts, size * (nth + 1) / parts);
            uv_buf_t { base: base.add(from), len: to - from }
        })
        .collect();
    let req = new::<uv_write_t>();
    (*req).req.data = base.cast();
    if uv_write(req, stream, bufs.as_mut_ptr(), parts as u32, Some(echo_written)) != 0 {
        free_write(req);
        close_stream(stream);
    }
}

unsafe fn free_write(req: *mut uv_write_t) {
    free((*req).req.data.cast::<[u8; SIZE]>());
    free(req);
}

unsafe extern "C-unwind" fn echo_written(req: *mut uv_write_t, status: c_int) {
    let stream = (*req).handle;
    free_write(req);
    if status != 0 {
        close_stream(stream);
    }
}

unsafe extern "C-unwind" fn echo_shutdown(req: *mut uv_shutdown_t, _: c_int) {
    close_stream((*req).handle);
    free(req);
}

/// A peer that sends `bytes` and receives them back.
struct Client {
    peer: Peer,
    bytes: Vec<u8>,
    sent: usize,
    back: Vec<u8>,
    over: bool,
}

impl Client {
    /// Goes on every few microseconds, until everything is back or the connection has failed.
    fn go_on(client: Rc<RefCell<Client>>, sim: &Sim) {
        client.borrow_mut().step(sim);
        if !client.borrow().over {
            sim.later(3_000, move |sim| Client::go_on(client, sim));
        }
    }

    fn step(&mut self, sim: &Sim) {
        if self.sent < self.bytes.len() {
            let some = (self.sent + 70).min(self.bytes.len());
            self.sent += self.peer.send(sim, &self.bytes[self.sent..some]).unwrap_or(0);
            if self.sent == self.bytes.len() {
                self.peer.shutdown(sim);
            }
        }
        // Slower than it sends, so that writes have to wait.
        match self.peer.receive(sim, 45) {
            Ok(bytes) => {
                self.over = bytes.is_empty();
                self.back.extend(bytes);
            }
            Err(error) => self.over = error != oxuv_core::Errno::EAGAIN,
        }
    }
}

/// What clients got back, of what they sent.
unsafe fn echo_to_clients(faults: Faults, turns_before: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let loop_ = new_loop();
    let sim = simulated_kernel(loop_);
    // Small enough for writes to be cut short.
    sim.set_capacity(100);
    let (listener, address) = listen(loop_, echo_connection);
    sim.set_faults(faults);
    for _ in 0..turns_before {
        // The faults are drawn from one seed: this draws other ones.
        uv_run(loop_, UV_RUN_NOWAIT);
    }
    let clients: Vec<_> = (1..4_usize)
        .map(|nth| {
            let bytes = (0..300 * nth).map(|at| (at * 31 + nth) as u8).collect();
            let peer = sim.connect(address).unwrap();
            Rc::new(RefCell::new(Client { peer, bytes, sent: 0, back: Vec::new(), over: false }))
        })
        .collect();
    for client in &clients {
        let client = Rc::clone(client);
        sim.later(1_000, move |sim| Client::go_on(client, sim));
    }
    // The run ends when nobody outside has plans any more.
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), EDEADLK);
    assert!(clients.iter().all(|client| client.borrow().over));
    close(listener);
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    assert_eq!(sim.open_descriptors(), []);
    free_loop(loop_);
    logged();
    clients
        .iter()
        .map(|client| {
            let client = client.borrow();
            (client.bytes.clone(), client.back.clone())
        })
        .collect()
}

#[test]
fn every_byte_comes_back() {
    // SAFETY: the server frees its memory in the last callbacks, and the loop outlives them.
    for (bytes, back) in unsafe { echo_to_clients(Faults::none(), 0) } {
        assert_eq!(back, bytes);
    }
}

#[test]
fn what_comes_back_from_a_kernel_with_faults_is_right_as_far_as_it_goes() {
    let mut total = 0;
    for turns_before in 0..4 {
        // SAFETY: as above; connections that fail are closed by the server.
        for (bytes, back) in unsafe { echo_to_clients(Faults::all(), turns_before) } {
            assert!(bytes.starts_with(&back));
            total += back.len();
        }
    }
    assert!(total > 1000, "only {total} bytes came back: nothing was put to the test");
}

// Streams that are closed, stopped and restarted in all their callbacks.

/// The connection that was accepted last, and how it is to be read.
struct Accepted {
    alloc_cb: uv_alloc_cb,
    read_cb: uv_read_cb,
    stream: *mut uv_stream_t,
}

unsafe extern "C-unwind" fn connection(server: *mut uv_stream_t, status: c_int) {
    assert_eq!(status, 0);
    let accepted = (*server).handle.data.cast::<Accepted>();
    let stream = accept(server);
    (*accepted).stream = stream;
    if (*accepted).alloc_cb.is_some() {
        assert_eq!(uv_read_start(stream, (*accepted).alloc_cb, (*accepted).read_cb), 0);
    }
}

/// Has a peer connect and say hello, and runs the loop while there is something to do besides listening.
unsafe fn read_with(alloc_cb: uv_alloc_cb, read_cb: uv_read_cb) -> String {
    let loop_ = new_loop();
    let sim = simulated_kernel(loop_);
    let (listener, address) = listen(loop_, connection);
    let mut accepted = Accepted { alloc_cb, read_cb, stream: std::ptr::null_mut() };
    (*listener).stream.handle.data = (&raw mut accepted).cast();
    let peer = sim.connect(address).unwrap();
    assert_eq!(peer.send(&sim, b"hello"), Ok(5));
    for _ in 0..6 {
        assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
    }
    close(listener);
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    free_loop(loop_);
    logged()
}

unsafe fn give_back(buf: *const uv_buf_t) {
    free((*buf).base.cast::<[u8; SIZE]>());
}

unsafe extern "C-unwind" fn alloc_and_close(handle: *mut uv_handle_t, suggested: usize, buf: *mut uv_buf_t) {
    alloc(handle, suggested, buf);
    close_stream(handle.cast());
}

unsafe extern "C-unwind" fn alloc_and_stop(handle: *mut uv_handle_t, suggested: usize, buf: *mut uv_buf_t) {
    alloc(handle, suggested, buf);
    assert_eq!(uv_read_stop(handle.cast()), 0);
}

unsafe extern "C-unwind" fn alloc_and_restart(handle: *mut uv_handle_t, suggested: usize, buf: *mut uv_buf_t) {
    alloc_and_stop(handle, suggested, buf);
    assert_eq!(uv_read_start(handle.cast(), Some(alloc), Some(read_and_close)), 0);
}

unsafe extern "C-unwind" fn alloc_nothing(_: *mut uv_handle_t, _: usize, _: *mut uv_buf_t) {
    log("nothing");
}

/// Runs the loop until the stream's memory is gone.
unsafe extern "C-unwind" fn alloc_and_run(handle: *mut uv_handle_t, _: usize, _: *mut uv_buf_t) {
    let loop_ = (*handle).r#loop;
    close_stream(handle.cast());
    assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
    log("run");
}

unsafe extern "C-unwind" fn read_and_close(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    log(format!("read {nread}"));
    give_back(buf);
    close_stream(stream);
}

unsafe extern "C-unwind" fn take_back(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    log(format!("back {nread}"));
    give_back(buf);
    if uv_is_closing(stream.cast()) == 0 {
        assert_eq!(uv_read_start(stream, Some(alloc), Some(read_and_close)), 0);
    }
}

unsafe extern "C-unwind" fn no_buffer(stream: *mut uv_stream_t, nread: isize, buf: *const uv_buf_t) {
    assert_eq!((nread, (*buf).base.is_null()), (ENOBUFS, true));
    assert_eq!(uv_read_stop(stream), 0);
    assert_eq!(uv_read_start(stream, Some(alloc), Some(read_and_close)), 0);
}

unsafe extern "C-unwind" fn never_read(_: *mut uv_stream_t, _: isize, _: *const uv_buf_t) {
    panic!("the stream is closed, or reads elsewhere");
}

#[test]
fn streams_are_closed_stopped_and_restarted_where_they_read() {
    // SAFETY: all memory is freed in the last callback that gets it.
    unsafe {
        assert_eq!(read_with(Some(alloc), Some(read_and_close)), "read 5 freed freed");
        assert_eq!(read_with(Some(alloc_and_close), Some(take_back)), "back 0 freed freed");
        assert_eq!(read_with(Some(alloc_and_stop), Some(take_back)), "back 0 read 5 freed freed");
        assert_eq!(read_with(Some(alloc_and_restart), Some(never_read)), "read 5 freed freed");
        assert_eq!(read_with(Some(alloc_nothing), Some(no_buffer)), "nothing read 5 freed freed");
        assert_eq!(read_with(Some(alloc_and_run), Some(never_read)), "freed run freed");
    }
}

unsafe extern "C-unwind" fn canceled(req: *mut uv_write_t, status: c_int) {
    assert_eq!(status, ECANCELED);
    assert_eq!(uv_is_closing((*req).handle.cast()), 1);
    log(format!("canceled {}", (*(*req).handle).write_queue_size));
    free(req);
}

/// It was written whole before the close, and is reported after it.
unsafe extern "C-unwind" fn written_before(req: *mut uv_write_t, status: c_int) {
    assert_eq!(status, 0);
    log("written");
    free(req);
}

unsafe extern "C-unwind" fn shutdown_canceled(req: *mut uv_shutdown_t, status: c_int) {
    assert_eq!(status, ECANCELED);
    log("shutdown");
    free(req);
}

/// Writes once more, with the same request.
unsafe extern "C-unwind" fn write_again(req: *mut uv_write_t, status: c_int) {
    assert_eq!(status, 0);
    log("again");
    let (stream, mut byte) = ((*req).handle, 7);
    let buf = uv_buf_t { base: &raw mut byte, len: 1 };
    // Taken at once, and cannot be waiting when `byte` is gone.
    assert_eq!(uv_write(req, stream, &raw const buf, 1, Some(write_and_close)), 0);
    assert_eq!((*stream).write_queue_size, 0);
}

unsafe extern "C-unwind" fn write_and_close(req: *mut uv_write_t, status: c_int) {
    assert_eq!(status, 0);
    log("written");
    close_stream((*req).handle);
    free(req);
}

/// A listener, a peer and an accepted stream that does not read.
unsafe fn connected() -> (*mut uv_loop_t, *mut uv_tcp_t, Peer, *mut uv_stream_t) {
    let loop_ = new_loop();
    let sim = simulated_kernel(loop_);
    sim.set_capacity(100);
    let (listener, address) = listen(loop_, connection);
    let mut accepted = Accepted { alloc_cb: None, read_cb: None, stream: std::ptr::null_mut() };
    (*listener).stream.handle.data = (&raw mut accepted).cast();
    let peer = sim.connect(address).unwrap();
    assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
    (loop_, listener, peer, accepted.stream)
}

#[test]
fn a_close_cancels_what_was_not_written() {
    unsafe fn test() {
        let (loop_, listener, _, stream) = connected();
        let mut bytes = [1; 60];
        let mut bufs = [uv_buf_t { base: bytes.as_mut_ptr(), len: bytes.len() }; 6];
        for count in 1..=6 {
            let cb = if count == 1 { written_before } else { canceled };
            assert_eq!(uv_write(new(), stream, bufs.as_ptr(), count, Some(cb)), 0);
        }
        assert_eq!((*stream).write_queue_size, 21 * 60 - 100);
        assert_eq!(uv_try_write(stream, bufs.as_ptr(), 1), EAGAIN);
        assert_eq!(uv_shutdown(new(), stream, Some(shutdown_canceled)), 0);
        let refused = new();
        assert_eq!(uv_write(refused, stream, bufs.as_ptr(), 6, Some(canceled)), EPIPE);
        free(refused);
        // The arrays were copied.
        bufs.fill(uv_buf_t { base: std::ptr::null_mut(), len: 9 });
        close_stream(stream);
        close(listener);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        let sizes = "canceled 1080 canceled 900 canceled 660 canceled 360 canceled 0";
        assert_eq!(logged(), format!("freed written {sizes} shutdown freed"));
        free_loop(loop_);
    }
    // SAFETY: `bytes` outlives the writes, and all other memory is freed in the last callback that gets it.
    unsafe { test() }
}

#[test]
fn a_request_is_used_again_in_its_callback() {
    unsafe fn test() {
        let (loop_, listener, peer, stream) = connected();
        let mut bytes = [1; 50];
        let buf = uv_buf_t { base: bytes.as_mut_ptr(), len: bytes.len() };
        assert_eq!(uv_try_write(stream, &raw const buf, 1), 50);
        assert_eq!(uv_write(new(), stream, &raw const buf, 1, Some(write_again)), 0);
        assert_eq!(logged(), "");
        let sim = simulated_kernel(loop_);
        assert_eq!(peer.receive(&sim, 200).unwrap(), [1; 100]);
        for _ in 0..3 {
            assert_eq!(uv_run(loop_, UV_RUN_NOWAIT), 1);
        }
        assert_eq!(peer.receive(&sim, 200).unwrap(), [7]);
        assert_eq!(logged(), "again written freed");
        close(listener);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        free_loop(loop_);
    }
    // SAFETY: `bytes` outlives the writes, and all other memory is freed in the last callback that gets it.
    unsafe { test() }
    logged();
}

//! Datagrams on the simulated kernel: requests and buffers are freed, and handles closed, wherever that can be done.

use std::ffi::{c_int, c_uint};

use libc::sockaddr;
use oxuv_core::DATAGRAM_SIZE;
use uv::{
    UV_RUN_DEFAULT, UV_RUN_NOWAIT, UV_UDP_MMSG_CHUNK, UV_UDP_MMSG_FREE, UV_UDP_RECVMMSG, simulated_kernel, uv_buf_t,
    uv_close, uv_handle_t, uv_ip4_addr, uv_loop_t, uv_run, uv_udp_bind, uv_udp_init_ex, uv_udp_recv_start,
    uv_udp_recv_stop, uv_udp_send, uv_udp_send_t, uv_udp_t, uv_udp_try_send, uv_udp_try_send2,
};

use crate::memory::{close, free, free_loop, log, logged, new, new_loop};

const PORT: c_int = 5000;
const ECANCELED: c_int = -libc::ECANCELED;

unsafe fn address(port: c_int) -> libc::sockaddr_in {
    let mut address = std::mem::zeroed();
    assert_eq!(uv_ip4_addr(c"127.0.0.1".as_ptr(), port, &raw mut address), 0);
    address
}

unsafe fn udp(loop_: *mut uv_loop_t, flags: c_uint, port: c_int) -> *mut uv_udp_t {
    let udp = new::<uv_udp_t>();
    assert_eq!(uv_udp_init_ex(loop_, udp, flags), 0);
    let address = address(port);
    assert_eq!(uv_udp_bind(udp, (&raw const address).cast(), 0), 0);
    udp
}

unsafe extern "C-unwind" fn sent(req: *mut uv_udp_send_t, status: c_int) {
    log(format!("sent:{status}:{}", (*(*req).handle).send_queue_count));
    free(req);
}

/// Sends a datagram of 6 buffers, whose array does not fit into the request.
unsafe fn send(udp: *mut uv_udp_t, port: c_int) {
    let bytes = c"ab".as_ptr().cast_mut();
    let bufs = [uv_buf_t { base: bytes, len: 2 }; 6];
    let to = address(port);
    let req = new::<uv_udp_send_t>();
    assert_eq!(uv_udp_send(req, udp, bufs.as_ptr(), 6, (&raw const to).cast(), Some(sent)), 0);
}

type Several = [u8; 3 * DATAGRAM_SIZE];

unsafe extern "C-unwind" fn alloc(_: *mut uv_handle_t, _: usize, buf: *mut uv_buf_t) {
    *buf = uv_buf_t { base: new::<Several>().cast(), len: size_of::<Several>() };
}

unsafe extern "C-unwind" fn received(
    udp: *mut uv_udp_t,
    nread: isize,
    buf: *const uv_buf_t,
    from: *const sockaddr,
    flags: c_uint,
) {
    log(format!("got:{nread}:{flags}"));
    if flags & UV_UDP_MMSG_CHUNK == 0 {
        assert!(flags == UV_UDP_MMSG_FREE || from.is_null() || nread > 0);
        return free((*buf).base.cast::<Several>());
    }
    assert_eq!(c_int::from((*from).sa_family), libc::AF_INET);
    // The program may write to what it was given.
    (*buf).base.write_bytes(7, nread as usize + 1);
    if (*udp).handle.data.is_null() {
        return;
    }
    uv_close(udp.cast(), Some(closed));
    if (*udp).handle.data.addr() == 2 {
        uv_run((*udp).handle.r#loop, UV_RUN_NOWAIT);
        // Nobody gives the buffer back any more.
        free((*buf).base.cast::<Several>());
    }
}

unsafe extern "C-unwind" fn closed(handle: *mut uv_handle_t) {
    log("closed");
    free(handle.cast::<uv_udp_t>());
}

unsafe fn receive(flags: c_uint, data: usize) -> String {
    let loop_ = new_loop();
    let server = udp(loop_, flags, PORT);
    (*server).handle.data = std::ptr::without_provenance_mut(data);
    assert_eq!(uv_udp_recv_start(server, Some(alloc), Some(received)), 0);
    let client = udp(loop_, 0, 0);
    (0..3).for_each(|_| send(client, PORT));
    assert_eq!((*client).send_queue_count, 3);
    uv_run(loop_, UV_RUN_NOWAIT);
    uv_run(loop_, UV_RUN_NOWAIT);
    if data == 0 {
        assert_eq!(uv_udp_recv_stop(server), 0);
        close(server);
    }
    close(client);
    assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
    free_loop(loop_);
    logged()
}

const SENT: &str = "sent:0:2 sent:0:1 sent:0:0";

#[test]
fn datagrams_are_received_one_by_one() {
    let heard = unsafe { receive(0, 0) };
    assert!(heard.starts_with(&format!("{SENT} got:12:0 got:12:0 got:12:0 got:0:0")), "{heard}");
}

#[test]
fn several_are_received_at_a_time() {
    let heard = unsafe { receive(UV_UDP_RECVMMSG, 0) };
    assert!(heard.starts_with(&format!("{SENT} got:12:8 got:12:8 got:12:8 got:0:16")), "{heard}");
}

#[test]
fn a_handle_closed_by_one_of_them_still_gives_the_buffer_back() {
    assert_eq!(unsafe { receive(UV_UDP_RECVMMSG, 1) }, format!("{SENT} got:12:8 got:0:16 closed freed"));
}

#[test]
fn a_handle_that_is_gone_hears_nothing() {
    assert_eq!(unsafe { receive(UV_UDP_RECVMMSG, 2) }, format!("{SENT} got:12:8 closed freed"));
}

#[test]
fn sends_that_do_not_go_are_cancelled_by_close() {
    unsafe {
        let loop_ = new_loop();
        simulated_kernel(loop_).set_network_room(1);
        let client = udp(loop_, 0, 0);
        (0..3).for_each(|_| send(client, 9));
        close(client);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        free_loop(loop_);
    }
    assert_eq!(logged(), format!("sent:0:2 sent:{ECANCELED}:1 sent:{ECANCELED}:0 freed"));
}

#[test]
fn several_are_sent_without_being_kept() {
    unsafe {
        let loop_ = new_loop();
        let client = udp(loop_, 0, 0);
        let mut to = address(9);
        let mut buf = uv_buf_t { base: c"ab".as_ptr().cast_mut(), len: 2 };
        let (mut bufs, mut counts) = ([&raw mut buf; 30], [1; 30]);
        let mut addresses = [(&raw mut to).cast::<sockaddr>(); 30];
        assert_eq!(uv_udp_try_send(client, &raw const buf, 1, addresses[0]), 2);
        let (bufs, counts, addresses) = (bufs.as_mut_ptr(), counts.as_mut_ptr(), addresses.as_mut_ptr());
        assert_eq!(uv_udp_try_send2(client, 30, bufs, counts, addresses, 0), 30);
        assert_eq!(simulated_kernel(loop_).take_letters().len(), 31);
        close(client);
        assert_eq!(uv_run(loop_, UV_RUN_DEFAULT), 0);
        free_loop(loop_);
    }
}

//! The driver of libuv.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_uint};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::from_mut;
use std::rc::Rc;

use libuv_sys2::*;
use oxuv_order::{Callback, ChildOf, Driver, FileArguments, Kind, Listener, Mode, Operation, Outcome, Side, Stdio};

use crate::call::call;
use crate::callbacks::*;
use crate::library::Library;
use crate::requests::*;

/// libuv, or the library that was named instead.
pub struct Libuv {
    pub(crate) library: &'static Library,
    /// The loops, which are freed when this is dropped; and the one that is used now.
    loops: RefCell<Vec<*mut uv_loop_t>>,
    used: Cell<usize>,
    /// The first one is closed.
    is_closed: Cell<bool>,
    listener: Listener,
    slots: RefCell<BTreeMap<String, Rc<Slot>>>,
    /// What was last asked of the pool, by its name. What has come back is never looked at.
    pub(crate) jobs: RefCell<BTreeMap<String, *mut uv_req_t>>,
}

/// One of a handle's two callbacks, for the library.
macro_rules! pick {
    ($callback:expr, $function:ident $(, $kind:ty)?) => {
        Some(if $callback.other { $function::<$($kind,)? true> } else { $function::<$($kind,)? false> })
    };
}

impl Libuv {
    /// The loop that is used now.
    pub(crate) fn lp(&self) -> *mut uv_loop_t {
        self.loops.borrow()[self.used.get()]
    }

    pub(crate) fn slot(&self, name: &str) -> Rc<Slot> {
        self.slots.borrow().get(name).unwrap_or_else(|| panic!("no handle {name}")).clone()
    }

    pub(crate) fn get<T>(&self, name: &str) -> *mut T {
        self.slot(name).handle()
    }

    /// The slot for a new handle. A handle that was closed leaves its memory to the next of its name.
    pub(crate) fn make<T>(&self, name: &str, init: impl FnOnce(*mut T) -> c_int) -> Outcome {
        let new = || Rc::new(Slot::new(name, &self.listener));
        let slot = self.slots.borrow_mut().entry(name.to_owned()).or_insert_with(new).clone();
        named(init(slot.handle()))?;
        // SAFETY: the handle was initialised, and its `data` is the program's own.
        unsafe { (*slot.handle::<uv_handle_t>()).data = Rc::as_ptr(&slot).cast_mut().cast() };
        Ok(())
    }

    /// For a request of the pool, which has no handle.
    pub(crate) fn new_slot(&self, name: &str) -> Rc<Slot> {
        Rc::new(Slot::new(name, &self.listener))
    }

    pub(crate) fn kind(&self, name: &str) -> uv_handle_type {
        // SAFETY: the handle was initialised when it got its name.
        unsafe { (*self.get::<uv_handle_t>(name)).type_ }
    }
}

pub(crate) fn named(status: c_int) -> Outcome {
    if status < 0 { Err(error_name(status)) } else { Ok(()) }
}

#[allow(non_upper_case_globals)] // The names of the kinds.
impl Driver for Libuv {
    fn side() -> Side {
        if Library::is_libuv() { Side::Libuv } else { Side::C }
    }

    fn new(listener: Listener) -> Libuv {
        let (library, loops, used) = (Library::get(), RefCell::default(), Cell::new(0));
        let (slots, jobs) = (RefCell::default(), RefCell::default());
        let driver = Libuv { library, loops, used, is_closed: Cell::new(false), listener, slots, jobs };
        driver.use_loop(0);
        driver
    }

    fn use_loop(&self, number: usize) {
        self.used.set(number);
        let count = self.loops.borrow().len();
        for _ in count..=number {
            // SAFETY: a loop is made of numbers, pointers that may be null, and optional functions.
            let lp = Box::into_raw(Box::new(unsafe { std::mem::zeroed() }));
            named(call!(self.uv_loop_init(lp))).unwrap();
            self.loops.borrow_mut().push(lp);
        }
    }

    fn run(&self, mode: Mode) -> Outcome<bool> {
        let mode = match mode {
            Mode::Default => uv_run_mode_UV_RUN_DEFAULT,
            Mode::Once => uv_run_mode_UV_RUN_ONCE,
            Mode::NoWait => uv_run_mode_UV_RUN_NOWAIT,
        };
        Ok(call!(self.uv_run(self.lp(), mode)) != 0)
    }

    fn stop_loop(&self) {
        call!(self.uv_stop(self.lp()));
    }

    fn is_alive(&self) -> bool {
        call!(self.uv_loop_alive(self.lp())) != 0
    }

    fn update_time(&self) {
        call!(self.uv_update_time(self.lp()));
    }

    fn backend_timeout(&self) -> Option<u64> {
        u64::try_from(call!(self.uv_backend_timeout(self.lp()))).ok()
    }

    fn walk(&self) -> Vec<String> {
        let mut names = Vec::<String>::new();
        call!(self.uv_walk(self.lp(), Some(on_walk), from_mut(&mut names).cast()));
        names
    }

    fn loop_close(&self) -> Outcome {
        named(call!(self.uv_loop_close(self.lp()))).map(|()| self.is_closed.set(true))
    }

    fn init(&self, kind: Kind, name: &str) -> Outcome {
        match kind {
            Kind::Timer => self.make(name, |handle| call!(self.uv_timer_init(self.lp(), handle))),
            Kind::Idle => self.make(name, |handle| call!(self.uv_idle_init(self.lp(), handle))),
            Kind::Prepare => self.make(name, |handle| call!(self.uv_prepare_init(self.lp(), handle))),
            Kind::Check => self.make(name, |handle| call!(self.uv_check_init(self.lp(), handle))),
            Kind::Async => {
                let callback = Some(on_itself::<uv_async_t, false> as unsafe extern "C" fn(_));
                self.make(name, |handle| call!(self.uv_async_init(self.lp(), handle, callback)))
            }
            Kind::FsEvent => self.make(name, |handle| call!(self.uv_fs_event_init(self.lp(), handle))),
            Kind::FsPoll => self.make(name, |handle| call!(self.uv_fs_poll_init(self.lp(), handle))),
            Kind::Tcp => self.make(name, |handle| call!(self.uv_tcp_init(self.lp(), handle))),
            Kind::Pipe => self.make(name, |handle| call!(self.uv_pipe_init(self.lp(), handle, 0))),
            Kind::Ipc => self.make(name, |handle| call!(self.uv_pipe_init(self.lp(), handle, 1))),
            Kind::Udp => self.make(name, |handle| call!(self.uv_udp_init_ex(self.lp(), handle, 0))),
            Kind::Signal => self.make(name, |handle| call!(self.uv_signal_init(self.lp(), handle))),
            Kind::UdpSeveral => {
                let flags = uv_udp_flags_UV_UDP_RECVMMSG as c_uint;
                self.make(name, |handle| call!(self.uv_udp_init_ex(self.lp(), handle, flags)))
            }
        }
    }

    fn poll_init(&self, name: &str, descriptor: BorrowedFd<'_>) -> Outcome {
        self.make(name, |handle| call!(self.uv_poll_init(self.lp(), handle, descriptor.as_raw_fd())))
    }

    fn tty_init(&self, name: &str, terminal: OwnedFd) -> Outcome {
        let (given, mut taken) = (terminal.as_raw_fd(), -1);
        self.make(name, |handle| call!(self.uv_tty_init(self.lp(), handle, given, 0)))?;
        named(call!(self.uv_fileno(self.get(name), &raw mut taken)))?;
        if taken == given {
            // It could not be opened anew, and is the handle's now.
            let _ = terminal.into_raw_fd();
        }
        Ok(())
    }

    fn close(&self, name: &str) -> Outcome {
        call!(self.uv_close(self.get(name), Some(on_close)));
        Ok(())
    }

    fn is_active(&self, name: &str) -> bool {
        call!(self.uv_is_active(self.get(name))) != 0
    }

    fn is_closing(&self, name: &str) -> bool {
        call!(self.uv_is_closing(self.get(name))) != 0
    }

    fn has_ref(&self, name: &str) -> bool {
        call!(self.uv_has_ref(self.get(name))) != 0
    }

    fn set_ref(&self, name: &str, on: bool) -> Outcome {
        let handle = self.get(name);
        if on {
            call!(self.uv_ref(handle))
        } else {
            call!(self.uv_unref(handle))
        }
        Ok(())
    }

    fn stop(&self, name: &str) -> Outcome {
        named(match self.kind(name) {
            uv_handle_type_UV_TIMER => call!(self.uv_timer_stop(self.get(name))),
            uv_handle_type_UV_IDLE => call!(self.uv_idle_stop(self.get(name))),
            uv_handle_type_UV_PREPARE => call!(self.uv_prepare_stop(self.get(name))),
            uv_handle_type_UV_CHECK => call!(self.uv_check_stop(self.get(name))),
            uv_handle_type_UV_POLL => call!(self.uv_poll_stop(self.get(name))),
            uv_handle_type_UV_SIGNAL => call!(self.uv_signal_stop(self.get(name))),
            uv_handle_type_UV_FS_EVENT => call!(self.uv_fs_event_stop(self.get(name))),
            uv_handle_type_UV_FS_POLL => call!(self.uv_fs_poll_stop(self.get(name))),
            uv_handle_type_UV_TCP | uv_handle_type_UV_NAMED_PIPE | uv_handle_type_UV_TTY => {
                call!(self.uv_read_stop(self.get(name)))
            }
            uv_handle_type_UV_UDP => call!(self.uv_udp_recv_stop(self.get(name))),
            _ => panic!("{name} cannot be stopped"),
        })
    }

    fn timer_start(&self, callback: &Callback, timeout: u64, repeat: u64) -> Outcome {
        let handle = self.get(&callback.name);
        named(call!(self.uv_timer_start(handle, pick!(callback, on_itself, uv_timer_t), timeout, repeat)))
    }

    fn timer_again(&self, name: &str) -> Outcome {
        named(call!(self.uv_timer_again(self.get(name))))
    }

    fn timer_set_repeat(&self, name: &str, repeat: u64) -> Outcome {
        call!(self.uv_timer_set_repeat(self.get(name), repeat));
        Ok(())
    }

    fn timer_repeat(&self, name: &str) -> Outcome<u64> {
        Ok(call!(self.uv_timer_get_repeat(self.get(name))))
    }

    fn timer_due_in(&self, name: &str) -> Outcome<u64> {
        Ok(call!(self.uv_timer_get_due_in(self.get(name))))
    }

    fn watcher_start(&self, by: &Callback) -> Outcome {
        named(match self.kind(&by.name) {
            uv_handle_type_UV_IDLE => call!(self.uv_idle_start(self.get(&by.name), pick!(by, on_itself, uv_idle_t))),
            uv_handle_type_UV_PREPARE => {
                call!(self.uv_prepare_start(self.get(&by.name), pick!(by, on_itself, uv_prepare_t)))
            }
            uv_handle_type_UV_CHECK => call!(self.uv_check_start(self.get(&by.name), pick!(by, on_itself, uv_check_t))),
            _ => panic!("{by} is no idle, prepare or check handle"),
        })
    }

    fn async_send(&self, name: &str) -> Outcome {
        named(call!(self.uv_async_send(self.get(name))))
    }

    fn poll_start(&self, callback: &Callback, letters: &str) -> Outcome {
        let wanted = LETTERS.iter().filter(|(letter, _)| letters.contains(*letter));
        let wanted = wanted.fold(0, |all, (_, bit)| all | *bit as c_int);
        named(call!(self.uv_poll_start(self.get(&callback.name), wanted, pick!(callback, on_poll))))
    }

    fn signal_start(&self, callback: &Callback, number: i32, once: bool) -> Outcome {
        let (handle, cb) = (self.get(&callback.name), pick!(callback, on_signal));
        named(if once {
            call!(self.uv_signal_start_oneshot(handle, cb, number))
        } else {
            call!(self.uv_signal_start(handle, cb, number))
        })
    }

    fn fs_event_start(&self, by: &Callback, path: &Path) -> Outcome {
        let handle = self.get(&by.name);
        named(call!(self.uv_fs_event_start(handle, pick!(by, on_fs_event), c_path(path).as_ptr(), 0)))
    }

    fn fs_poll_start(&self, by: &Callback, path: &Path, interval: u32) -> Outcome {
        let handle = self.get(&by.name);
        named(call!(self.uv_fs_poll_start(handle, pick!(by, on_fs_poll), c_path(path).as_ptr(), interval)))
    }

    fn hear_alloc(&self, name: &str) {
        self.slot(name).hears_alloc.set(true);
    }

    fn open(&self, name: &str, socket: OwnedFd) -> Outcome {
        self.open_of(name, socket.as_raw_fd())?;
        // It is the handle's now.
        let _ = socket.into_raw_fd();
        Ok(())
    }

    fn bind(&self, name: &str, address: SocketAddr) -> Outcome {
        let address = to_c(address);
        named(match self.kind(name) {
            uv_handle_type_UV_UDP => call!(self.uv_udp_bind(self.get(name), (&raw const address).cast(), 0)),
            _ => call!(self.uv_tcp_bind(self.get(name), (&raw const address).cast(), 0)),
        })
    }

    fn address(&self, name: &str) -> Outcome<SocketAddr> {
        let mut address = to_c(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0).into());
        let mut size = size_of_val(&address) as c_int;
        let place = (&raw mut address).cast();
        named(match self.kind(name) {
            uv_handle_type_UV_UDP => call!(self.uv_udp_getsockname(self.get(name), place, &raw mut size)),
            _ => call!(self.uv_tcp_getsockname(self.get(name), place, &raw mut size)),
        })?;
        Ok(from_c(&address))
    }

    fn listen(&self, callback: &Callback) -> Outcome {
        named(call!(self.uv_listen(self.get(&callback.name), 128, pick!(callback, on_connection))))
    }

    fn accept(&self, server: &str, client: &str) -> Outcome {
        let is_pipe = self.kind(server) == uv_handle_type_UV_NAMED_PIPE;
        self.init(if is_pipe { Kind::Pipe } else { Kind::Tcp }, client)?;
        named(call!(self.uv_accept(self.get(server), self.get(client))))
    }

    fn pipe_bind(&self, name: &str, path: &Path) -> Outcome {
        named(call!(self.uv_pipe_bind(self.get(name), c_path(path).as_ptr())))
    }

    fn pipe_connect(&self, name: &str, path: &Path) -> Outcome {
        Request::make(self.slot(name), None, Vec::new(), |request, _| {
            call!(self.uv_pipe_connect(request, self.get(name), c_path(path).as_ptr(), Some(on_connect)));
            0
        })
    }

    fn write_handle(&self, name: &str, number: u32, bytes: Vec<u8>, handle: &str) -> Outcome {
        Request::make(self.slot(name), Some(number), bytes, |request, buffer| {
            call!(self.uv_write2(request, self.get(name), buffer, 1, self.get(handle), Some(on_write)))
        })
    }

    fn pending_handles(&self, name: &str) -> usize {
        usize::try_from(call!(self.uv_pipe_pending_count(self.get(name)))).expect("it is no error")
    }

    fn take_handle(&self, name: &str, new: &str) -> Outcome<Kind> {
        let kind = match call!(self.uv_pipe_pending_type(self.get(name))) {
            uv_handle_type_UV_TCP => Kind::Tcp,
            uv_handle_type_UV_UDP => Kind::Udp,
            _ => Kind::Pipe,
        };
        self.init(kind, new)?;
        named(call!(self.uv_accept(self.get(name), self.get(new)))).map(|()| kind)
    }

    fn connect(&self, name: &str, address: SocketAddr) -> Outcome {
        let address = to_c(address);
        if self.kind(name) == uv_handle_type_UV_UDP {
            return named(call!(self.uv_udp_connect(self.get(name), (&raw const address).cast())));
        }
        Request::make(self.slot(name), None, Vec::new(), |request, _| {
            call!(self.uv_tcp_connect(request, self.get(name), (&raw const address).cast(), Some(on_connect)))
        })
    }

    fn read_start(&self, callback: &Callback) -> Outcome {
        named(call!(self.uv_read_start(self.get(&callback.name), Some(on_alloc), pick!(callback, on_read))))
    }

    fn write(&self, name: &str, number: u32, bytes: Vec<u8>) -> Outcome {
        Request::make(self.slot(name), Some(number), bytes, |request, buffer| {
            call!(self.uv_write(request, self.get(name), buffer, 1, Some(on_write)))
        })
    }

    fn try_write(&self, name: &str, bytes: &[u8]) -> Outcome<usize> {
        let written = call!(self.uv_try_write(self.get(name), &buffer_of(bytes), 1));
        usize::try_from(written).map_err(|_| error_name(written))
    }

    fn shutdown(&self, name: &str) -> Outcome {
        Request::make(self.slot(name), None, Vec::new(), |request, _| {
            call!(self.uv_shutdown(request, self.get(name), Some(on_shutdown)))
        })
    }

    fn close_reset(&self, name: &str) -> Outcome {
        named(call!(self.uv_tcp_close_reset(self.get(name), None)))
    }

    fn write_queue_size(&self, name: &str) -> usize {
        match self.kind(name) {
            uv_handle_type_UV_UDP => call!(self.uv_udp_get_send_queue_size(self.get(name))),
            _ => call!(self.uv_stream_get_write_queue_size(self.get(name))),
        }
    }

    fn is_readable(&self, name: &str) -> bool {
        call!(self.uv_is_readable(self.get(name))) != 0
    }

    fn is_writable(&self, name: &str) -> bool {
        call!(self.uv_is_writable(self.get(name))) != 0
    }

    fn work(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Outcome {
        let request = Request::make_job(self.new_slot(name), work, |request| {
            call!(self.uv_queue_work(self.lp(), request, Some(on_work), Some(after_work)))
        })?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok(())
    }

    fn operate(&self, name: &str, operation: &Operation<'_>) -> Outcome {
        self.operate_on_file(name, operation)
    }

    fn file_call(&self, name: Option<&str>, call: &str, on: &FileArguments) -> Outcome<String> {
        self.call_on_file(name, call, on)
    }

    fn ask(&self, name: &str, what: &str) -> Outcome {
        self.ask_handle(name, what)
    }

    fn look_up(&self, name: &str, host: &str) -> Outcome {
        // SAFETY: hints are made of numbers and of pointers that may be null.
        let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
        (hints.ai_flags, hints.ai_socktype) = (libc::AI_NUMERICHOST, libc::SOCK_STREAM);
        let (host, hints) = (CString::new(host).expect("a host has no zero byte"), (&raw const hints).cast());
        let request = Request::make_kept(self.new_slot(name), Vec::new(), |request, _| {
            call!(self.uv_getaddrinfo(self.lp(), request, Some(on_found), host.as_ptr(), std::ptr::null(), hints))
        })?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok(())
    }

    fn spawn(&self, name: &str, words: &[&str], input: OwnedFd) -> Outcome<i32> {
        let stdio = vec![Stdio::Descriptor(input.as_raw_fd())];
        self.spawn_child(name, &ChildOf { words, stdio, directory: None, user: None })
    }

    fn spawn_of(&self, name: &str, of: &ChildOf<'_>) -> Outcome<i32> {
        self.spawn_child(name, of)
    }

    fn descriptor_of(&self, name: &str) -> Outcome<RawFd> {
        let mut descriptor = -1;
        named(call!(self.uv_fileno(self.get(name), &raw mut descriptor))).map(|()| descriptor)
    }

    fn open_of(&self, name: &str, fd: RawFd) -> Outcome {
        named(match self.kind(name) {
            uv_handle_type_UV_NAMED_PIPE => call!(self.uv_pipe_open(self.get(name), fd)),
            uv_handle_type_UV_UDP => call!(self.uv_udp_open(self.get(name), fd)),
            _ => call!(self.uv_tcp_open(self.get(name), fd)),
        })
    }

    fn try_write_handle(&self, name: &str, bytes: &[u8], handle: &str) -> Outcome<usize> {
        let written = call!(self.uv_try_write2(self.get(name), &buffer_of(bytes), 1, self.get(handle)));
        usize::try_from(written).map_err(|_| error_name(written))
    }

    fn write_parts(&self, name: &str, number: u32, bytes: Vec<u8>) -> Outcome {
        Request::make(self.slot(name), Some(number), bytes, |request, buffer| {
            let part = |at| uv_buf_t { base: buffer.base.wrapping_add(at), len: 1 };
            let parts: Vec<_> = (0..buffer.len).map(part).collect();
            let count = parts.len() as c_uint;
            call!(self.uv_write(request, self.get(name), parts.as_ptr(), count, Some(on_write)))
        })
    }

    fn poll_init_of(&self, name: &str, descriptor: RawFd) -> Outcome {
        self.make(name, |handle| call!(self.uv_poll_init(self.lp(), handle, descriptor)))
    }

    fn name_of(&self, name: &str, address: SocketAddr, numeric: bool) -> Outcome {
        let (address, flags) = (to_c(address), if numeric { libc::NI_NUMERICHOST | libc::NI_NUMERICSERV } else { 0 });
        let request = Request::make_kept(self.new_slot(name), Vec::new(), |request, _| {
            call!(self.uv_getnameinfo(self.lp(), request, Some(on_name), (&raw const address).cast(), flags))
        })?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok(())
    }

    fn random(&self, name: &str, count: usize, flags: u32) -> Outcome {
        let request = Request::make_kept(self.new_slot(name), vec![0; count], |request, buffer| {
            call!(self.uv_random(self.lp(), request, buffer.base.cast(), buffer.len, flags, Some(on_random)))
        })?;
        self.jobs.borrow_mut().insert(name.to_owned(), request.cast());
        Ok(())
    }

    fn kill(&self, name: &str, signal: i32) -> Outcome {
        named(call!(self.uv_process_kill(self.get(name), signal)))
    }

    fn cancel(&self, name: &str) -> Outcome {
        let request = *self.jobs.borrow().get(name).unwrap_or_else(|| panic!("no job {name}"));
        named(call!(self.uv_cancel(request)))
    }

    fn receive_start(&self, callback: &Callback) -> Outcome {
        named(call!(self.uv_udp_recv_start(self.get(&callback.name), Some(on_alloc), pick!(callback, on_receive))))
    }

    fn send_datagram(&self, name: &str, number: u32, bytes: Vec<u8>, to: Option<SocketAddr>) -> Outcome {
        let to = to.map(to_c);
        Request::make(self.slot(name), Some(number), bytes, |request, buffer| {
            call!(self.uv_udp_send(request, self.get(name), buffer, 1, to_pointer(&to), Some(on_send)))
        })
    }

    fn try_send_datagram(&self, name: &str, bytes: &[u8], to: Option<SocketAddr>) -> Outcome<usize> {
        let to = to.map(to_c);
        let sent = call!(self.uv_udp_try_send(self.get(name), &buffer_of(bytes), 1, to_pointer(&to)));
        usize::try_from(sent).map_err(|_| error_name(sent))
    }
}

pub(crate) fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path has no zero byte")
}

fn from_c(storage: &libc::sockaddr_storage) -> SocketAddr {
    let place = &raw const *storage;
    // SAFETY: an address is of the family that it says.
    unsafe {
        if i32::from(storage.ss_family) == libc::AF_INET6 {
            let address = place.cast::<libc::sockaddr_in6>().read();
            return (Ipv6Addr::from(address.sin6_addr.s6_addr), u16::from_be(address.sin6_port)).into();
        }
        let address = place.cast::<libc::sockaddr_in>().read();
        (Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()), u16::from_be(address.sin_port)).into()
    }
}

fn to_pointer(address: &Option<libc::sockaddr_storage>) -> *const sockaddr {
    address.as_ref().map_or(std::ptr::null(), |address| (&raw const *address).cast())
}

fn to_c(address: SocketAddr) -> libc::sockaddr_storage {
    // SAFETY: it is made of numbers.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let place = &raw mut storage;
    // SAFETY: it has room for an address of any family.
    unsafe {
        match address {
            SocketAddr::V4(address) => place.cast::<libc::sockaddr_in>().write(libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: address.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                sin_zero: [0; 8],
            }),
            SocketAddr::V6(address) => place.cast::<libc::sockaddr_in6>().write(libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: address.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                sin6_scope_id: 0,
            }),
        }
    }
    storage
}

/// Closes what the script has left open. Nobody hears of it.
impl Drop for Libuv {
    fn drop(&mut self) {
        for lp in std::mem::take(&mut *self.loops.borrow_mut()) {
            if !self.is_closed.replace(false) {
                call!(self.uv_walk(lp, Some(on_walk_to_close), std::ptr::null_mut()));
                // The first run may end at once, if the script has stopped the loop.
                while call!(self.uv_loop_close(lp)) != 0 {
                    call!(self.uv_run(lp, uv_run_mode_UV_RUN_DEFAULT));
                }
            }
            // SAFETY: `use_loop` has made it, and it is closed.
            drop(unsafe { Box::from_raw(lp) });
        }
    }
}

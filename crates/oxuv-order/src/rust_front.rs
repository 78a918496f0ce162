//! The driver of the Rust front.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use oxuv::{
    Async, Check, Command, Errno, FsEvent, FsPoll, Handle, Hints, Idle, LookupFlags, Loop, LoopRef, Passed, Pipe, Poll,
    Prepare, Process, Readiness, Request, Signal, SocketKind, Tcp, Timer, Tty, Udp, fs,
};

use crate::driver::{Callback, Driver, Kind, Listener, Mode, Operation, Outcome, What};
use crate::script::Side;

/// The Rust front, on a loop with libuv's arithmetic of milliseconds.
pub struct RustFront {
    lp: Loop,
    listener: Listener,
    handles: RefCell<BTreeMap<String, Any>>,
    jobs: RefCell<BTreeMap<String, Request>>,
}

#[derive(Clone)]
enum Any {
    Timer(Timer),
    Idle(Idle),
    Prepare(Prepare),
    Check(Check),
    Async(Async),
    Poll(Poll),
    Signal(Signal),
    Tcp(Tcp),
    Udp(Udp),
    Pipe(Pipe),
    Tty(Tty),
    Process(Process),
    FsEvent(FsEvent),
    FsPoll(FsPoll),
}

/// Does the same with a stream of any kind.
macro_rules! stream {
    ($front:ident, $name:expr, $stream:ident => $act:expr) => {
        match $front.get($name) {
            Any::Tcp($stream) => $act,
            Any::Pipe($stream) => $act,
            Any::Tty($stream) => $act,
            _ => panic!("{} is no stream", $name),
        }
    };
}

impl Any {
    fn handle(&self) -> &Handle {
        match self {
            Any::Timer(handle) => handle,
            Any::Idle(handle) => handle,
            Any::Prepare(handle) => handle,
            Any::Check(handle) => handle,
            Any::Async(handle) => handle,
            Any::Poll(handle) => handle,
            Any::Signal(handle) => handle,
            Any::Tcp(handle) => handle,
            Any::Udp(handle) => handle,
            Any::Pipe(handle) => handle,
            Any::Tty(handle) => handle,
            Any::Process(handle) => handle,
            Any::FsEvent(handle) => handle,
            Any::FsPoll(handle) => handle,
        }
    }
}

impl RustFront {
    fn get(&self, name: &str) -> Any {
        self.handles.borrow().get(name).unwrap_or_else(|| panic!("no handle {name}")).clone()
    }

    fn timer(&self, name: &str) -> Timer {
        match self.get(name) {
            Any::Timer(timer) => timer,
            _ => panic!("{name} is no timer"),
        }
    }

    fn tcp(&self, name: &str) -> Tcp {
        match self.get(name) {
            Any::Tcp(tcp) => tcp,
            _ => panic!("{name} is no stream"),
        }
    }

    fn udp(&self, name: &str) -> Udp {
        match self.get(name) {
            Any::Udp(udp) => udp,
            _ => panic!("{name} is no UDP handle"),
        }
    }

    fn pipe(&self, name: &str) -> Pipe {
        match self.get(name) {
            Any::Pipe(pipe) => pipe,
            _ => panic!("{name} is no pipe"),
        }
    }

    /// Keeps a request, to be taken back.
    fn keep_job(&self, name: &str, request: oxuv::Result<Request>) -> Outcome {
        self.jobs.borrow_mut().insert(name.to_owned(), named(request)?);
        Ok(())
    }

    /// A closure that tells of the end of an operation on a file.
    fn operated<T, F>(&self, name: &str, text: F) -> impl FnOnce(&LoopRef, oxuv::Result<T>) + use<T, F>
    where
        F: FnOnce(T) -> String,
    {
        let (listener, by) = (self.listener.clone(), itself(name));
        move |_, result| {
            listener.tell(&by, What::File, None, result.map_or_else(|error| format!("{error:?}"), text));
        }
    }

    fn keep(&self, name: &str, handle: Any) {
        self.handles.borrow_mut().insert(name.to_owned(), handle);
    }

    /// A closure that tells of a callback without a result.
    fn tells<H>(&self, callback: &Callback) -> impl FnMut(&H) + use<H> {
        let (listener, callback) = (self.listener.clone(), callback.clone());
        move |_| listener.tell(&callback, What::Itself, None, "")
    }

    /// A closure that tells of the end of a request.
    fn ends<H>(&self, name: &str, what: What, number: Option<u32>) -> impl FnOnce(&H, oxuv::Result<()>) + use<H> {
        let (listener, callback) = (self.listener.clone(), itself(name));
        move |_, result| listener.tell(&callback, what, number, error_name(result))
    }
}

impl Driver for RustFront {
    fn side() -> Side {
        Side::Rust
    }

    fn new(listener: Listener) -> RustFront {
        let lp = Loop::with_grain(Duration::from_millis(1)).unwrap();
        RustFront { lp, listener, handles: RefCell::default(), jobs: RefCell::default() }
    }

    fn run(&self, mode: Mode) -> Outcome<bool> {
        named(self.lp.run(match mode {
            Mode::Default => oxuv::Mode::Default,
            Mode::Once => oxuv::Mode::Once,
            Mode::NoWait => oxuv::Mode::NoWait,
        }))
    }

    fn stop_loop(&self) {
        self.lp.stop();
    }

    fn is_alive(&self) -> bool {
        self.lp.is_alive()
    }

    fn update_time(&self) {
        self.lp.update_time();
    }

    fn backend_timeout(&self) -> Option<u64> {
        self.lp.backend_timeout().map(|wait| wait.as_micros().div_ceil(1000) as u64)
    }

    fn walk(&self) -> Vec<String> {
        let handles = self.handles.borrow();
        let name = |handle: &Handle| handles.iter().find(|(_, any)| any.handle() == handle).unwrap().0.clone();
        self.lp.handles().iter().map(name).collect()
    }

    fn loop_close(&self) -> Outcome {
        named(self.lp.check_closable())
    }

    fn init(&self, kind: Kind, name: &str) -> Outcome {
        let lp = &self.lp;
        let handle = match kind {
            Kind::Timer => Timer::new(lp).map(Any::Timer),
            Kind::Idle => Idle::new(lp).map(Any::Idle),
            Kind::Prepare => Prepare::new(lp).map(Any::Prepare),
            Kind::Check => Check::new(lp).map(Any::Check),
            Kind::Async => Async::new(lp, self.tells(&itself(name))).map(Any::Async),
            Kind::Tcp => Tcp::new(lp).map(Any::Tcp),
            Kind::Udp => Udp::new(lp).map(Any::Udp),
            Kind::UdpSeveral => Udp::receiving_several(lp).map(Any::Udp),
            Kind::Pipe => Pipe::new(lp).map(Any::Pipe),
            Kind::Ipc => Pipe::for_handles(lp).map(Any::Pipe),
            Kind::Signal => Signal::new(lp).map(Any::Signal),
            Kind::FsEvent => FsEvent::new(lp).map(Any::FsEvent),
            Kind::FsPoll => FsPoll::new(lp).map(Any::FsPoll),
        };
        named(handle).map(|handle| self.keep(name, handle))
    }

    fn poll_init(&self, name: &str, descriptor: BorrowedFd<'_>) -> Outcome {
        named(Poll::new(&self.lp, descriptor)).map(|poll| self.keep(name, Any::Poll(poll)))
    }

    fn tty_init(&self, name: &str, terminal: OwnedFd) -> Outcome {
        named(Tty::new(&self.lp, terminal)).map(|tty| self.keep(name, Any::Tty(tty)))
    }

    fn close(&self, name: &str) -> Outcome {
        let (listener, callback) = (self.listener.clone(), itself(name));
        named(self.get(name).handle().close_then(move |_| listener.tell(&callback, What::Close, None, "")))
    }

    fn is_active(&self, name: &str) -> bool {
        self.get(name).handle().is_active()
    }

    fn is_closing(&self, name: &str) -> bool {
        self.get(name).handle().is_closing()
    }

    fn has_ref(&self, name: &str) -> bool {
        self.get(name).handle().has_ref()
    }

    fn set_ref(&self, name: &str, on: bool) -> Outcome {
        let any = self.get(name);
        named(if on { any.handle().r#ref() } else { any.handle().unref() })
    }

    fn stop(&self, name: &str) -> Outcome {
        named(match self.get(name) {
            Any::Timer(timer) => timer.stop(),
            Any::Idle(idle) => idle.stop(),
            Any::Prepare(prepare) => prepare.stop(),
            Any::Check(check) => check.stop(),
            Any::Poll(poll) => poll.stop(),
            Any::Signal(signal) => signal.stop(),
            Any::Tcp(tcp) => tcp.read_stop(),
            Any::Pipe(pipe) => pipe.read_stop(),
            Any::Tty(tty) => tty.read_stop(),
            Any::Udp(udp) => udp.receive_stop(),
            Any::FsEvent(watch) => watch.stop(),
            Any::FsPoll(watch) => watch.stop(),
            Any::Async(_) | Any::Process(_) => panic!("{name} cannot be stopped"),
        })
    }

    fn timer_start(&self, callback: &Callback, timeout: u64, repeat: u64) -> Outcome {
        let [timeout, repeat] = [timeout, repeat].map(Duration::from_millis);
        named(self.timer(&callback.name).start_repeating(timeout, repeat, self.tells(callback)))
    }

    fn timer_again(&self, name: &str) -> Outcome {
        named(self.timer(name).again())
    }

    fn timer_set_repeat(&self, name: &str, repeat: u64) -> Outcome {
        named(self.timer(name).set_repeat(Duration::from_millis(repeat)))
    }

    fn timer_repeat(&self, name: &str) -> Outcome<u64> {
        named(self.timer(name).repeat()).map(|repeat| repeat.as_millis() as u64)
    }

    fn timer_due_in(&self, name: &str) -> Outcome<u64> {
        named(self.timer(name).due_in()).map(|wait| wait.as_millis() as u64)
    }

    fn watcher_start(&self, callback: &Callback) -> Outcome {
        named(match self.get(&callback.name) {
            Any::Idle(idle) => idle.start(self.tells(callback)),
            Any::Prepare(prepare) => prepare.start(self.tells(callback)),
            Any::Check(check) => check.start(self.tells(callback)),
            _ => panic!("{callback} is no idle, prepare or check handle"),
        })
    }

    fn async_send(&self, name: &str) -> Outcome {
        match self.get(name) {
            Any::Async(wake_up) => named(wake_up.send()),
            _ => panic!("{name} is no async handle"),
        }
    }

    fn poll_start(&self, callback: &Callback, letters: &str) -> Outcome {
        let Any::Poll(poll) = self.get(&callback.name) else { panic!("{callback} is no poll handle") };
        let wanted = LETTERS.iter().filter(|(letter, _)| letters.contains(*letter));
        let (listener, callback) = (self.listener.clone(), callback.clone());
        named(poll.start(wanted.map(|(_, bit)| *bit).collect(), move |_, ready| {
            let text = ready.map_or_else(|error| format!("{error:?}"), letters_of);
            listener.tell(&callback, What::Itself, None, text);
        }))
    }

    fn signal_start(&self, callback: &Callback, number: i32, once: bool) -> Outcome {
        let Any::Signal(signal) = self.get(&callback.name) else { panic!("{callback} is no signal handle") };
        let (listener, callback) = (self.listener.clone(), callback.clone());
        let tell = move |_: &Signal, _| listener.tell(&callback, What::Itself, None, "");
        named(if once { signal.start_once(number, tell) } else { signal.start(number, tell) })
    }

    fn fs_event_start(&self, callback: &Callback, path: &Path) -> Outcome {
        let Any::FsEvent(watch) = self.get(&callback.name) else { panic!("{callback} watches no files") };
        let (listener, callback) = (self.listener.clone(), callback.clone());
        named(watch.start(path, move |_, happened| {
            let name = happened.map(|happened| happened.name.unwrap_or_default().to_string_lossy().into_owned());
            listener.tell(&callback, What::Itself, None, name.unwrap_or_else(|error| format!("{error:?}")));
        }))
    }

    fn fs_poll_start(&self, callback: &Callback, path: &Path, interval: u32) -> Outcome {
        let Any::FsPoll(watch) = self.get(&callback.name) else { panic!("{callback} looks at no file") };
        let (listener, callback) = (self.listener.clone(), callback.clone());
        named(watch.start(path, Duration::from_millis(interval.into()), move |_, change| {
            listener.tell(&callback, What::Itself, None, error_name(change.map(|_| ())));
        }))
    }

    /// A closure has no memory to be asked for.
    fn hear_alloc(&self, _name: &str) {}

    fn open(&self, name: &str, socket: OwnedFd) -> Outcome {
        named(match self.get(name) {
            Any::Udp(udp) => udp.open(socket),
            Any::Pipe(pipe) => pipe.open(socket),
            _ => self.tcp(name).open(socket),
        })
    }

    fn bind(&self, name: &str, address: SocketAddr) -> Outcome {
        named(match self.get(name) {
            Any::Udp(udp) => udp.bind(address),
            _ => self.tcp(name).bind(address),
        })
    }

    fn address(&self, name: &str) -> Outcome<SocketAddr> {
        named(match self.get(name) {
            Any::Udp(udp) => udp.local_addr(),
            _ => self.tcp(name).local_addr(),
        })
    }

    fn listen(&self, callback: &Callback) -> Outcome {
        let (listener, by) = (self.listener.clone(), callback.clone());
        let name = &callback.name;
        let tell = move |result| listener.tell(&by, What::Connection, None, error_name(result));
        named(match self.get(name) {
            Any::Pipe(pipe) => pipe.listen(128, move |_, result| tell(result)),
            _ => self.tcp(name).listen(128, move |_, result| tell(result)),
        })
    }

    fn accept(&self, server: &str, client: &str) -> Outcome {
        let accepted = match self.get(server) {
            Any::Pipe(pipe) => pipe.accept().map(Any::Pipe),
            _ => self.tcp(server).accept().map(Any::Tcp),
        };
        named(accepted).map(|accepted| self.keep(client, accepted))
    }

    fn pipe_bind(&self, name: &str, path: &Path) -> Outcome {
        named(self.pipe(name).bind(path))
    }

    fn pipe_connect(&self, name: &str, path: &Path) -> Outcome {
        named(self.pipe(name).connect(path, self.ends(name, What::Connect, None)))
    }

    fn write_handle(&self, name: &str, number: u32, bytes: Vec<u8>, handle: &str) -> Outcome {
        let (pipe, ends) = (self.pipe(name), self.ends(name, What::Write, Some(number)));
        named(match self.get(handle) {
            Any::Tcp(tcp) => pipe.write_with_handle(bytes, &tcp, ends),
            Any::Udp(udp) => pipe.write_with_handle(bytes, &udp, ends),
            _ => pipe.write_with_handle(bytes, &self.pipe(handle), ends),
        })
    }

    fn pending_handles(&self, name: &str) -> usize {
        self.pipe(name).pending_handles()
    }

    fn take_handle(&self, name: &str, new: &str) -> Outcome<Kind> {
        let (kind, taken) = match named(self.pipe(name).take_handle())? {
            Passed::Tcp(tcp) => (Kind::Tcp, Any::Tcp(tcp)),
            Passed::Udp(udp) => (Kind::Udp, Any::Udp(udp)),
            Passed::Pipe(pipe) => (Kind::Pipe, Any::Pipe(pipe)),
            Passed::Other(_) => panic!("{new} is no handle"),
        };
        self.keep(new, taken);
        Ok(kind)
    }

    fn connect(&self, name: &str, address: SocketAddr) -> Outcome {
        named(match self.get(name) {
            Any::Udp(udp) => udp.connect(address),
            _ => self.tcp(name).connect(address, self.ends(name, What::Connect, None)),
        })
    }

    fn read_start(&self, callback: &Callback) -> Outcome {
        let (listener, by) = (self.listener.clone(), callback.clone());
        let tell = move |read: oxuv::Result<&[u8]>| {
            let text = read.map_or_else(|error| format!("{error:?}"), |bytes| bytes.len().to_string());
            listener.tell(&by, What::Read, None, text);
        };
        named(stream!(self, &callback.name, stream => stream.read_start(move |_, read| tell(read))))
    }

    fn write(&self, name: &str, number: u32, bytes: Vec<u8>) -> Outcome {
        named(stream!(self, name, stream => stream.write(bytes, self.ends(name, What::Write, Some(number)))))
    }

    fn try_write(&self, name: &str, bytes: &[u8]) -> Outcome<usize> {
        named(stream!(self, name, stream => stream.try_write(bytes)))
    }

    fn shutdown(&self, name: &str) -> Outcome {
        named(stream!(self, name, stream => stream.shutdown(self.ends(name, What::Shutdown, None))))
    }

    fn close_reset(&self, name: &str) -> Outcome {
        named(self.tcp(name).close_reset())
    }

    fn write_queue_size(&self, name: &str) -> usize {
        match self.get(name) {
            Any::Udp(udp) => udp.send_queue_size(),
            _ => stream!(self, name, stream => stream.write_queue_size()),
        }
    }

    fn is_readable(&self, name: &str) -> bool {
        stream!(self, name, stream => stream.is_readable())
    }

    fn is_writable(&self, name: &str) -> bool {
        stream!(self, name, stream => stream.is_writable())
    }

    fn work(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Outcome {
        let (listener, by) = (self.listener.clone(), itself(name));
        let request = self.lp.work(work, move |_, result| {
            let text = if result.is_err() { "ECANCELED" } else { "" };
            listener.tell(&by, What::Work, None, text);
        });
        self.keep_job(name, request)
    }

    fn operate(&self, name: &str, operation: &Operation<'_>) -> Outcome {
        let (lp, nothing) = (&self.lp, |()| String::new());
        let copy = |file: &BorrowedFd<'_>| file.try_clone_to_owned().expect("there are descriptors");
        let request = match operation {
            Operation::Open(path) => {
                let done = self.operated(name, |_| String::new());
                fs::OpenOptions::new().read(true).open(lp, path, done)
            }
            Operation::Make(path) => {
                let done = self.operated(name, |_| String::new());
                fs::OpenOptions::new().write(true).create_new(true).open(lp, path, done)
            }
            Operation::Stat(path) => {
                fs::metadata(lp, path, self.operated(name, |metadata: fs::Metadata| metadata.size.to_string()))
            }
            Operation::Read(file, count) => {
                let (file, mut bytes) = (copy(file), Vec::with_capacity(*count));
                let read = move || fs::blocking::read_to_vec(file.as_fd(), &mut bytes, Some(0));
                fs::work(lp, read, self.operated(name, |count: usize| count.to_string()))
            }
            Operation::Write(file, count) => {
                let (file, bytes) = (copy(file), vec![b'x'; *count]);
                let count = *count;
                let write = move || fs::blocking::write_all(file.as_fd(), &bytes, Some(0)).map(|()| count);
                fs::work(lp, write, self.operated(name, |count: usize| count.to_string()))
            }
            Operation::Unlink(path) => fs::remove_file(lp, path, self.operated(name, nothing)),
            Operation::MakeDirectory(path) => fs::create_dir(lp, path, self.operated(name, nothing)),
            Operation::RemoveDirectory(path) => fs::remove_dir(lp, path, self.operated(name, nothing)),
            Operation::Rename(path, new) => fs::rename(lp, path, new, self.operated(name, nothing)),
            Operation::Scan(path) => {
                fs::read_dir(lp, path, self.operated(name, |names: Vec<fs::DirEntry>| names.len().to_string()))
            }
        };
        self.keep_job(name, request)
    }

    fn look_up(&self, name: &str, host: &str) -> Outcome {
        let (listener, by) = (self.listener.clone(), itself(name));
        let hints = Hints { flags: LookupFlags::NUMERIC_HOST, ..Hints::of(SocketKind::Stream) };
        let request = self.lp.lookup(host, None, hints, move |_, found| {
            let first = found.map(|found| found.addresses[0].address.ip().to_string());
            listener.tell(&by, What::Found, None, first.unwrap_or_else(|error| format!("{error:?}")));
        });
        self.keep_job(name, request)
    }

    fn spawn(&self, name: &str, words: &[&str], input: OwnedFd) -> Outcome<i32> {
        let (listener, by) = (self.listener.clone(), itself(name));
        let mut command = Command::new(words[0]);
        let process = command.args(&words[1..]).stdin(input).spawn(&self.lp, move |_, status| {
            let status = status.map(|status| match (status.code(), status.signal()) {
                (Some(code), _) => code.to_string(),
                (None, signal) => format!("signal {}", signal.unwrap_or_default()),
            });
            listener.tell(&by, What::Exit, None, status.unwrap_or_else(|error| format!("{error:?}")));
        });
        let process = named(process)?;
        let id = named(process.id());
        self.keep(name, Any::Process(process));
        id
    }

    fn kill(&self, name: &str, signal: i32) -> Outcome {
        match self.get(name) {
            Any::Process(process) => named(process.kill(signal)),
            _ => panic!("{name} is no child"),
        }
    }

    fn cancel(&self, name: &str) -> Outcome {
        let request = self.jobs.borrow().get(name).unwrap_or_else(|| panic!("no job {name}")).clone();
        named(request.cancel())
    }

    fn receive_start(&self, callback: &Callback) -> Outcome {
        let (listener, by) = (self.listener.clone(), callback.clone());
        named(self.udp(&callback.name).receive_start(move |_, datagram| {
            let text = datagram.map_or_else(|error| format!("{error:?}"), |datagram| datagram.bytes.len().to_string());
            listener.tell(&by, What::Receive, None, text);
        }))
    }

    fn send_datagram(&self, name: &str, number: u32, bytes: Vec<u8>, to: Option<SocketAddr>) -> Outcome {
        named(self.udp(name).send(bytes, to, self.ends(name, What::Send, Some(number))))
    }

    fn try_send_datagram(&self, name: &str, bytes: &[u8], to: Option<SocketAddr>) -> Outcome<usize> {
        named(self.udp(name).try_send(bytes, to))
    }
}

const LETTERS: [(char, Readiness); 4] =
    [('r', Readiness::READ), ('w', Readiness::WRITE), ('d', Readiness::READ_HANG_UP), ('p', Readiness::PRIORITY)];

fn letters_of(ready: Readiness) -> String {
    LETTERS.iter().filter(|(_, bit)| ready.contains(*bit)).map(|(letter, _)| letter).collect()
}

fn itself(name: &str) -> Callback {
    Callback { name: name.to_owned(), other: false }
}

fn named<T>(result: oxuv::Result<T>) -> Outcome<T> {
    result.map_err(|error| format!("{error:?}"))
}

fn error_name(result: Result<(), Errno>) -> String {
    result.map_or_else(|error| format!("{error:?}"), |()| String::new())
}

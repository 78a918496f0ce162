//! What a script needs of a front.

use std::fmt;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::Side;

/// What came of an action: what it returned, or the name of an error, such as `EINVAL`.
pub type Outcome<T = ()> = Result<T, String>;

/// The kinds of handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Timer,
    Idle,
    Prepare,
    Check,
    Async,
    Tcp,
    Udp,
    /// One that receives several datagrams at a time.
    UdpSeveral,
    Pipe,
    /// A pipe by which handles are passed.
    Ipc,
    Signal,
    FsEvent,
    FsPoll,
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mode {
    Default,
    Once,
    NoWait,
}

/// One of the two callbacks that a handle has in scripts: `a`, and, to be told from it, `a'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The handle's name.
    pub name: String,
    /// It is `a'`.
    pub other: bool,
}

/// What a callback is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum What {
    /// Timer, idle, prepare, check, async, poll, signal or watched files: what the handle is there for.
    Itself,
    Close,
    Connection,
    Connect,
    Read,
    Write,
    Shutdown,
    Receive,
    Send,
    Alloc,
    /// The end of a job.
    Work,
    /// The end of an operation on a file.
    File,
    /// The end of a look-up.
    Found,
    /// The end of a child.
    Exit,
}

/// An operation on a file. Of two paths the second is the new one.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Operation<'a> {
    /// The file is closed again.
    Open(&'a Path),
    /// Makes a new file.
    Make(&'a Path),
    /// Tells its size.
    Stat(&'a Path),
    /// So many bytes from its beginning. The file stays open as long as the loop.
    Read(BorrowedFd<'a>, usize),
    Write(BorrowedFd<'a>, usize),
    Unlink(&'a Path),
    MakeDirectory(&'a Path),
    RemoveDirectory(&'a Path),
    Rename(&'a Path, &'a Path),
    /// Tells how many names a directory has.
    Scan(&'a Path),
}

/// What an operation on a file is about that only C asks for: a descriptor that may be none, and where what is read is sent; or
/// paths.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct FileArguments {
    pub descriptor: RawFd,
    pub to: RawFd,
    pub paths: Vec<PathBuf>,
}

/// What a child is made of.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct ChildOf<'a> {
    pub words: &'a [&'a str],
    pub stdio: Vec<Stdio<'a>>,
    pub directory: Option<&'a Path>,
    pub user: Option<u32>,
}

/// One of its standard streams.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Stdio<'a> {
    Ignore,
    /// It may be none.
    Descriptor(RawFd),
    /// That of a stream.
    Stream(&'a str),
    /// A pipe is made, whose other end this handle is.
    Pipe(&'a str),
}

/// A callback that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Whose.
    pub callback: Callback,
    /// About what.
    pub what: What,
    /// Of a write, and of the sending of a datagram: its number.
    pub number: Option<u32>,
    /// An error's name, the bytes read, the letters of what is ready; empty when there is nothing to be said.
    pub result: String,
}

impl fmt::Display for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.other { "'" } else { "" })
    }
}

impl What {
    /// With a blank before it.
    fn text(self) -> &'static str {
        match self {
            What::Itself => "",
            What::Close => " close",
            What::Connection => " connection",
            What::Connect => " connect",
            What::Read => " read",
            What::Write => " write",
            What::Shutdown => " shutdown",
            What::Receive => " receive",
            What::Send => " send",
            What::Alloc => " alloc",
            What::Work => " work",
            What::File => " fs",
            What::Found => " found",
            What::Exit => " exit",
        }
    }
}

impl Call {
    /// The callback, as scripts say it after `on`.
    pub(crate) fn key(&self) -> String {
        format!("{}{}", self.callback, self.what.text())
    }
}

/// As the trace has it: `a`, `c read 5`, `c write 2 ECANCELED`.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())?;
        if let Some(number) = self.number {
            write!(f, " {number}")?;
        }
        if !self.result.is_empty() {
            write!(f, " {}", self.result)?;
        }
        Ok(())
    }
}

/// Whom a driver tells of the calls. It does what the script says before it returns, so nothing of the driver may be
/// borrowed meanwhile.
#[derive(Clone)]
pub struct Listener(pub(crate) Rc<dyn Fn(Call)>);

impl Listener {
    /// A callback of this handle is called.
    pub fn tell(&self, callback: &Callback, what: What, number: Option<u32>, result: impl Into<String>) {
        (self.0)(Call { callback: callback.clone(), what, number, result: result.into() });
    }
}

/// A loop with named handles, each of which has its two callbacks. The functions are libuv's of the same names.
#[allow(missing_docs)]
pub trait Driver {
    /// Whose lines of the scripts it follows.
    fn side() -> Side;
    /// A new loop.
    fn new(listener: Listener) -> Self;

    fn run(&self, mode: Mode) -> Outcome<bool>;
    fn stop_loop(&self);
    fn is_alive(&self) -> bool;
    fn update_time(&self);
    /// In milliseconds; `None` is for ever.
    fn backend_timeout(&self) -> Option<u64>;
    /// The names of all handles.
    fn walk(&self) -> Vec<String>;
    fn loop_close(&self) -> Outcome;

    fn init(&self, kind: Kind, name: &str) -> Outcome;
    fn poll_init(&self, name: &str, descriptor: BorrowedFd<'_>) -> Outcome;
    fn tty_init(&self, name: &str, terminal: OwnedFd) -> Outcome;
    fn close(&self, name: &str) -> Outcome;
    fn is_active(&self, name: &str) -> bool;
    fn is_closing(&self, name: &str) -> bool;
    fn has_ref(&self, name: &str) -> bool;
    fn set_ref(&self, name: &str, on: bool) -> Outcome;
    /// Stops a handle; of a stream, reading; of a UDP handle, receiving.
    fn stop(&self, name: &str) -> Outcome;

    /// In milliseconds.
    fn timer_start(&self, callback: &Callback, timeout: u64, repeat: u64) -> Outcome;
    fn timer_again(&self, name: &str) -> Outcome;
    fn timer_set_repeat(&self, name: &str, repeat: u64) -> Outcome;
    fn timer_repeat(&self, name: &str) -> Outcome<u64>;
    fn timer_due_in(&self, name: &str) -> Outcome<u64>;
    /// Starts an idle, prepare or check handle.
    fn watcher_start(&self, callback: &Callback) -> Outcome;
    fn async_send(&self, name: &str) -> Outcome;
    /// The letters are `r`, `w`, `d` (disconnect) and `p` (priority).
    fn poll_start(&self, callback: &Callback, letters: &str) -> Outcome;
    /// Waits for the signal of this number, for the first one only with `once`.
    fn signal_start(&self, callback: &Callback, number: i32, once: bool) -> Outcome;

    fn fs_event_start(&self, callback: &Callback, path: &Path) -> Outcome;
    /// In milliseconds.
    fn fs_poll_start(&self, callback: &Callback, path: &Path, interval: u32) -> Outcome;

    /// Tells from now on also when memory is asked for, and when it comes back unused.
    fn hear_alloc(&self, name: &str);

    fn open(&self, name: &str, socket: OwnedFd) -> Outcome;
    fn bind(&self, name: &str, address: SocketAddr) -> Outcome;
    fn address(&self, name: &str) -> Outcome<SocketAddr>;
    fn listen(&self, callback: &Callback) -> Outcome;
    /// Accepts a connection as a new handle.
    fn accept(&self, server: &str, client: &str) -> Outcome;
    fn pipe_bind(&self, name: &str, path: &Path) -> Outcome;
    fn pipe_connect(&self, name: &str, path: &Path) -> Outcome;
    /// As a write; another handle goes along.
    fn write_handle(&self, name: &str, number: u32, bytes: Vec<u8>, handle: &str) -> Outcome;
    /// How many handles have come along with what was read.
    fn pending_handles(&self, name: &str) -> usize;
    /// Takes the first of them as a new handle, and says of what kind it is.
    fn take_handle(&self, name: &str, new: &str) -> Outcome<Kind>;
    /// Of a UDP handle, there is no callback.
    fn connect(&self, name: &str, address: SocketAddr) -> Outcome;
    fn read_start(&self, callback: &Callback) -> Outcome;
    fn write(&self, name: &str, number: u32, bytes: Vec<u8>) -> Outcome;
    fn try_write(&self, name: &str, bytes: &[u8]) -> Outcome<usize>;
    fn shutdown(&self, name: &str) -> Outcome;
    fn close_reset(&self, name: &str) -> Outcome;
    fn write_queue_size(&self, name: &str) -> usize;
    fn is_readable(&self, name: &str) -> bool;
    fn is_writable(&self, name: &str) -> bool;

    /// Has this done by a thread of the pool.
    fn work(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Outcome;
    /// Takes back what was last asked of the pool by this name.
    fn cancel(&self, name: &str) -> Outcome;

    /// By the name of a request, as for jobs.
    fn operate(&self, name: &str, operation: &Operation<'_>) -> Outcome;
    /// Looks up the address of a host by its number, and tells the first.
    fn look_up(&self, name: &str, host: &str) -> Outcome;

    /// Makes a child of these words, with this standard input; returns its number.
    fn spawn(&self, name: &str, words: &[&str], input: OwnedFd) -> Outcome<i32>;
    fn kill(&self, name: &str, signal: i32) -> Outcome;

    fn receive_start(&self, callback: &Callback) -> Outcome;
    /// Sends a datagram; `None` is whom the handle is connected to.
    fn send_datagram(&self, name: &str, number: u32, bytes: Vec<u8>, to: Option<SocketAddr>) -> Outcome;
    fn try_send_datagram(&self, name: &str, bytes: &[u8], to: Option<SocketAddr>) -> Outcome<usize>;

    // What only C has: handles of what could not be made, descriptors that are none, arguments that the types of Rust rule out.

    /// Goes on with the loop of this number; the first one is 0.
    fn use_loop(&self, number: usize) {
        assert_eq!(number, 0, "there are several loops only in C");
    }
    /// Makes a child; if that fails, there is a handle all the same.
    fn spawn_of(&self, _name: &str, _of: &ChildOf<'_>) -> Outcome<i32> {
        only_in_c()
    }
    fn poll_init_of(&self, _name: &str, _descriptor: RawFd) -> Outcome {
        only_in_c()
    }
    fn open_of(&self, _name: &str, _descriptor: RawFd) -> Outcome {
        only_in_c()
    }
    fn descriptor_of(&self, _name: &str) -> Outcome<RawFd> {
        only_in_c()
    }
    fn try_write_handle(&self, _name: &str, _bytes: &[u8], _handle: &str) -> Outcome<usize> {
        only_in_c()
    }
    /// As a write; each byte is a buffer of its own.
    fn write_parts(&self, _name: &str, _number: u32, _bytes: Vec<u8>) -> Outcome {
        only_in_c()
    }
    /// An operation by its name in C, of which all is told. Without a request, it is done at once.
    fn file_call(&self, _request: Option<&str>, _call: &str, _on: &FileArguments) -> Outcome<String> {
        only_in_c()
    }
    /// Looks up the names of an address and its port.
    fn name_of(&self, _name: &str, _address: SocketAddr, _numeric: bool) -> Outcome {
        only_in_c()
    }
    fn random(&self, _name: &str, _count: usize, _flags: u32) -> Outcome {
        only_in_c()
    }
    /// Asks or sets something of a handle, and tells whether that was possible.
    fn ask(&self, _name: &str, _what: &str) -> Outcome {
        only_in_c()
    }
}

fn only_in_c<T>() -> Outcome<T> {
    Err("only in C".to_owned())
}

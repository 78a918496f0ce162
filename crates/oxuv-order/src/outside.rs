//! What scripts do without the loop: the other ends of descriptors, and addresses where nobody listens.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::net::{AddressFamily, SendFlags, SocketType};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::Outcome;

/// A free port of this machine.
pub(crate) const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// An address to which no connection can be made, and one to which nothing may be sent.
pub(crate) const UNREACHABLE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(224, 0, 0, 1), 9));
pub(crate) const EVERYBODY: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::BROADCAST, 9));

/// An address that is another machine's, and one of the other family, where nobody listens.
pub(crate) const ELSEWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 0));
pub(crate) const SIXTH: SocketAddr = SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 1, 0, 0));

/// A free port of the other family.
pub(crate) const ANY_SIXTH: SocketAddr = SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 0, 0, 0));

/// Descriptors outside of the loop, by the names of the handles they belong to.
#[derive(Default)]
pub(crate) struct Outside {
    /// What poll handles poll. It stays open as long as the loop.
    polled: RefCell<HashMap<String, UnixStream>>,
    /// The other ends, of poll handles, of opened streams, and of terminals.
    ends: RefCell<HashMap<String, File>>,
    /// Terminals, to see what has come there.
    terminals: RefCell<HashMap<String, File>>,
    children: RefCell<HashMap<String, Child>>,
    /// The other ends of UDP handles.
    mailboxes: RefCell<HashMap<String, UnixDatagram>>,
    /// Bound, but nobody listens there.
    refusing: RefCell<Vec<OwnedFd>>,
    /// Where files are made that are watched.
    directory: OnceCell<Directory>,
    /// Where pipes have their names, and operations their files; nobody watches it.
    place: OnceCell<Directory>,
    files: RefCell<HashMap<String, Rc<File>>>,
    /// What holds up jobs.
    gate: Arc<Gate>,
}

/// Holds up the threads of the pool, and counts the jobs.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    has_changed: Condvar,
}

#[derive(Default)]
struct GateState {
    is_shut: bool,
    submitted: usize,
    cancelled: usize,
    begun: usize,
    ended: usize,
}

impl Gate {
    fn change(&self, change: impl FnOnce(&mut GateState)) {
        change(&mut self.state.lock().unwrap());
        self.has_changed.notify_all();
    }

    /// Waits until the jobs have come so far. What takes this long never ends.
    fn wait(&self, is_done: impl Fn(&GateState) -> bool) {
        let state = self.state.lock().unwrap();
        let waited = self.has_changed.wait_timeout_while(state, PATIENCE, |state| !is_done(state)).unwrap();
        assert!(!waited.1.timed_out(), "a job has not been run");
    }
}

/// How long jobs may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take a thread to give back what it has run.
const MOMENT: Duration = Duration::from_millis(1);

/// Jobs.
impl Outside {
    /// A job, which `submit` submits. With `held` it is held up from when it has begun; else, and if nothing is held up, it has run when
    /// this returns.
    pub(crate) fn job(&self, held: bool, submit: impl FnOnce(Box<dyn FnOnce() + Send>) -> Outcome) -> Outcome {
        let gate = Arc::clone(&self.gate);
        if held {
            self.gate.change(|state| state.is_shut = true);
        }
        let submitted = submit(Box::new(move || {
            gate.change(|state| state.begun += 1);
            if held {
                gate.wait(|state| !state.is_shut);
            }
            gate.change(|state| state.ended += 1);
        }));
        match submitted {
            Ok(()) => {
                self.gate.change(|state| state.submitted += 1);
                if held { self.gate.wait(|state| state.begun > state.ended) } else { self.wait_for_jobs() }
            }
            Err(_) if held => self.release(),
            Err(_) => {}
        }
        submitted
    }

    /// A job was taken back before a thread had begun it.
    pub(crate) fn cancelled(&self) {
        self.gate.change(|state| state.cancelled += 1);
    }

    /// Lets go what is held up, and waits until all has run.
    pub(crate) fn release(&self) {
        self.gate.change(|state| state.is_shut = false);
        self.wait_for_jobs();
    }

    fn wait_for_jobs(&self) {
        self.gate.wait(|state| state.is_shut || state.ended + state.cancelled == state.submitted);
        sleep(MOMENT);
    }
}

/// A child, which ends with the number that it reads.
struct Child {
    id: Pid,
    input: Option<File>,
}

/// Nobody is left who waits, and nobody of whom the loop has not heard.
impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        // The loop may have waited for it already.
        let _ = waitid(WaitId::Pid(self.id), WaitIdOptions::EXITED);
    }
}

/// What children run. Where a name is looked for, libuv makes a child for each folder, whose end raises SIGCHLD.
const CHILD: [&str; 3] = ["/bin/sh", "-c", "read code; exit $code"];

/// Children.
impl Outside {
    /// Has a child made, of these words and with this standard input.
    pub(crate) fn child(&self, name: &str, spawn: impl FnOnce(&[&str], OwnedFd) -> Outcome<i32>) -> Outcome {
        let (theirs, ours) = std::io::pipe().unwrap();
        let id = Pid::from_raw(spawn(&CHILD, theirs.into())?).unwrap();
        self.children.borrow_mut().insert(name.to_owned(), Child { id, input: Some(OwnedFd::from(ours).into()) });
        Ok(())
    }

    /// As `child`, of whatever it is made of.
    pub(crate) fn child_of(&self, name: &str, spawn: impl FnOnce(RawFd) -> Outcome<i32>) -> Outcome {
        self.child(name, |_, input| spawn(input.as_raw_fd()))
    }

    /// Ends a child.
    pub(crate) fn end_child(&self, name: &str, code: &str) {
        if let Some(mut input) = self.children.borrow_mut().get_mut(name).and_then(|child| child.input.take()) {
            // It may have been killed.
            let _ = writeln!(input, "{code}");
        }
        self.wait_for_child(name);
    }

    /// Waits until a child has ended; the loop is to hear of that.
    pub(crate) fn wait_for_child(&self, name: &str) {
        if let Some(child) = self.children.borrow().get(name) {
            let _ = waitid(WaitId::Pid(child.id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        }
    }
}

/// Terminals.
impl Outside {
    /// A terminal, raw, before which somebody sits.
    pub(crate) fn terminal(&self, name: &str) -> OwnedFd {
        let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&end).and_then(|()| unlockpt(&end)).unwrap();
        let path = ptsname(&end, Vec::new()).unwrap();
        let terminal = rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, 0.into()).unwrap();
        let mut modes = tcgetattr(&terminal).unwrap();
        modes.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &modes).unwrap();
        fcntl_setfl(&end, OFlags::RDWR | OFlags::NONBLOCK).unwrap();
        self.ends.borrow_mut().insert(name.to_owned(), end.into());
        self.terminals.borrow_mut().insert(name.to_owned(), terminal.try_clone().unwrap().into());
        terminal
    }
}

/// A directory of a script's own, which is removed with this.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let name = format!("oxuv-order-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
            let path = std::env::temp_dir().join(name);
            match std::fs::create_dir(&path) {
                // Of a process of this number that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.unwrap();
                    return Directory(path);
                }
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Outside {
    /// A pair of sockets: one to be opened by a handle, the other stays outside.
    pub(crate) fn socket(&self, name: &str) -> OwnedFd {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        self.terminals.borrow_mut().remove(name);
        self.ends.borrow_mut().insert(name.to_owned(), OwnedFd::from(theirs).into());
        ours.into()
    }

    /// As `socket`, for datagrams.
    pub(crate) fn mailbox(&self, name: &str) -> OwnedFd {
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        self.mailboxes.borrow_mut().insert(name.to_owned(), theirs);
        ours.into()
    }

    /// As `socket`, for a poll handle: both ends stay outside.
    pub(crate) fn polled<T>(&self, name: &str, init: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
        let socket = UnixStream::from(self.socket(name));
        let done = init(socket.as_fd());
        self.polled.borrow_mut().insert(name.to_owned(), socket);
        done
    }

    /// The other end writes; a datagram, if it is of a UDP handle.
    pub(crate) fn feed(&self, name: &str, count: usize) {
        if let Some(mailbox) = self.mailboxes.borrow().get(name) {
            // Not by a write, which may do nothing when there is nothing to write.
            let sent = rustix::net::send(mailbox, &vec![b'x'; count], SendFlags::empty());
            assert_eq!(sent, Ok(count));
            return;
        }
        let terminals = self.terminals.borrow();
        let readable = || terminals.get(name).map(|terminal| ioctl_fionread(terminal).unwrap());
        let expected = readable().map(|before| before + count as u64);
        self.ends.borrow_mut().get_mut(name).unwrap().write_all(&vec![b'x'; count]).unwrap();
        // What goes through a terminal takes its time.
        while readable() < expected {
            sleep(MOMENT / 10);
        }
    }

    /// The other end is closed: a reset if there is something unread.
    pub(crate) fn hang_up(&self, name: &str) {
        if self.mailboxes.borrow_mut().remove(name).is_some() {
            return;
        }
        self.ends.borrow_mut().remove(name).unwrap();
    }

    /// The other end reads all there is.
    pub(crate) fn take(&self, name: &str) -> usize {
        if let Some(mailbox) = self.mailboxes.borrow().get(name) {
            return std::iter::from_fn(|| mailbox.recv(&mut [0; 1024]).ok()).sum();
        }
        let end = &mut *self.ends.borrow_mut();
        let end = end.get_mut(name).unwrap();
        if self.terminals.borrow().contains_key(name) {
            // How much is still to come nobody can ask.
            sleep(MOMENT);
        }
        drain(end)
    }

    /// A poll handle's own end reads all there is.
    pub(crate) fn drain(&self, name: &str) -> usize {
        drain(self.polled.borrow_mut().get_mut(name).unwrap())
    }

    /// A poll handle's own end writes.
    pub(crate) fn spill(&self, name: &str, count: usize) {
        self.polled.borrow_mut().get_mut(name).unwrap().write_all(&vec![b'x'; count]).unwrap();
    }

    /// The directory that files are made in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory.get_or_init(Directory::new).0
    }

    /// A path that nobody watches.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.place.get_or_init(Directory::new).0.join(name)
    }

    /// An open file of that path, unless a directory is there.
    pub(crate) fn file(&self, name: &str) -> Option<Rc<File>> {
        if let Some(file) = self.files.borrow().get(name) {
            return Some(Rc::clone(file));
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.place(name));
        let file = Rc::new(opened.ok()?);
        self.files.borrow_mut().insert(name.to_owned(), Rc::clone(&file));
        Some(file)
    }

    /// The number of a descriptor of this kind, which stays open as long as the loop; of `bad` ones, nobody has it.
    pub(crate) fn descriptor(&self, word: &str) -> RawFd {
        let path = self.place("descriptors");
        let open = |flags| {
            drop(OpenOptions::new().append(true).create(true).open(&path).unwrap());
            let made = OFlags::CLOEXEC | flags;
            let file = rustix::fs::open(&path, made, 0o600.into()).unwrap();
            self.files.borrow_mut().entry(format!("of {word}")).or_insert_with(|| Rc::new(file.into())).as_raw_fd()
        };
        match word {
            "reading" => open(OFlags::RDONLY),
            "writing" => open(OFlags::WRONLY),
            "both" => open(OFlags::RDWR),
            "adding" => open(OFlags::RDWR | OFlags::APPEND),
            "path" => open(OFlags::PATH),
            "below" => -1,
            _ => 99_999,
        }
    }

    /// Makes an empty file in there, by one change.
    pub(crate) fn make_file(&self, name: &str) {
        std::fs::File::create_new(self.directory().join(name)).unwrap();
    }

    /// An address where connections are refused.
    pub(crate) fn refusing(&self) -> SocketAddr {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &ANY_PORT).unwrap();
        let address = rustix::net::getsockname(&socket).unwrap();
        self.refusing.borrow_mut().push(socket);
        address.try_into().unwrap()
    }
}

impl Outside {
    /// An address where datagrams are refused: somebody is there, who is connected to somebody else.
    pub(crate) fn refusing_datagrams(&self) -> SocketAddr {
        let socket = UdpSocket::bind(ANY_PORT).unwrap();
        let address = socket.local_addr().unwrap();
        socket.connect(address).unwrap();
        self.refusing.borrow_mut().push(socket.into());
        address
    }
}

fn drain(socket: &mut impl Read) -> usize {
    let mut bytes = Vec::new();
    // It ends with EAGAIN, or with the end of the stream.
    let _ = socket.read_to_end(&mut bytes);
    bytes.len()
}

/// The two ends of a connection: of the Unix domain, or of TCP.
pub(crate) fn pair(is_unix: bool) -> (OwnedFd, OwnedFd) {
    if is_unix {
        let (one, other) = UnixStream::pair().unwrap();
        return (one.into(), other.into());
    }
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client.into(), listener.accept().unwrap().0.into())
}

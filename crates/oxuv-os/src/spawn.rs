//! Making a child process that runs another program.
//!
//! The child shares our memory until it runs the program, so that its cost does not depend on how much memory that is; the
//! calling thread stands still meanwhile. Hence everything is prepared before: the child allocates nothing, takes no lock,
//! cannot panic, and calls nothing but the system. No handler of ours can run in it: all signals are blocked until
//! none has one any more.
//!
//! Some emulators give the child a memory of its own all the same. Until the first child was seen to share ours, what
//! fails in one is told by a pipe, too, if a pipe can be had.

use std::convert::Infallible;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use crate::process::Child;
use crate::{Errno, Result, unix};

/// A list of texts as the system takes it: their addresses, and null behind the last.
#[derive(Debug, Clone, Copy)]
pub struct TextList<'a> {
    first: *const *const c_char,
    texts: PhantomData<&'a CStr>,
}

impl<'a> TextList<'a> {
    /// The list that begins at this address; an empty one if that is null.
    ///
    /// # Safety
    /// Each text, and the list of them with a null behind the last, stays as it is for as long as `'a`.
    pub unsafe fn from_ptr(first: *const *const c_char) -> TextList<'a> {
        static NONE: [usize; 1] = [0];
        let first = if first.is_null() { NONE.as_ptr().cast() } else { first };
        TextList { first, texts: PhantomData }
    }

    /// The environment of this process, as the C library has it, and as it stays while we make a child.
    fn of_process() -> TextList<'a> {
        // SAFETY: who changes it, by `std::env::set_var` or `setenv`, has to see to it that no other thread reads it: the first
        // says so, and that any function of any library may.
        unsafe { TextList::from_ptr(libc::environ.cast_const().cast()) }
    }

    /// The texts.
    pub fn iter(self) -> impl Iterator<Item = &'a CStr> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            // SAFETY: until the null, beyond which nothing is read, there are addresses of texts: so `from_ptr` was told.
            unsafe {
                let text = *next;
                if text.is_null() {
                    return None;
                }
                next = next.add(1);
                Some(CStr::from_ptr(text))
            }
        })
    }
}

/// Texts that a [`TextList`] can be had of.
#[derive(Debug, Default)]
pub struct Texts {
    /// One behind the other, each with a zero behind it.
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Those of the last list.
    addresses: Vec<*const c_char>,
}

impl Texts {
    /// Adds one that is made of these parts.
    ///
    /// # Errors
    /// EINVAL when there is a zero byte in it; it is not added then. ENOMEM.
    pub fn add(&mut self, parts: &[&[u8]]) -> Result<()> {
        if parts.iter().any(|part| part.contains(&0)) {
            return Err(Errno::EINVAL);
        }
        self.starts.try_reserve(1)?;
        self.bytes.try_reserve(parts.iter().map(|part| part.len()).sum::<usize>() + 1)?;
        self.starts.push(self.bytes.len());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.bytes.push(0);
        Ok(())
    }

    /// The list of them.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn list(&mut self) -> Result<TextList<'_>> {
        self.addresses.clear();
        self.addresses.try_reserve_exact(self.starts.len() + 1)?;
        let bytes: *const c_char = self.bytes.as_ptr().cast();
        self.addresses.extend(self.starts.iter().map(|&start| bytes.wrapping_add(start)));
        self.addresses.push(null());
        Ok(TextList { first: self.addresses.as_ptr(), texts: PhantomData })
    }
}

/// What a child is to run, and how.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// The program's file. Without a slash it is looked for where `PATH` of its environment says; `/usr/bin` and `/bin` without one.
    pub file: &'a CStr,
    /// The arguments, beginning with the program's name.
    pub args: TextList<'a>,
    /// The environment, each variable as `NAME=value`; that of this process without.
    pub env: Option<TextList<'a>>,
    /// The directory to work in, to which a relative `file` is relative; ours without.
    pub directory: Option<&'a CStr>,
    /// The user to be. With this or `group`, the supplementary groups are dropped if that can be done.
    pub user: Option<u32>,
    /// The group to be of.
    pub group: Option<u32>,
    /// Makes it the leader of a new session, without a terminal.
    pub detached: bool,
}

/// What the child has as a descriptor, whose number is the slot's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Of 0, 1 and 2: `/dev/null`. Of any other: what is there, which is nothing if it is close-on-exec.
    Ignore,
    /// A copy of our descriptor of this number. That becomes blocking, and so does our own, as descriptor 0, 1 or 2.
    Copy(RawFd),
}

/// The slots that are never left alone.
const STANDARD: usize = 3;

/// Where programs are looked for if the environment does not say.
const DEFAULT_PATH: &[u8] = b"/usr/bin:/bin";

/// The longest name of a file, and the longest path, of those that are looked for.
const NAME_MAX: usize = 255;
const PATH_MAX: usize = 4096;

/// A child was seen to share our memory. One that was not may have its own.
static SHARES_MEMORY: AtomicBool = AtomicBool::new(false);

/// The states of a child. Any other is the number of the error that it ended with.
const UNBORN: i32 = 0;
const BORN: i32 = -1;

/// Makes a child process that runs a program. Beside what the slots say, it has the descriptors that are not
/// close-on-exec; its signals have their default actions, and none is blocked.
///
/// # Errors
/// What the child fails with, before its program runs: ENOENT, EACCES, ENOEXEC, E2BIG for the program; EBADF, EMFILE for
/// descriptors; ENOENT, EACCES, ENOTDIR for the directory; EPERM, EINVAL for user and group. ENAMETOOLONG for a name
/// beyond 255 bytes that is to be looked for; EAGAIN, ENOMEM, EMFILE, ENFILE.
pub fn spawn(command: &Command<'_>, slots: &[Slot]) -> Result<Child> {
    let env = command.env.unwrap_or_else(TextList::of_process);
    let files = find_files(command.file, env)?;
    let mut sources = Vec::new();
    sources.try_reserve_exact(slots.len().max(STANDARD))?;
    for slot in slots {
        sources.push(match *slot {
            Slot::Ignore => None,
            Slot::Copy(number) => Some(crate::descriptor::check_open(number)?),
        });
    }
    sources.resize(slots.len().max(STANDARD), None);
    // At the limit of descriptors there is none, and a child needs none: what one with its own memory fails with is its exit
    // code then, 127.
    let report = if SHARES_MEMORY.load(Relaxed) { None } else { unix::pipe().ok() };
    let state = AtomicI32::new(UNBORN);
    let mut plan = Plan {
        command,
        env,
        files: &files,
        sources: &mut sources,
        report: report.as_ref().map(|(_, writer)| writer.as_raw_fd()),
        state: &state,
    };
    let pid = make_child(&mut plan)?;
    let state = match report {
        Some(report) if state.load(Relaxed) == UNBORN => read_report(report),
        Some(_) => {
            SHARES_MEMORY.store(true, Relaxed);
            state.load(Relaxed)
        }
        None => state.load(Relaxed),
    };
    if state > 0 {
        crate::process::reap(pid);
        return Err(Errno::from_raw(state));
    }
    Ok(Child::new(pid))
}

/// The paths to be tried, each with a zero behind it.
fn find_files(file: &CStr, env: TextList<'_>) -> Result<Vec<u8>> {
    let name = file.to_bytes();
    let mut files = Vec::new();
    if name.contains(&b'/') {
        files.try_reserve_exact(name.len() + 1)?;
        files.extend_from_slice(file.to_bytes_with_nul());
        return Ok(files);
    }
    if name.len() > NAME_MAX {
        return Err(Errno::ENAMETOOLONG);
    }
    let path = env.iter().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    let directories = || path.unwrap_or(DEFAULT_PATH).split(|&byte| byte == b':').filter(|part| part.len() < PATH_MAX);
    files.try_reserve_exact(directories().map(|directory| directory.len() + name.len() + 2).sum())?;
    for directory in directories() {
        files.extend_from_slice(directory);
        if !directory.is_empty() {
            files.push(b'/');
        }
        files.extend_from_slice(file.to_bytes_with_nul());
    }
    Ok(files)
}

/// Everything that the child needs.
struct Plan<'a> {
    command: &'a Command<'a>,
    env: TextList<'a>,
    files: &'a [u8],
    /// For each descriptor the one that it is to be a copy of.
    sources: &'a mut [Option<RawFd>],
    /// Where to write what it fails with.
    report: Option<RawFd>,
    state: &'a AtomicI32,
}

/// What the child stands on, 32 KiB.
type Stack = [u128; 2048];

/// Makes a child that carries out the plan, and returns when that has failed or its program runs.
fn make_child(plan: &mut Plan<'_>) -> Result<libc::pid_t> {
    let _blocked = Blocked::all();
    start_child(plan)
}

/// A function of its own, so that its stack is gone again when a handler runs for a signal that was blocked.
#[inline(never)]
fn start_child(plan: &mut Plan<'_>) -> Result<libc::pid_t> {
    let mut stack = MaybeUninit::<Stack>::uninit();
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack grows from its end downwards and is the child's alone. While the child uses that, the plan, and
    // whatever else is ours, this thread stands still, with all signals blocked; the other threads know neither. What the
    // child calls changes nothing in our memory but `errno` of this thread, the sources and the state.
    let pid = unsafe { libc::clone(child, stack.as_mut_ptr().add(1).cast(), flags, (&raw mut *plan).cast()) };
    if pid < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(pid) }
}

/// What a child without our memory has told: the number of an error, or nothing.
fn read_report((reader, writer): (OwnedFd, OwnedFd)) -> i32 {
    // Our copy would keep the end from coming.
    drop(writer);
    let mut number = [0; 4];
    match File::from(reader).read_exact(&mut number) {
        Ok(()) => i32::from_ne_bytes(number),
        Err(_) => BORN,
    }
}

/// All signals are blocked for this thread as long as this lives.
struct Blocked(u64);

impl Blocked {
    fn all() -> Blocked {
        let mut before = 0;
        set_mask(u64::MAX, &mut before);
        Blocked(before)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        set_mask(self.0, null_mut());
    }
}

/// Sets the thread's mask of signals, those of the C library included, which its own function would leave out.
fn set_mask(mask: u64, before: *mut u64) {
    let how = c_long::from(libc::SIG_SETMASK);
    // SAFETY: the kernel reads one mask of this size, and writes one if `before` is not null.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const mask, before, size_of::<u64>()) };
}

/// The number of an error in the child.
struct Failure(c_int);

type Attempt<T = ()> = std::result::Result<T, Failure>;

/// What a function of the C library has returned.
fn attempt(result: c_int) -> Attempt<c_int> {
    // SAFETY: the thread that this number belongs to stands still.
    if result < 0 { Err(Failure(unsafe { *libc::__errno_location() })) } else { Ok(result) }
}

/// Where the child begins, with the address of the plan.
extern "C" fn child(plan: *mut c_void) -> c_int {
    // SAFETY: `start_child` has given the address, and does nothing with the plan until this process runs a program or is
    // gone.
    let plan = unsafe { &mut *plan.cast::<Plan<'_>>() };
    plan.state.store(BORN, Relaxed);
    let Err(Failure(number)) = plan.carry_out();
    plan.state.store(number, Relaxed);
    // SAFETY: four bytes are read. Nothing of ours is run at the end.
    unsafe {
        if let Some(report) = plan.report {
            libc::write(report, (&raw const number).cast(), size_of::<c_int>());
        }
        libc::_exit(127)
    }
}

// Everything here runs in the child; see the top of this file for what it may not do.
impl Plan<'_> {
    fn carry_out(&mut self) -> Attempt<Infallible> {
        default_all_signals();
        if self.command.detached {
            // SAFETY: takes nothing. A new child leads no group, so it cannot fail.
            unsafe { libc::setsid() };
        }
        self.move_sources_up()?;
        self.fill_slots()?;
        if let Some(directory) = self.command.directory {
            // SAFETY: a C string.
            attempt(unsafe { libc::chdir(directory.as_ptr()) })?;
        }
        self.become_user()?;
        set_mask(0, null_mut());
        self.run()
    }

    /// Copies the sources that a slot would be put over before they are used, and the report, to numbers behind the slots.
    fn move_sources_up(&mut self) -> Attempt {
        let behind = self.sources.len() as c_int;
        if let Some(report) = &mut self.report
            && *report < behind
        {
            *report = copy_behind(*report, behind)?;
        }
        for (target, source) in (0..).zip(self.sources.iter_mut()) {
            if let Some(number) = source
                && *number < target
            {
                *number = copy_behind(*number, behind)?;
            }
        }
        Ok(())
    }

    fn fill_slots(&self) -> Attempt {
        for (target, source) in (0..).zip(self.sources.iter()) {
            match *source {
                Some(number) => {
                    copy_to(number, target)?;
                    if target < STANDARD as c_int {
                        change_flags(target, libc::F_GETFL, libc::F_SETFL, libc::O_NONBLOCK)?;
                    }
                }
                None if target < STANDARD as c_int => open_null(target)?,
                None => {}
            }
        }
        let behind = self.sources.len() as c_int;
        for &number in self.sources.iter().flatten() {
            if number >= behind {
                // SAFETY: it has done its work, and this table of descriptors is the child's own. Once more is EBADF.
                unsafe { libc::close(number) };
            }
        }
        Ok(())
    }

    /// By system calls: the C library's functions would have all threads of ours follow.
    fn become_user(&self) -> Attempt {
        let Command { user, group, .. } = *self.command;
        // SAFETY: numbers, and a list of no groups.
        unsafe {
            if user.is_some() || group.is_some() {
                // Who may not drop groups has not got them from someone who may.
                libc::syscall(numbers::SETGROUPS, 0, null::<libc::gid_t>());
            }
            if let Some(group) = group {
                attempt(libc::syscall(numbers::SETGID, group) as c_int)?;
            }
            if let Some(user) = user {
                attempt(libc::syscall(numbers::SETUID, user) as c_int)?;
            }
        }
        Ok(())
    }

    /// Runs the first of the files that can be run.
    fn run(&self) -> Attempt<Infallible> {
        let (args, env) = (self.command.args.first, self.env.first);
        let (mut error, mut was_refused) = (libc::ENOENT, false);
        for file in self.files.split_inclusive(|&byte| byte == 0) {
            // SAFETY: a text with a zero behind it, and lists with a null behind the last.
            let Err(Failure(number)) = attempt(unsafe { libc::execve(file.as_ptr().cast(), args, env) }) else { break };
            match number {
                libc::EACCES => was_refused = true,
                libc::ENOENT | libc::ENOTDIR => {}
                _ => return Err(Failure(number)),
            }
            error = number;
        }
        Err(Failure(if was_refused { libc::EACCES } else { error }))
    }
}

/// The calls with numbers of 32 bits.
#[cfg(not(any(target_arch = "x86", target_arch = "arm")))]
mod numbers {
    pub(super) use libc::{SYS_setgid as SETGID, SYS_setgroups as SETGROUPS, SYS_setuid as SETUID};
}
#[cfg(any(target_arch = "x86", target_arch = "arm"))]
mod numbers {
    pub(super) use libc::{SYS_setgid32 as SETGID, SYS_setgroups32 as SETGROUPS, SYS_setuid32 as SETUID};
}

/// Gives all signals their default actions; those of the C library, too, hence by system calls. SIGKILL and SIGSTOP have no
/// others.
fn default_all_signals() {
    // The kernel's structure: no handler, no flags, no mask.
    let default = [0_u64; 4];
    for number in 1..=64 {
        // SAFETY: the kernel reads the action, and writes no old one.
        unsafe {
            let (action, old) = (default.as_ptr(), null_mut::<u64>());
            libc::syscall(libc::SYS_rt_sigaction, c_long::from(number), action, old, size_of::<u64>());
        }
    }
}

/// A close-on-exec copy of a descriptor, of a number not below `behind`.
fn copy_behind(number: c_int, behind: c_int) -> Attempt<c_int> {
    // SAFETY: numbers only.
    attempt(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, behind) })
}

/// Makes descriptor `target` a copy that survives until the program runs.
fn copy_to(number: c_int, target: c_int) -> Attempt {
    if number == target {
        return change_flags(target, libc::F_GETFD, libc::F_SETFD, libc::FD_CLOEXEC);
    }
    // SAFETY: numbers only; this table of descriptors is the child's own.
    attempt(unsafe { libc::dup2(number, target) }).map(drop)
}

/// Takes a flag off a descriptor.
fn change_flags(number: c_int, get: c_int, set: c_int, off: c_int) -> Attempt {
    // SAFETY: numbers only.
    unsafe {
        let flags = attempt(libc::fcntl(number, get))?;
        if flags & off != 0 {
            attempt(libc::fcntl(number, set, flags & !off))?;
        }
    }
    Ok(())
}

/// Makes descriptor `target` one of `/dev/null`.
fn open_null(target: c_int) -> Attempt {
    let mode = if target == 0 { libc::O_RDONLY } else { libc::O_RDWR };
    // SAFETY: a C string; the descriptors are the child's own, and what was at `target` is not wanted.
    unsafe {
        libc::close(target);
        let opened = loop {
            match attempt(libc::open(c"/dev/null".as_ptr(), mode)) {
                Err(Failure(libc::EINTR)) => {}
                opened => break opened?,
            }
        };
        if opened != target {
            copy_to(opened, target)?;
            libc::close(opened);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    fn texts(texts: &[&CStr]) -> Texts {
        let mut owned = Texts::default();
        texts.iter().for_each(|text| owned.add(&[text.to_bytes()]).unwrap());
        owned
    }

    fn found(file: &CStr, env: &[&CStr]) -> Vec<String> {
        let files = find_files(file, texts(env).list().unwrap()).unwrap();
        String::from_utf8(files).unwrap().split_terminator('\0').map(str::to_owned).collect()
    }

    #[test]
    fn programs_are_looked_for_where_the_path_says() {
        assert_eq!(found(c"x", &[c"A=b", c"PATH=/a::/b/", c"PATH=/c"]), ["/a/x", "x", "/b//x"]);
        assert_eq!(found(c"x", &[c"XPATH=/a"]), ["/usr/bin/x", "/bin/x"]);
        assert_eq!(found(c"x", &[c"PATH="]), ["x"]);
        assert_eq!(found(c"./x", &[c"PATH=/a"]), ["./x"]);
        let long = CString::new(vec![b'x'; 256]).unwrap();
        assert_eq!(find_files(&long, texts(&[]).list().unwrap()), Err(Errno::ENAMETOOLONG));
        let far = CString::new([b"PATH=".as_slice(), &[b'y'; PATH_MAX], b":/a"].concat()).unwrap();
        assert_eq!(found(c"x", &[&far]), ["/a/x"]);
    }

    #[test]
    fn lists_of_texts_are_as_they_were_given() {
        let given = [c"one", c"", c"three"];
        let mut owned = texts(&given);
        assert!(owned.list().unwrap().iter().eq(given));
        assert_eq!(owned.add(&[b"a", b"b\0"]), Err(Errno::EINVAL));
        owned.add(&[b"NAME", b"=", b"value"]).unwrap();
        assert!(owned.list().unwrap().iter().eq([c"one", c"", c"three", c"NAME=value"]));
        // SAFETY: null is an empty list.
        assert_eq!(unsafe { TextList::from_ptr(null()) }.iter().count(), 0);
    }

    fn run(program: &CStr, slots: &[Slot], directory: Option<&CStr>) -> Result<Child> {
        let (mut args, mut env) = (texts(&[c"sh", c"-c", c"exit 7"]), texts(&[]));
        let command = Command {
            file: program,
            args: args.list()?,
            env: Some(env.list()?),
            directory,
            user: None,
            group: None,
            detached: false,
        };
        spawn(&command, slots)
    }

    fn mask() -> u64 {
        let before = Blocked::all();
        before.0
    }

    #[test]
    fn a_child_runs_or_what_it_fails_with_is_returned() {
        let before = mask();
        let child = run(c"sh", &[], None).unwrap();
        let exit = loop {
            if let Some(exit) = child.try_wait().unwrap() {
                break exit;
            }
            std::thread::yield_now();
        };
        assert_eq!((exit.code(), exit.signal()), (7, 0));
        // Whether the kernel keeps it is the kernel's.
        assert!([Err(Errno::ECHILD), Ok(Some(exit))].contains(&child.try_wait()));
        assert_eq!(child.kill(0), Err(Errno::ESRCH));
        for (program, slots, directory, error) in [
            (c"/no/such", &[][..], None, Errno::ENOENT),
            (c"/", &[], None, Errno::EACCES),
            (c"sh", &[], Some(c"/no/such"), Errno::ENOENT),
            (c"sh", &[Slot::Copy(9999)], None, Errno::EBADF),
        ] {
            assert_eq!(run(program, slots, directory).map(|child| child.id()), Err(error));
        }
        assert_eq!(mask(), before);
    }
}

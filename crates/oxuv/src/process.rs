//! Child processes.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::rc::Rc;

use oxuv_core::kernel::{self, Kernel, Texts};

mod task;

pub use task::Child;

use crate::callbacks::Callback;
use crate::handle::is_a_handle;
use crate::loop_::Core;
use crate::{Errno, Handle, LoopRef, Pipe, Result};

/// A child process, made by [`Command::spawn`]. The handle is active until the child has ended.
///
/// Closed before that, it hears nothing; the child goes on, unless it is to be [killed](Command::kill_on_drop), and its end is waited for
/// when the loop makes or closes the next.
#[doc(alias = "uv_process_t")]
#[derive(Clone, PartialEq, Eq)]
pub struct Process(pub(crate) Handle);

is_a_handle!(Process);

impl Process {
    /// The number of the child's process, also after its end.
    ///
    /// # Errors
    /// EINVAL when closed.
    #[doc(alias = "uv_process_get_pid")]
    pub fn id(&self) -> Result<i32> {
        self.with(|core, key| core.process_id(key))
    }

    /// Sends the child a signal by its number, 15 (SIGTERM) for example; 0 only looks whether it is there. It never goes
    /// to another process that has got the number since.
    ///
    /// # Errors
    /// ESRCH when it has ended; EINVAL for a number that is no signal, and when closed; EPERM.
    #[doc(alias = "uv_process_kill")]
    pub fn kill(&self, signal: i32) -> Result<()> {
        self.with(|core, key| core.process_kill(key, signal))
    }
}

/// What a child is to run, and how; as the standard library's.
///
/// ```
/// use oxuv::{Command, Loop, Mode, Pipe, Stdio};
///
/// let lp = Loop::new()?;
/// let output = Pipe::new(&lp)?;
/// Command::new("echo").arg("hello").stdout(Stdio::pipe(&output)).spawn(&lp, |process, status| {
///     assert!(status.unwrap().success());
///     process.close().unwrap();
/// })?;
/// output.read_start(|output, read| match read {
///     Ok(bytes) => assert_eq!(bytes, b"hello\n"),
///     Err(_) => output.close().unwrap(),
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[doc(alias = "uv_process_options_t")]
#[derive(Debug)]
pub struct Command {
    program: OsString,
    /// What the program is told as its own name, if not `program`.
    own_name: Option<OsString>,
    args: Vec<OsString>,
    clears_env: bool,
    /// What is set, or removed, beside what there is.
    env: BTreeMap<OsString, Option<OsString>>,
    directory: Option<PathBuf>,
    user: Option<u32>,
    group: Option<u32>,
    detached: bool,
    is_killed_on_drop: bool,
    stdio: Vec<Stdio>,
}

/// What a child has as a descriptor.
///
/// The child finds its standard streams blocking; what it shares with us is blocking here as well, then.
#[doc(alias = "uv_stdio_container_t")]
pub struct Stdio(pub(crate) Source);

pub(crate) enum Source {
    Piped,
    Null,
    Same,
    Pipe(Pipe),
    /// One that both sides read and write, whatever its number.
    Duplex(Pipe),
    Handle(Handle),
    Descriptor(OwnedFd),
    Number(RawFd),
}

impl Stdio {
    /// `/dev/null` as standard input, output or error; nothing as any other.
    #[doc(alias = "UV_IGNORE")]
    pub fn null() -> Stdio {
        Stdio(Source::Null)
    }

    /// What this process has under the same number.
    pub fn inherit() -> Stdio {
        Stdio(Source::Same)
    }

    /// One end of a new connection. The other end gets this pipe, which has no descriptor yet: it is written to if this is the
    /// child's standard input, read from if it is output or error, and both if it is any other.
    #[doc(alias = "UV_CREATE_PIPE")]
    pub fn pipe(pipe: &Pipe) -> Stdio {
        Stdio(Source::Pipe(pipe.clone()))
    }

    /// As [`Stdio::pipe`], but both sides read and write it, also as one of the child's standard streams.
    #[doc(alias = "UV_READABLE_PIPE")]
    #[doc(alias = "UV_WRITABLE_PIPE")]
    pub fn duplex(pipe: &Pipe) -> Stdio {
        Stdio(Source::Duplex(pipe.clone()))
    }

    /// A copy of the descriptor that this handle has by then.
    #[doc(alias = "UV_INHERIT_STREAM")]
    pub fn handle(handle: &Handle) -> Stdio {
        Stdio(Source::Handle(handle.clone()))
    }

    /// A copy of the descriptor that this process has under this number when the child is made, whoever opened it.
    pub fn number(number: RawFd) -> Stdio {
        Stdio(Source::Number(number))
    }

    /// As the core takes it, as descriptor `number`.
    fn for_core(&self, core: &Core, number: usize, owner: &LoopRef) -> Result<oxuv_core::Stdio> {
        let key_of = |handle: &Handle| {
            if Rc::ptr_eq(&handle.owner().0, &owner.0) { Ok(handle.key()) } else { Err(Errno::EINVAL) }
        };
        Ok(match &self.0 {
            Source::Null => oxuv_core::Stdio::Ignore,
            // There is nobody who would have the other end.
            Source::Piped => return Err(Errno::EINVAL),
            Source::Same => match core.kernel().check_open(i32::try_from(number).map_err(|_| Errno::EINVAL)?) {
                Ok(number) => oxuv_core::Stdio::Descriptor(number),
                Err(_) => oxuv_core::Stdio::Ignore,
            },
            Source::Pipe(pipe) => {
                oxuv_core::Stdio::Pipe { key: key_of(pipe)?, readable: number != 0, writable: !matches!(number, 1 | 2) }
            }
            Source::Duplex(pipe) => oxuv_core::Stdio::Pipe { key: key_of(pipe)?, readable: true, writable: true },
            Source::Handle(handle) => oxuv_core::Stdio::Handle(key_of(handle)?),
            Source::Descriptor(descriptor) => oxuv_core::Stdio::Descriptor(descriptor.as_raw_fd()),
            Source::Number(number) => oxuv_core::Stdio::Descriptor(*number),
        })
    }
}

/// A copy of a descriptor that was made elsewhere: a file, a socket, an end of a pipe.
impl<D: Into<OwnedFd>> From<D> for Stdio {
    fn from(descriptor: D) -> Stdio {
        Stdio(Source::Descriptor(descriptor.into()))
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Null => f.write_str("null"),
            Source::Piped => f.write_str("piped"),
            Source::Same => f.write_str("inherit"),
            Source::Pipe(pipe) | Source::Duplex(pipe) => pipe.fmt(f),
            Source::Handle(handle) => handle.fmt(f),
            Source::Descriptor(descriptor) => descriptor.fmt(f),
            Source::Number(number) => number.fmt(f),
        }
    }
}

impl Command {
    /// A program without arguments, with our environment, working directory and standard streams. Without a slash it is
    /// looked for in the directories that the child's `PATH` names, `/usr/bin` and `/bin` without one.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            program: program.as_ref().to_owned(),
            own_name: None,
            args: Vec::new(),
            clears_env: false,
            env: BTreeMap::new(),
            directory: None,
            user: None,
            group: None,
            detached: false,
            is_killed_on_drop: false,
            stdio: (0..3).map(|_| Stdio::inherit()).collect(),
        }
    }

    /// The name that the program is told as its own, its argument 0: what it was looked for by, without this.
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.own_name = Some(name.as_ref().to_owned());
        self
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Command {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Command {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Command {
        self.env.insert(name.as_ref().to_owned(), Some(value.as_ref().to_owned()));
        self
    }

    /// Takes a variable out of the child's environment.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.env.insert(name.as_ref().to_owned(), None);
        self
    }

    /// Takes all variables out of the child's environment, those set so far included.
    pub fn env_clear(&mut self) -> &mut Command {
        self.clears_env = true;
        self.env.clear();
        self
    }

    /// The directory to work in. A program that is given by a relative path is looked for from there.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Command {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// The user to be. The supplementary groups are dropped.
    #[doc(alias = "UV_PROCESS_SETUID")]
    pub fn uid(&mut self, user: u32) -> &mut Command {
        self.user = Some(user);
        self
    }

    /// The group to be of. The supplementary groups are dropped.
    #[doc(alias = "UV_PROCESS_SETGID")]
    pub fn gid(&mut self, group: u32) -> &mut Command {
        self.group = Some(group);
        self
    }

    /// Whether the child leads a session of its own: it has no terminal, and what a terminal sends to us does not reach it.
    #[doc(alias = "UV_PROCESS_DETACHED")]
    pub fn detached(&mut self, detached: bool) -> &mut Command {
        self.detached = detached;
        self
    }

    /// Whether the child is killed, by SIGKILL, when its [`Child`] or its loop is dropped, or its [`Process`] closed, before its
    /// end. Else it goes on.
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Command {
        self.is_killed_on_drop = kill;
        self
    }

    /// The standard input.
    pub fn stdin(&mut self, stdio: impl Into<Stdio>) -> &mut Command {
        self.descriptor(0, stdio)
    }

    /// The standard output.
    pub fn stdout(&mut self, stdio: impl Into<Stdio>) -> &mut Command {
        self.descriptor(1, stdio)
    }

    /// The standard error.
    pub fn stderr(&mut self, stdio: impl Into<Stdio>) -> &mut Command {
        self.descriptor(2, stdio)
    }

    /// What the child has as the descriptor of this number. Others have what they had before, or nothing.
    pub fn descriptor(&mut self, number: u16, stdio: impl Into<Stdio>) -> &mut Command {
        let number = usize::from(number);
        if number >= self.stdio.len() {
            self.stdio.resize_with(number + 1, Stdio::null);
        }
        self.stdio[number] = stdio.into();
        self
    }

    /// Makes the child. When this returns, its program runs, with our environment as it is unless changes were asked for: nobody may change
    /// ours meanwhile, as [`std::env::set_var`] says. `on_exit` is called once, when it has ended: with ECHILD when
    /// nobody knows how: somebody else has waited for it, or SIGCHLD is ignored, and the kernel does not keep it, as it does
    /// from Linux 6.15 on. Phase: poll, after all that was ready to be read
    /// with it. Can be called again, but for the pipes.
    ///
    /// # Errors
    /// ENOENT, EACCES, ENOEXEC, E2BIG when the program cannot be run; ENOENT, ENOTDIR, EACCES for the directory; EPERM for
    /// user and group; EBADF for a number that is no descriptor; EINVAL for texts with a zero byte, for closing handles, and those of other loops or without a
    /// descriptor; EBUSY for a pipe that has one; EAGAIN, EMFILE, ENFILE, ENOMEM. No child is left then, and nothing is changed.
    #[doc(alias = "uv_spawn")]
    #[track_caller]
    pub fn spawn(
        &self,
        owner: &LoopRef,
        on_exit: impl FnOnce(&Process, Result<ExitStatus>) + 'static,
    ) -> Result<Process> {
        let program = text(&self.program)?;
        let (mut args, mut env) = (Texts::default(), self.environment()?);
        for arg in [self.own_name.as_ref().unwrap_or(&self.program)].into_iter().chain(&self.args) {
            args.add(&[arg.as_bytes()])?;
        }
        let directory = self.directory.as_ref().map(|directory| text(directory.as_os_str())).transpose()?;
        let command = kernel::Command {
            file: &program,
            args: args.list()?,
            env: env.as_mut().map(Texts::list).transpose()?,
            directory: directory.as_deref().map(CStr::as_ref),
            user: self.user,
            group: self.group,
            detached: self.detached,
        };
        let handle = Handle::make(owner, |core| {
            let stdio = self.stdio.iter().enumerate().map(|(number, stdio)| stdio.for_core(core, number, owner));
            let stdio = stdio.collect::<Result<Vec<_>>>()?;
            let key = core.process_spawn(0, &command, &stdio)?;
            if self.is_killed_on_drop {
                core.process_bind(key)?;
            }
            Ok(key)
        })?;
        let mut on_exit = Some(on_exit);
        handle.set_callback(Callback::Exit(Box::new(move |process, result| {
            if let Some(on_exit) = on_exit.take() {
                on_exit(process, result.map(|exit| ExitStatus::from_raw(exit.raw())));
            }
        })));
        Ok(Process(handle))
    }

    /// What the child has in place of our environment, if that is not it.
    fn environment(&self) -> Result<Option<Texts>> {
        if !self.clears_env && self.env.is_empty() {
            return Ok(None);
        }
        let mut variables = Texts::default();
        let mut add = |name: &OsStr, value: &OsStr| variables.add(&[name.as_bytes(), b"=", value.as_bytes()]);
        if !self.clears_env {
            for (name, value) in std::env::vars_os().filter(|(name, _)| !self.env.contains_key(name)) {
                add(&name, &value)?;
            }
        }
        for (name, value) in &self.env {
            if let Some(value) = value {
                add(name, value)?;
            }
        }
        Ok(Some(variables))
    }
}

fn text(text: &OsStr) -> Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| Errno::EINVAL)
}

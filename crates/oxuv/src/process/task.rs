//! Child processes for tasks.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::Location;
use std::pin::pin;
use std::process::{ExitStatus, Output};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::{Command, Process, Source, Stdio};
use crate::callbacks::Callback;
use crate::net::UnixStream;
use crate::task::{here, remember};
use crate::{Errno, Pipe, Result, Signal};

impl Stdio {
    /// A pipe whose other end the [`Child`] has: for [`Command::start`] only.
    pub fn piped() -> Stdio {
        Stdio(Source::Piped)
    }
}

impl Command {
    /// Starts the child, for tasks. What is [piped](Stdio::piped) of its standard descriptors has its other end in the [`Child`].
    ///
    /// ```
    /// use oxuv::{Command, Loop, Stdio};
    ///
    /// let lp = Loop::new()?;
    /// lp.block_on(async {
    ///     let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).start()?;
    ///     let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    ///     stdin.write_all(b"there and back").await?;
    ///     drop(stdin);
    ///     let mut text = [0; 14];
    ///     stdout.read_exact(&mut text).await?;
    ///     assert_eq!(&text, b"there and back");
    ///     assert!(child.wait().await?.success());
    ///     std::io::Result::Ok(())
    /// })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Command::spawn`]; EINVAL for another descriptor than the first three that is piped.
    ///
    /// # Panics
    /// When no loop runs on this thread.
    #[track_caller]
    pub fn start(&mut self) -> io::Result<Child> {
        let owner = here::current();
        let mut ends = [None, None, None];
        for (end, stdio) in ends.iter_mut().zip(&mut self.stdio) {
            if matches!(stdio.0, Source::Piped) {
                let pipe = Pipe::new(&owner)?;
                *stdio = Stdio::pipe(&pipe);
                // It is closed if there is no child.
                *end = Some(UnixStream::from_handle(pipe));
            }
        }
        let end: Rc<RefCell<End>> = Rc::default();
        let tells = Rc::clone(&end);
        let process = self.spawn(&owner, move |_, status| {
            let waker = {
                let mut end = tells.borrow_mut();
                end.status = Some(status);
                end.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        for (end, stdio) in ends.iter().zip(&mut self.stdio) {
            if end.is_some() {
                *stdio = Stdio::piped();
            }
        }
        let [stdin, stdout, stderr] = ends;
        Ok(Child { process: process?, end, is_killed_on_drop: self.is_killed_on_drop, stdin, stdout, stderr })
    }

    /// Runs the child to its end.
    ///
    /// Cancel safety: if this is dropped, the child goes on, or is [killed](Command::kill_on_drop).
    ///
    /// # Errors
    /// As [`Command::start`]; ECHILD when how it has ended cannot be known.
    ///
    /// # Panics
    /// As [`Command::start`].
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> {
        let site = Location::caller();
        async move { here::made_at(site, || self.start())?.wait().await }
    }

    /// Runs the child to its end, and collects what it writes to standard output and error, unless that goes elsewhere. What it
    /// reads is nothing, unless that comes from somewhere.
    ///
    /// ```
    /// let lp = oxuv::Loop::new()?;
    /// let output = lp.block_on(oxuv::Command::new("echo").arg("hello").output())?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// Cancel safety: if this is dropped, the child goes on, and what it writes meets with EPIPE; or it is
    /// [killed](Command::kill_on_drop).
    ///
    /// # Errors
    /// As [`Command::status`].
    ///
    /// # Panics
    /// As [`Command::start`].
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> {
        let site = Location::caller();
        async move {
            for (stdio, other) in self.stdio.iter_mut().zip([Stdio::null(), Stdio::piped(), Stdio::piped()]) {
                if matches!(stdio.0, Source::Same) {
                    *stdio = other;
                }
            }
            here::made_at(site, || self.start())?.wait_with_output().await
        }
    }
}

/// How a child has ended, if it has.
#[derive(Default)]
struct End {
    status: Option<Result<ExitStatus>>,
    waker: Option<Waker>,
}

/// A child process that tasks wait for. Dropped, the child goes on, unless it is to be [killed](Command::kill_on_drop). The loop waits for
/// its end all the same, so that it does not stay as a zombie, but is not kept running by it.
#[derive(Debug)]
pub struct Child {
    process: Process,
    end: Rc<RefCell<End>>,
    is_killed_on_drop: bool,
    /// What it reads, if that is [piped](Stdio::piped). Drop it to have the child find its end.
    pub stdin: Option<UnixStream>,
    /// What it writes, if that is [piped](Stdio::piped).
    pub stdout: Option<UnixStream>,
    /// What it writes about errors, if that is [piped](Stdio::piped).
    pub stderr: Option<UnixStream>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.status.fmt(f)
    }
}

impl Child {
    /// The number of its process, also after its end.
    ///
    /// # Errors
    /// EINVAL when the loop is gone.
    pub fn id(&self) -> io::Result<i32> {
        Ok(self.process.id()?)
    }

    /// Sends it a signal; see [`Process::kill`].
    ///
    /// # Errors
    /// As that.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        Ok(self.process.kill(number)?)
    }

    /// Ends it by SIGKILL. It is a zombie until it is waited for, or the loop runs. Nothing happens if it has ended.
    ///
    /// # Errors
    /// EPERM when it has made itself another user; EINVAL when the loop is gone.
    pub fn start_kill(&self) -> io::Result<()> {
        match self.process.kill(Signal::KILL) {
            Err(Errno::ESRCH) => Ok(()),
            killed => Ok(killed?),
        }
    }

    /// Ends it by SIGKILL, and waits for that.
    ///
    /// Cancel safety: it ends all the same.
    ///
    /// # Errors
    /// As [`Child::start_kill`] and [`Child::wait`].
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// How it has ended, if it has.
    ///
    /// # Errors
    /// ECHILD when that cannot be known.
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        Ok(self.end.borrow().status.transpose()?)
    }

    /// Waits until it has ended. What it reads ends now, if the [`Child`] still has that.
    ///
    /// Cancel safety: nothing is lost; it can be waited for again and again.
    ///
    /// # Errors
    /// ECHILD when how it has ended cannot be known; EINVAL when the loop is gone, and it has not ended by then.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|context| self.poll_wait(context)).await
    }

    fn poll_wait(&self, context: &Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let mut end = self.end.borrow_mut();
        if let Some(status) = end.status {
            return Poll::Ready(Ok(status?));
        }
        // Of a loop that is gone nobody would hear.
        self.process.id()?;
        let old = remember(&mut end.waker, context);
        drop(end);
        drop(old);
        Poll::Pending
    }

    /// Waits until it has ended, and collects what it has written.
    ///
    /// Cancel safety: if this is dropped, so is the [`Child`], and what was collected is lost.
    ///
    /// # Errors
    /// As [`Child::wait`].
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let (out, err) = (self.stdout.take(), self.stderr.take());
        let (stdout, stderr) = both(read_all(out), read_all(err)).await;
        let status = self.wait().await?;
        Ok(Output { status, stdout: stdout?, stderr: stderr? })
    }
}

impl Child {
    /// Has the loop wait for the end of the child, without being kept running by that.
    fn let_go(&self) -> Result<()> {
        if self.is_killed_on_drop {
            // It may be about to end.
            let _ = self.process.kill(Signal::KILL);
        }
        self.process.unref()?;
        self.process.with(|core, key| core.hide(key))?;
        self.process.set_callback(Callback::Exit(Box::new(|process, _| {
            let _ = process.close();
        })));
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let is_over = self.end.borrow().status.is_some();
        if is_over || self.let_go().is_err() {
            // It fails only for a loop that is gone.
            let _ = self.process.close();
        }
    }
}

/// All that comes.
async fn read_all(stream: Option<UnixStream>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let Some(stream) = stream else { return Ok(all) };
    let mut buf = vec![0; 16 * 1024];
    loop {
        match stream.read(&mut buf).await? {
            0 => return Ok(all),
            count => all.extend_from_slice(&buf[..count]),
        }
    }
}

/// Waits for both.
async fn both<A: Future, B: Future>(one: A, other: B) -> (A::Output, B::Output) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    poll_fn(|context| {
        if first.is_none()
            && let Poll::Ready(output) = one.as_mut().poll(context)
        {
            first = Some(output);
        }
        if second.is_none()
            && let Poll::Ready(output) = other.as_mut().poll(context)
        {
            second = Some(output);
        }
        match (first.take(), second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            pending => {
                (first, second) = pending;
                Poll::Pending
            }
        }
    })
    .await
}

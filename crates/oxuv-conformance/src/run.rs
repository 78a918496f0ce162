//! Running one test: in a folder, a session with a terminal and, as root, a network of its own.

use std::fs::{self, File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, fchown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::leaks::{LOST, Left};
use crate::outcome::{End, Outcome};
use crate::place::Place;
use crate::{about, run_tool};

/// What a test has of our own environment: whether files are done by a ring.
const RINGS: &str = "UV_USE_IO_URING";

/// So many times as much time for a test whose time was up.
const MORE_PATIENCE: u32 = 4;

/// Makes the network of a test.
const NETWORK: &str = include_str!("network.sh");

/// As whom tests run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The user's number.
    pub id: u32,
    /// The number of the user's group.
    pub group: u32,
    /// Whether it is not the user who has started us.
    pub other: bool,
}

impl User {
    /// The user of this name or number; the one who has started us if none is given.
    pub fn find(name: Option<&str>) -> Result<User, String> {
        let number = |option: &str| {
            let text = run_tool(Command::new("id").arg(option).args(name))?;
            text.trim().parse::<u32>().map_err(about("id"))
        };
        let me = geteuid().as_raw();
        let (id, group) = match name.and_then(|name| name.parse().ok()) {
            Some(id) => (id, id),
            None => (number("-u")?, number("-g")?),
        };
        if id != me && me != 0 {
            return Err("only root may run tests as another user".into());
        }
        Ok(User { id, group, other: id != me })
    }
}

/// Runs tests.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The test program.
    pub program: &'a Path,
    /// Where.
    pub place: &'a Place,
    /// As whom.
    pub user: User,
    /// Whether each test gets a network of its own.
    pub isolated: bool,
    /// How many times as long as libuv's runner allows a test may take, which is 5 seconds in general.
    pub patience: u32,
    /// After this time the runner itself is killed.
    pub time_limit: Duration,
    /// Whether the test (not its helpers) runs under valgrind.
    pub valgrind: bool,
    /// Whether the program tells what it leaves behind.
    pub leaks: bool,
}

/// A test that was run.
#[derive(Debug, Clone)]
pub struct Run {
    /// What came of it.
    pub outcome: Outcome,
    /// What was printed.
    pub output: String,
    /// How long it took.
    pub took: Duration,
    /// What it has left behind, if that is looked at and it came to its end.
    pub left: Option<Left>,
}

/// Whether this process can make networks.
pub fn can_isolate(place: &Place) -> bool {
    geteuid().is_root() && in_network(place).arg("true").output().is_ok_and(|output| output.status.success())
}

fn in_network(place: &Place) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--", "sh", "-c", NETWORK, "sh"]).arg(place.names());
    command
}

impl Runner<'_> {
    /// Runs the test up to so many times, until it passes. One whose time is up is first given much more of it: that is enough for
    /// one that was slow on a busy machine, and not for one that hangs. With LeakSanitizer, for which a child may wait for ever, it is
    /// only tried again.
    pub fn run_up_to(&self, test: &str, tries: u32) -> Result<Run, String> {
        let mut run = self.run(test)?;
        if run.outcome == Outcome::Timeout {
            let patience = if self.leaks { self.patience } else { self.patience.saturating_mul(MORE_PATIENCE) };
            println!(
                "{test}: its time was up after {:.0} s; once more, with patience {patience}",
                run.took.as_secs_f64()
            );
            run = Runner { patience, user: self.user.clone(), ..*self }.run(test)?;
        }
        for _ in 1..tries {
            if run.outcome.rank() > 0 {
                break;
            }
            run = self.run(test)?;
        }
        Ok(run)
    }

    /// Runs the test.
    pub fn run(&self, test: &str) -> Result<Run, String> {
        let work = self.place.work(test, (self.user.id, self.user.group))?;
        let file = self.place.output(test);
        let output = File::create(&file).map_err(about(file.display()))?;
        if self.valgrind {
            // libuv's runner looks for it in the working directory.
            symlink("/usr/bin/valgrind", work.0.join("valgrind")).map_err(about("valgrind"))?;
        }
        let (_terminal, stdin) = self.terminal().map_err(about("no terminal"))?;

        let leaks = if self.leaks { Some(self.place.leaks(test, (self.user.id, self.user.group))?) } else { None };

        let mut command = self.command(test);
        if let Some(folder) = &leaks {
            // The test's own result is to stay what it is.
            let options = format!("exitcode=0:log_path={}", folder.join(LOST).display());
            command.env("OXUV_LEAKS", folder).env("LSAN_OPTIONS", options);
        }
        command.current_dir(&work.0).env("HOME", &work.0);
        command.stdin(stdin).stdout(output.try_clone().map_err(about(test))?).stderr(output);
        let start = Instant::now();
        let child = command.spawn().map_err(about("a test does not start"))?;
        // The terminal must be open nowhere but in the test when that ends.
        drop(command);
        let end = wait(child, start + self.time_limit).map_err(about(test))?;
        let took = start.elapsed();
        let output = String::from_utf8_lossy(&fs::read(&file).map_err(about(file.display()))?).into_owned();
        let left = leaks.map(|folder| Left::read(&folder)).transpose()?.flatten();
        Ok(Run { outcome: Outcome::read(&output, end), output, took, left })
    }

    /// Each program of this line replaces itself by the next one, so that they are all one process. `setsid` makes the
    /// terminal on its standard input the controlling one.
    fn command(&self, test: &str) -> Command {
        let mut command = if self.isolated { in_network(self.place) } else { Command::new("env") };
        command.args(["setsid", "--ctty"]);
        if self.user.other {
            command.arg("setpriv").arg(format!("--reuid={}", self.user.id)).arg(format!("--regid={}", self.user.group));
            command.arg("--clear-groups");
        }
        command.arg(self.program).arg(test);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("UV_RUN_AS_ROOT", "1");
        command.env("UV_TEST_TIMEOUT_MULTIPLIER", self.patience.to_string());
        if let Some(choice) = std::env::var_os(RINGS) {
            command.env(RINGS, choice);
        }
        if self.valgrind {
            command.env("UV_USE_VALGRIND", "1");
        }
        command
    }

    /// Both ends of a new terminal, which has a size.
    fn terminal(&self) -> rustix::io::Result<(OwnedFd, Stdio)> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path: PathBuf = ptsname(&master, Vec::new())?.into_string().unwrap_or_default().into();
        let no_owner = OFlags::NOCTTY.bits() as i32;
        let open = OpenOptions::new().read(true).write(true).custom_flags(no_owner).open(path);
        let slave = open.map_err(|error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))?;
        tcsetwinsize(&slave, Winsize { ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })?;
        if self.user.other {
            let _ = fchown(&slave, Some(self.user.id), None);
        }
        Ok((master, slave.into()))
    }
}

/// Waits for the process, and kills it and its group when the time is up.
fn wait(mut child: Child, limit: Instant) -> std::io::Result<End> {
    let mut time_up = false;
    loop {
        if let Some(status) = child.try_wait()? {
            let signal = || End::Signal(status.signal().unwrap_or_default());
            return Ok(if time_up { End::TimeLimit } else { status.code().map_or_else(signal, End::Exit) });
        }
        if Instant::now() > limit {
            time_up = true;
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

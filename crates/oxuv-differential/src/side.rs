//! The two sides: processes of this program, each with one of the libraries. They are given programs, and answer with traces.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use oxuv_order::{Entry, parse, record};
use oxuv_order_libuv::{Libuv, VARIABLE};

/// The argument by which this program is one of the sides.
pub(crate) const ARGUMENT: &str = "side";

/// The line that ends a program, and a trace.
const END: &str = ".";

/// One side, as the other program sees it.
pub(crate) struct Side {
    library: Option<PathBuf>,
    has_ring: bool,
    running: Option<Running>,
}

struct Running {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Running {
    fn new(library: Option<&PathBuf>, has_ring: bool) -> Running {
        let mut command = Command::new(std::env::current_exe().expect("this program has a file"));
        // With one thread, jobs are done in their order.
        command
            .arg(ARGUMENT)
            .env("UV_THREADPOOL_SIZE", "1")
            .env("UV_USE_IO_URING", if has_ring { "1" } else { "0" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        match library {
            Some(path) => command.env(VARIABLE, path),
            None => command.env_remove(VARIABLE),
        };
        let mut child = command.spawn().expect("this program can be run again");
        let (to, from) = (child.stdin.take().expect("it is a pipe"), child.stdout.take().expect("it is a pipe"));
        Running { child, to, from: BufReader::new(from) }
    }

    /// The answer to a program that it was given.
    fn answer(&mut self) -> Option<Vec<Entry>> {
        let mut trace = Vec::new();
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line).ok()?;
            match line.trim_end_matches('\n').split_at_checked(1)? {
                (END, "") => return Some(trace),
                ("!", call) => trace.push(Entry::Called(call.to_owned())),
                (_, did) => trace.push(Entry::Did(did.to_owned())),
            }
        }
    }
}

impl Side {
    /// libuv, or the library at this path, which does operations on files by a ring or by threads.
    pub(crate) fn new(library: Option<PathBuf>, has_ring: bool) -> Side {
        Side { library, has_ring, running: None }
    }

    /// Begins a program.
    pub(crate) fn begin(&mut self, program: &str) {
        let library = self.library.as_ref();
        let running = self.running.get_or_insert_with(|| Running::new(library, self.has_ring));
        // If it is not there any more, there is no answer.
        let _ = running.to.write_all(format!("{program}{END}\n").as_bytes());
    }

    /// What has come of the program.
    ///
    /// # Errors
    /// How the process has ended: it crashed, or the program did not end.
    pub(crate) fn end(&mut self) -> Result<Vec<Entry>, String> {
        if let Some(trace) = self.running.as_mut().and_then(Running::answer) {
            return Ok(trace);
        }
        let ended = self.running.take().map(|mut running| running.child.wait());
        Err(format!("it has ended: {ended:?}"))
    }
}

/// Ends the process, which reads no more.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is one of the sides: reads programs until there are no more.
pub(crate) fn serve() {
    let mut program = String::new();
    for line in stdin().lock().lines().map_while(Result::ok) {
        if line != END {
            program += &line;
            program.push('\n');
            continue;
        }
        let scripts = parse(&program).expect("programs are scripts");
        let mut answer = String::new();
        for entry in scripts.first().map(record::<Libuv>).unwrap_or_default() {
            let (mark, text) = match entry {
                Entry::Called(call) => ('!', call),
                Entry::Did(did) => (' ', did),
            };
            answer.push(mark);
            answer += &text;
            answer.push('\n');
        }
        let mut out = stdout().lock();
        let written = out.write_all(format!("{answer}{END}\n").as_bytes()).and_then(|()| out.flush());
        if written.is_err() {
            return;
        }
        program.clear();
    }
}

//! The verbs that only C has.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use crate::driver::{ChildOf, Driver, FileArguments, Outcome, Stdio};
use crate::runner::Runner;

/// What a child runs that says what it ends with.
const TALKING: [&str; 3] = ["/bin/sh", "-c", "read code; echo $code; exit $code"];

impl<D: Driver> Runner<D> {
    /// A child, some of whose standard streams are pipes.
    pub(crate) fn spawn_of(&self, name: &str, how: &str, pipes: &[&str]) -> String {
        let first = |word| [word, "", ""];
        let words = match how {
            "missing" => first("/no/such/file"),
            "unknown" => first("oxuv-no-such-program"),
            "forbidden" => first("/etc/passwd"),
            "folder" => first("/etc"),
            "beneath" => first("/etc/passwd/x"),
            "empty" => first(""),
            _ => TALKING,
        };
        let nowhere = Path::new("/no/such/directory");
        let of = |input| {
            let mut stdio = vec![Stdio::Descriptor(input)];
            stdio.extend(pipes.iter().map(|name| match *name {
                "none" => Stdio::Ignore,
                name if name.starts_with('=') => Stdio::Stream(&name[1..]),
                name => Stdio::Pipe(name),
            }));
            match how {
                "closed" => stdio.push(Stdio::Descriptor(self.outside.descriptor("bad"))),
                "below" => stdio.push(Stdio::Descriptor(-1)),
                _ => {}
            }
            let directory = (how == "nowhere").then_some(nowhere);
            ChildOf { words: &words, stdio, directory, user: (how == "user").then_some(65534) }
        };
        match self.outside.child_of(name, |input| self.driver.spawn_of(name, &of(input))) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error,
        }
    }

    /// The number of a descriptor: that of a handle (`=a`), or of a kind.
    pub(crate) fn descriptor(&self, word: &str) -> Outcome<RawFd> {
        match word.strip_prefix('=') {
            Some(name) => self.driver.descriptor_of(name),
            None => Ok(self.outside.descriptor(word)),
        }
    }

    /// An operation on a file by its name in C, on a descriptor or on paths.
    pub(crate) fn file_call(&self, request: Option<&str>, call: &str, words: &[&str]) -> String {
        let outside = &self.outside;
        let path = |word: &&str| match *word {
            "nothing" => PathBuf::new(),
            "long" => outside.place(&"x".repeat(5000)),
            word => outside.place(word),
        };
        let number = |at: usize| words.get(at).map_or(-1, |word| outside.descriptor(word));
        let on = FileArguments { descriptor: number(0), to: number(1), paths: words.iter().map(path).collect() };
        self.driver.file_call(request, call, &on).unwrap_or_else(|error| error)
    }
}

//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::compile::Header;
use crate::library::{Form, Library};

/// How to call the program.
pub const USAGE: &str = "\
usage: oxuv-conformance [OPTION ...]

  --library ours|release|upstream|FILE   the library: ours (in cargo's dev profile; the default), ours in its release
                                         profile, libuv 1.53 itself, or any libuv.so.1
  --static                               the library's static form (FILE is a libuv.a)
  --header libuv|ours                    the header the tests are compiled against (libuv)
  --filter NAME                          only tests with NAME in their name; =NAME for this one (may be repeated)
  --user NAME|UID                        as this user; needs root
  --jobs N                               tests at a time; more than 1 needs root and `ip`, for networks of their own
  --patience N                           multiplies the time that libuv's runner allows a test (3)
  --time-limit SECONDS                   for a test and its runner; then they are killed (240)
  --valgrind                             each test under valgrind, whose errors make it fail; better with --patience 20
  --cflag FLAG                           for the compiler of the tests (may be repeated)
  --ldflag FLAG                          for their linker, behind the library (may be repeated)
  --leaks                                tell what tests leave behind: memory, descriptors, threads; what libuv leaves
                                         too does not count, nor do the tests' results
  --repeat N                             run all N times; a test's result is the worst one
  --list FILE                            the expected results (expected.tsv of this crate, for libuv upstream.tsv)
  --update                               write the results to that list
  --allow-worse                          ... also if some are worse
  --report                               group what does not pass by area and by missing function
  --verbose                              show what each test prints that does not pass";

/// What the command line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The library under test.
    pub library: Library,
    /// Which form of it.
    pub form: Form,
    /// The header.
    pub header: Header,
    /// Parts of names; all tests if empty.
    pub filters: Vec<String>,
    /// The user's name or number.
    pub user: Option<String>,
    /// Tests at a time.
    pub jobs: Option<usize>,
    /// Factor for the runner's own limits.
    pub patience: u32,
    /// The limit of ours.
    pub time_limit: Duration,
    /// Whether tests run under valgrind.
    pub valgrind: bool,
    /// What the compiler of the tests is given besides.
    pub cflags: Vec<String>,
    /// What their linker is given besides.
    pub ldflags: Vec<String>,
    /// Whether to look what tests leave behind.
    pub leaks: bool,
    /// How often.
    pub repeat: u32,
    /// The list of expected results.
    pub list: Option<PathBuf>,
    /// Whether to write the list.
    pub update: bool,
    /// Whether the list may get worse.
    pub allow_worse: bool,
    /// Whether to print the report.
    pub report: bool,
    /// Whether to print outputs.
    pub verbose: bool,
}

impl Options {
    /// Reads the words of the command line.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            library: Library::Ours { release: false },
            form: Form::Shared,
            header: Header::Libuv,
            filters: Vec::new(),
            user: None,
            jobs: None,
            patience: 3,
            time_limit: Duration::from_secs(240),
            valgrind: false,
            cflags: Vec::new(),
            ldflags: Vec::new(),
            leaks: false,
            repeat: 1,
            list: None,
            update: false,
            allow_worse: false,
            report: false,
            verbose: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"));
            match word.as_str() {
                "--library" => options.library = library(value()?),
                "--static" => options.form = Form::Static,
                "--header" => options.header = header(&value()?)?,
                "--filter" => options.filters.push(value()?),
                "--user" => options.user = Some(value()?),
                "--jobs" => options.jobs = Some(number(&value()?)? as usize),
                "--patience" => options.patience = number(&value()?)?,
                "--time-limit" => options.time_limit = Duration::from_secs(number(&value()?)?.into()),
                "--valgrind" => options.valgrind = true,
                "--cflag" => options.cflags.push(value()?),
                "--ldflag" => options.ldflags.push(value()?),
                "--leaks" => options.leaks = true,
                "--repeat" => options.repeat = number(&value()?)?,
                "--list" => options.list = Some(value()?.into()),
                "--update" => options.update = true,
                "--allow-worse" => options.allow_worse = true,
                "--report" => options.report = true,
                "--verbose" => options.verbose = true,
                _ => return Err(format!("{word:?} is unknown\n{USAGE}")),
            }
        }
        if options.leaks && options.valgrind {
            return Err("--leaks and --valgrind exclude each other".into());
        }
        if options.leaks && options.update {
            return Err("--leaks says nothing about the list".into());
        }
        Ok(options)
    }

    /// Whether the test is to be run.
    pub fn wants(&self, test: &str) -> bool {
        let matches = |filter: &String| match filter.strip_prefix('=') {
            Some(name) => test == name,
            None => test.contains(filter.as_str()),
        };
        self.filters.is_empty() || self.filters.iter().any(matches)
    }

    /// The file with the expected results.
    pub fn list(&self) -> PathBuf {
        let name = if self.library == Library::Upstream { "upstream.tsv" } else { "expected.tsv" };
        self.list.clone().unwrap_or_else(|| list(name))
    }
}

/// A list of this crate.
pub fn list(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn library(word: String) -> Library {
    match word.as_str() {
        "ours" => Library::Ours { release: false },
        "release" => Library::Ours { release: true },
        "upstream" => Library::Upstream,
        _ => Library::File(word.into()),
    }
}

fn header(word: &str) -> Result<Header, String> {
    match word {
        "libuv" => Ok(Header::Libuv),
        "ours" => Ok(Header::Ours),
        _ => Err(format!("{word:?} is no header\n{USAGE}")),
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().ok().filter(|&number| number > 0).ok_or_else(|| format!("{word:?} is no number above 0"))
}

//! The command line.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal, Write, stderr, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lexopt::Arg;
use oxuv::observe::{path_for_process, view};
use oxuv_js::{Options, Program, Source, WhyAlive};

const HELP: &str = "\
Runs JavaScript on the oxuv event loop, in Node's order.

Usage: oxuv [options] [FILE] [ARGS...]
       oxuv [options] -e CODE [ARGS...]
       oxuv [options] < FILE        or with - for FILE, and ARGS behind it
       oxuv                         a prompt, on a terminal
       oxuv trace-view TRACE        a page that shows what --trace wrote, on the
                                    standard output

What follows FILE belongs to the script; -- ends the options, too.

Options:
  -e, --eval CODE         run CODE
  -p, --print [CODE]      run CODE, or the standard input, and print its value
  -c, --check             only look for errors in the syntax of FILE
  -i, --interactive       a prompt, even if no terminal is there
  -r, --require MODULE    load MODULE before the script; may be given more than once
      --input-type TYPE   what CODE and the standard input are: commonjs or module
      --max-memory MIB    the most memory that the script may use
      --unhandled-rejections MODE
                          what becomes of a rejected promise without a handler:
                          throw (the default), strict, warn, none, warn-with-error-codes
      --no-warnings       print no warnings
      --trace-warnings    print warnings with their trace
      --no-deprecation, --throw-deprecation, --trace-deprecation
                          what becomes of warnings of old functions
      --expose-gc         the global function gc()
      --max-http-header-size BYTES
                          how long the head of a message of HTTP may be: 16384
      --insecure-http-parser
                          takes what is not quite HTTP
      --trace FILE        write what the loop does to FILE, for Perfetto and
                          chrome://tracing; %p in it is the process's id
      --warn-slow MS      print callbacks that take so many milliseconds, and
                          say where the script is while one is under way
      --why-alive[=SIGNAL]
                          print what keeps the loop alive when SIGINT, SIGTERM
                          or process.exit() ends it; or whenever SIGNAL comes
      --metrics FILE      write the loop's numbers to FILE at the end, as
                          Prometheus reads them; - is the standard error
  -h, --help              print this
  -v, --version           print the version
";

/// Options that the script's side acts upon, as in Node; it also finds them in `process.execArgv`.
const FLAGS: &[&str] = &[
    "no-warnings",
    "trace-warnings",
    "no-deprecation",
    "throw-deprecation",
    "trace-deprecation",
    "expose-gc",
    "insecure-http-parser",
];

const REJECTION_MODES: &[&str] = &["throw", "strict", "warn", "none", "warn-with-error-codes"];

/// The exit code for a command line that is wrong: Node's.
const BAD_ARGUMENT: u8 = 9;

enum Command {
    Help,
    Version,
    Run(Source, Box<Options>),
    TraceView(OsString),
}

pub(crate) fn main() -> ExitCode {
    match parse(lexopt::Parser::from_env()) {
        Ok(Command::Help) => print(HELP),
        Ok(Command::Version) => print(concat!("oxuv ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Command::Run(source, options)) => run(source, *options),
        Ok(Command::TraceView(path)) => trace_view(&path),
        Err(error) => {
            say(&format!("oxuv: {error}\nTry `oxuv --help`.\n"));
            ExitCode::from(BAD_ARGUMENT)
        }
    }
}

fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut options = Options::default();
    let mut code = None;
    let mut file = None;
    let mut is_prompt = false;
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut own = given.len();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Short('v') | Arg::Long("version") => return Ok(Command::Version),
            Arg::Short('e') | Arg::Long("eval") => code = Some(text(parser.value()?)?),
            // Also as `-pe CODE`.
            Arg::Short('p') | Arg::Long("print") => {
                options.print = true;
                if let Some(value) = parser.optional_value() {
                    match value.to_str().and_then(|letters| letters.strip_prefix('e')) {
                        Some("") => code = Some(text(parser.value()?)?),
                        _ => code = Some(text(value)?),
                    }
                } else if let Some(value) = value_behind(&mut parser)? {
                    code = Some(text(value)?);
                }
            }
            Arg::Short('c') | Arg::Long("check") => options.check = true,
            Arg::Short('i') | Arg::Long("interactive") => is_prompt = true,
            Arg::Short('r') | Arg::Long("require") => options.requires.push(text(parser.value()?)?),
            Arg::Long("input-type") => {
                options.is_module = match text(parser.value()?)?.as_str() {
                    "module" => true,
                    "commonjs" => false,
                    _ => return Err("--input-type must be module or commonjs".into()),
                }
            }
            Arg::Long("unhandled-rejections") => {
                let mode = text(parser.value()?)?;
                if !REJECTION_MODES.contains(&mode.as_str()) {
                    return Err(format!(
                        "invalid value for --unhandled-rejections: it is one of {}",
                        REJECTION_MODES.join(", ")
                    )
                    .into());
                }
                options.flags.push(format!("--unhandled-rejections={mode}"));
            }
            Arg::Long(name) if FLAGS.contains(&name) => options.flags.push(format!("--{name}")),
            Arg::Long("max-http-header-size") => {
                let size =
                    text(parser.value()?)?.parse::<u32>().map_err(|_| "--max-http-header-size must be a number")?;
                options.flags.push(format!("--max-http-header-size={size}"));
            }
            Arg::Long("trace") => options.observing.trace = Some(path_for_process(&parser.value()?)),
            Arg::Long("warn-slow") => {
                let milliseconds = text(parser.value()?)?.parse().ok().filter(|&milliseconds| milliseconds > 0);
                let milliseconds = milliseconds.ok_or("--warn-slow must be a number of milliseconds")?;
                options.observing.slow = Some(Duration::from_millis(milliseconds));
            }
            Arg::Long("metrics") => options.observing.metrics = Some(path_for_process(&parser.value()?)),
            Arg::Long("why-alive") => {
                let signal = parser.optional_value().map(text).transpose()?;
                options.observing.why_alive = Some(match signal {
                    None => WhyAlive::AtEnd,
                    Some(name) => {
                        let number = oxuv_os::signal::number_of(&name).ok_or_else(|| format!("{name} is no signal"))?;
                        WhyAlive::At(number)
                    }
                });
            }
            Arg::Long("max-memory") => {
                let mib = text(parser.value()?)?;
                let bytes = mib.parse::<usize>().ok().filter(|mib| *mib > 0).and_then(|mib| mib.checked_mul(1 << 20));
                options.max_memory = Some(bytes.ok_or_else(|| format!("{mib} is no number of MiB"))?);
            }
            Arg::Value(value) => {
                // What follows belongs to the script.
                let mut rest: Vec<OsString> = parser.raw_args()?.collect();
                if value == "trace-view" && own == given.len() && !Path::new(&value).exists() {
                    return match rest.pop() {
                        Some(trace) if rest.is_empty() => Ok(Command::TraceView(trace)),
                        _ => Err("trace-view takes one file: oxuv trace-view TRACE".into()),
                    };
                }
                own = given.len() - rest.len() - 1;
                if code.is_some() {
                    options.args.push(value);
                } else {
                    file = Some(value);
                }
                options.args.extend(rest);
                break;
            }
            other => return Err(other.unexpected()),
        }
    }
    let own = given[..own].iter().filter(|arg| *arg != "--");
    options.exec_args = own.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let source = match (code, file) {
        (Some(_), _) if options.check => return Err("--check needs a FILE".into()),
        (Some(code), _) => Source::Eval(code),
        (None, Some(file)) if file != "-" => Source::File(file.into()),
        (None, Some(dash)) => {
            // As in Node, the script sees it.
            options.args.insert(0, dash);
            Source::Stdin
        }
        (None, None) if is_prompt || (stdin().is_terminal() && !options.print) => Source::Prompt,
        _ => Source::Stdin,
    };
    Ok(Command::Run(source, Box::new(options)))
}

/// The argument behind an option that may do without, unless that is an option itself.
fn value_behind(parser: &mut lexopt::Parser) -> Result<Option<OsString>, lexopt::Error> {
    let mut rest = parser.raw_args()?;
    Ok(match rest.peek() {
        Some(next) if !next.to_string_lossy().starts_with('-') => rest.next(),
        _ => None,
    })
}

fn text(value: OsString) -> Result<String, lexopt::Error> {
    value.into_string().map_err(lexopt::Error::NonUnicodeValue)
}

fn run(source: Source, options: Options) -> ExitCode {
    // A file that grows beyond what is allowed is an error of who writes it. Who has said something else has it so.
    let _ = oxuv_os::signal::ignore(oxuv_os::signal::XFSZ);
    match Program::new(options).and_then(|program| program.run(source).inspect(|_| std::mem::forget(program))) {
        // The system takes the memory back at once; the engine would do it piece by piece.
        Ok(code) => ExitCode::from(code as u8),
        Err(error) => {
            say(&format!("oxuv: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn trace_view(path: &OsStr) -> ExitCode {
    let written =
        File::open(path).and_then(|trace| view::write(BufReader::new(trace), BufWriter::new(stdout().lock())));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("oxuv: {}: {error}\n", path.display()));
            ExitCode::FAILURE
        }
    }
}

fn print(text: &str) -> ExitCode {
    match stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn say(text: &str) {
    // There is nobody to tell if standard error is gone.
    let _ = stderr().write_all(text.as_bytes());
}

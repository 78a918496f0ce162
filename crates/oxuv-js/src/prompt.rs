//! The prompt: `oxuv` alone on a terminal.
//!
//! A thread of its own reads the lines, so that the loop runs meanwhile: timers come while somebody types.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, channel};

use oxuv::{Async, Loop, Mode, Sender as Wake, Signal};
use rquickjs::{Ctx, Function, Object};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::host::Host;

/// What the reading thread tells.
enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// Set by Ctrl+C while a line is worked off, which ends it.
pub(crate) type Interrupt = Arc<AtomicBool>;

/// Watches for Ctrl+C: while a line is read the terminal does not make it a signal. A thread of its own does so, since a line
/// that does not end keeps the loop's.
pub(crate) fn watch_interrupts() -> Interrupt {
    let interrupt = Interrupt::default();
    let told = interrupt.clone();
    let (begun, begins) = mpsc::channel::<()>();
    let watch = move || -> oxuv::Result<()> {
        let lp = Loop::new()?;
        let signal = Signal::new(&lp)?;
        signal.start(Signal::INT, move |_, _| told.store(true, Ordering::Relaxed))?;
        drop(begun);
        lp.run(Mode::Default)?;
        Ok(())
    };
    // Without it Ctrl+C ends the program.
    let _ = std::thread::Builder::new().name("oxuv-interrupt".to_owned()).spawn(watch);
    // Until it watches, or has failed, the sender is there.
    let _ = begins.recv();
    interrupt
}

/// What `lib/prompt.js` says is to be done next.
const READ: i32 = 0;
const READ_MORE: i32 = 1;
const END: i32 = 2;

const PROMPT: &str = "> ";
const MORE: &str = "... ";

/// Starts the prompt; the loop then runs until the end of the input.
///
/// # Errors
/// Those of the loop and the engine; no thread.
pub(crate) fn start(
    host: &std::rc::Rc<Host>,
    ctx: &Ctx<'_>,
    library: &Object<'_>,
    interrupt: Interrupt,
) -> rquickjs::Result<()> {
    library.get::<_, Function<'_>>("start")?.call::<_, ()>(())?;
    let line: crate::host::Kept = library.get("line")?;
    let forget: crate::host::Kept = library.get("forget")?;
    let (typed, lines) = channel();
    let (ask, asked) = channel();
    let told = host.clone();
    let prompt = ask.clone();
    let mut was_interrupted = false;
    let wake = Async::new(&host.lp, move |wake| {
        while let Ok(typed) = lines.try_recv() {
            let next = told.context.with(|ctx| -> rquickjs::Result<Option<&'static str>> {
                Ok(match typed {
                    Typed::Line(text) => {
                        was_interrupted = false;
                        interrupt.store(false, Ordering::Relaxed);
                        let line = line.clone().restore(&ctx)?;
                        match told.call_for(&ctx, &line, (text,)).unwrap_or(READ) {
                            READ_MORE => Some(MORE),
                            END => None,
                            _ => Some(PROMPT),
                        }
                    }
                    Typed::Interrupt => {
                        let had_lines = forget.clone().restore(&ctx)?.call::<_, bool>(())?;
                        if had_lines {
                            Some(PROMPT)
                        } else if std::mem::replace(&mut was_interrupted, true) {
                            None
                        } else {
                            // Whoever cannot read it has no terminal any more.
                            let _ = writeln!(stdout(), "(To exit, press Ctrl+C again or Ctrl+D or type .exit)");
                            Some(PROMPT)
                        }
                    }
                    Typed::End => None,
                })
            });
            match next {
                Ok(Some(next)) => drop(prompt.send(next)),
                Ok(None) | Err(_) => drop(wake.close()),
            }
        }
    })
    .map_err(|_| rquickjs::Exception::throw_message(ctx, "no descriptor for the prompt"))?;
    let sender = wake.sender().map_err(|_| rquickjs::Error::Unknown)?;
    std::thread::Builder::new()
        .name("oxuv-prompt".to_owned())
        .spawn(move || read(&asked, &typed, &sender))
        .map_err(|error| rquickjs::Exception::throw_message(ctx, &format!("no thread for the prompt: {error}")))?;
    // The thread waits for this.
    let _ = ask.send(PROMPT);
    Ok(())
}

/// Reads a line each time it is asked to, with the prompt that it is given.
fn read(asked: &Receiver<&'static str>, typed: &Sender<Typed>, wake: &Wake) {
    let history = history();
    let mut editor = DefaultEditor::new();
    if let (Ok(editor), Some(history)) = (&mut editor, &history) {
        // There is none the first time.
        let _ = editor.load_history(history);
    }
    while let Ok(prompt) = asked.recv() {
        let what = match editor.as_mut().map(|editor| editor.readline(prompt)) {
            Ok(Ok(line)) => {
                if let Ok(editor) = &mut editor {
                    let _ = editor.add_history_entry(&line);
                    // Whether or not it can be kept is no matter for the session.
                    let _ = history.as_ref().map(|history| editor.save_history(history));
                }
                Typed::Line(line)
            }
            Ok(Err(ReadlineError::Interrupted)) => Typed::Interrupt,
            _ => Typed::End,
        };
        if typed.send(what).is_err() {
            return;
        }
        let _ = wake.send();
    }
}

/// The file that keeps the lines: `OXUV_HISTORY`, which may be empty for none, else `.oxuv_history` at home.
fn history() -> Option<PathBuf> {
    match std::env::var_os("OXUV_HISTORY") {
        Some(path) if path.is_empty() => None,
        Some(path) => Some(path.into()),
        None => std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".oxuv_history")),
    }
}

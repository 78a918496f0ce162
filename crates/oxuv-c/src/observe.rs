//! Seeing what the loops of a program do that knows nothing of it: by the environment.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `OXUV_TRACE=FILE` | writes a trace of all loops to this file, `%p` in it being the process's id |
//! | `OXUV_WARN_SLOW_MS=N` | prints callbacks that take so many milliseconds, and says so while one is under way |
//! | `OXUV_WHY_ALIVE=1` | prints what keeps the loops alive when SIGINT or SIGTERM ends the process |
//! | `OXUV_WHY_ALIVE=SIGNAL` | prints it each time this signal comes, a name as `USR2` or a number |
//!
//! They are read when the process makes its first loop. Prints go to standard error. A callback is named by its symbol,
//! or by where it is in which file, as `addr2line` takes it.

use std::ffi::{OsStr, c_void};
use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;
use std::time::Duration;

use oxuv_core::{Alive, Event, Kind};
use oxuv_observe::{Origins, Pulse, Recorder, Settings, SlowCallback, Trace, Watchdog, path_for_process};
use oxuv_os::symbol::Symbols;

use crate::async_::uv_async_t;
use crate::fs::uv_fs_t;
use crate::fs_event::uv_fs_event_t;
use crate::fs_poll::uv_fs_poll_t;
use crate::getaddrinfo::{UV_GETADDRINFO, uv_getaddrinfo_t};
use crate::getnameinfo::{UV_GETNAMEINFO, uv_getnameinfo_t};
use crate::inquiry;
use crate::loop_::{Loop, User};
use crate::poll::uv_poll_t;
use crate::process::uv_process_t;
use crate::random::{UV_RANDOM, uv_random_t};
use crate::signal::uv_signal_t;
use crate::tcp_connect::uv_connect_t;
use crate::types::{UV_FS, uv_handle_t, uv_req_t, uv_shutdown_t, uv_stream_t, uv_timer_t, uv_watcher_t, uv_write_t};
use crate::udp::uv_udp_t;
use crate::udp_send::uv_udp_send_t;
use crate::work::{UV_WORK, uv_work_t};

/// What the environment says.
struct Wishes {
    trace: Option<Trace>,
    slow: Option<Duration>,
    /// Somebody may ask why a loop is alive.
    has_inquiries: bool,
}

static WISHES: OnceLock<Wishes> = OnceLock::new();

/// Has a new loop observed, if the environment says so. What cannot be done is said, and the program goes on.
pub(crate) fn begin(core: &mut Loop) {
    let wishes = WISHES.get_or_init(read_environment);
    let settings = wishes.settings(core);
    if !settings.is_empty() {
        core.observe(Some(Box::new(Recorder::new(settings, Box::new(Callbacks::default())))));
    }
}

fn read_environment() -> Wishes {
    // SAFETY: asks for a number. Whoever runs a program with others' rights is not to have it write files.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Wishes { trace: None, slow: None, has_inquiries: false };
    }
    let slow = std::env::var_os("OXUV_WARN_SLOW_MS").and_then(|text| {
        let milliseconds = text.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
        if milliseconds.is_none() {
            say("OXUV_WARN_SLOW_MS must be a number of milliseconds");
        }
        milliseconds.map(Duration::from_millis)
    });
    let has_inquiries = std::env::var_os("OXUV_WHY_ALIVE").is_some_and(|text| begin_inquiries(&text));
    Wishes { trace: std::env::var_os("OXUV_TRACE").and_then(|path| begin_trace(&path)), slow, has_inquiries }
}

fn begin_trace(path: &OsStr) -> Option<Trace> {
    let path = path_for_process(path);
    let trace = Trace::create(&path);
    if let Err(error) = &trace {
        say(format_args!("no trace in {}: {error}", path.display()));
    }
    trace.ok()
}

fn begin_inquiries(text: &OsStr) -> bool {
    let begun = inquiry::begin(&text.to_string_lossy());
    if let Err(error) = &begun {
        say(format_args!("OXUV_WHY_ALIVE: {error}"));
    }
    begun.is_ok()
}

impl Wishes {
    fn settings(&self, core: &Loop) -> Settings {
        let mut settings = Settings { trace: self.trace.clone(), ..Settings::default() };
        if self.slow.is_none() && !self.has_inquiries {
            return settings;
        }
        let pulse = Pulse::default();
        settings.pulse = Some(pulse.clone());
        if let Some(threshold) = self.slow {
            settings.slow = Some((threshold, Box::new(|slow: SlowCallback| say(slow))));
            settings.watchdog = Watchdog::start(pulse.clone(), threshold, say).ok();
        }
        if self.has_inquiries {
            settings.inquiry = inquiry::add_loop(core, pulse);
        }
        settings
    }
}

/// Prints a line. Nothing is to be done if there is nobody to read it.
pub(crate) fn say(what: impl Display) {
    let _ = writeln!(std::io::stderr(), "oxuv: {what}");
}

/// Names callbacks.
#[derive(Default)]
struct Callbacks(Symbols);

impl Callbacks {
    fn write(&mut self, address: usize, to: &mut Vec<u8>) {
        if address != 0 {
            to.extend_from_slice(self.0.name_of(address));
        }
    }
}

impl Origins<User> for Callbacks {
    fn origin(&mut self, event: &Event<User>, to: &mut Vec<u8>) {
        // SAFETY: the event is about to be told, so what it speaks of is valid.
        self.write(unsafe { callback_of(event) }, to);
    }

    fn origin_of_keeper(&mut self, keeper: &Alive<User>, to: &mut Vec<u8>) {
        // SAFETY: a handle that is not closed, or a request that is under way, is valid.
        let callback = unsafe {
            match keeper.key {
                Some(_) => callback_of_handle(keeper.kind, keeper.user.0),
                None => callback_of_job(keeper.user.0.cast()),
            }
        };
        self.write(callback, to);
    }
}

/// The address of a callback, 0 for none.
macro_rules! callback {
    ($user:expr, $kind:ty, $field:ident) => {
        (*$user.cast::<$kind>()).$field.map_or(0, |callback| callback as usize)
    };
}

/// The callback that an event calls.
///
/// # Safety
/// As for the driver's `call`: the core has just given the event.
unsafe fn callback_of(event: &Event<User>) -> usize {
    // SAFETY: `user` is of the kind of the event.
    unsafe {
        match *event {
            Event::Timer { user: User(user), .. } => callback!(user, uv_timer_t, timer_cb),
            Event::Idle { user: User(user), .. }
            | Event::Prepare { user: User(user), .. }
            | Event::Check { user: User(user), .. } => callback!(user, uv_watcher_t, watcher_cb),
            Event::Async { user: User(user), .. } => callback!(user, uv_async_t, async_cb),
            Event::Signal { user: User(user), .. } => callback!(user, uv_signal_t, signal_cb),
            Event::Poll { user: User(user), .. } => callback!(user, uv_poll_t, poll_cb),
            Event::Connection { user: User(user), .. } => callback!(user, uv_stream_t, connection_cb),
            Event::NeedBuffer { user: User(user), .. } | Event::HungUp { user: User(user), .. } => {
                callback!(user, uv_stream_t, read_cb)
            }
            Event::Connected { user: User(user), .. } => callback!(user, uv_connect_t, cb),
            Event::Written { user: User(user), .. } => callback!(user, uv_write_t, cb),
            Event::NeedDatagramBuffer { user: User(user), .. } => callback!(user, uv_udp_t, recv_cb),
            Event::Sent { user: User(user), .. } => callback!(user, uv_udp_send_t, send_cb),
            Event::ShutDown { user: User(user), .. } => callback!(user, uv_shutdown_t, cb),
            Event::Done { user: User(user), .. } => callback_of_job(user.cast()),
            Event::Exited { user: User(user), .. } => callback!(user, uv_process_t, exit_cb),
            Event::FsEvent { user: User(user), .. } => callback!(user, uv_fs_event_t, cb),
            Event::FsPoll { user: User(user), .. } => callback!(user, uv_fs_poll_t, poll_cb),
            Event::Closed { user: User(user), .. } => callback!(user, uv_handle_t, close_cb),
            // Nobody asks for it.
            Event::Ready { .. } => 0,
        }
    }
}

/// The callback of a request that threads work on.
///
/// # Safety
/// It is such a request, and under way.
unsafe fn callback_of_job(req: *mut uv_req_t) -> usize {
    // SAFETY: the type says what it is.
    unsafe {
        match (*req).r#type {
            UV_WORK => callback!(req, uv_work_t, after_work_cb),
            UV_GETADDRINFO => callback!(req, uv_getaddrinfo_t, cb),
            UV_GETNAMEINFO => callback!(req, uv_getnameinfo_t, cb),
            UV_RANDOM => callback!(req, uv_random_t, cb),
            UV_FS => callback!(req, uv_fs_t, cb),
            _ => 0,
        }
    }
}

/// The callback by which a handle is best known.
///
/// # Safety
/// It is an open handle of this kind.
unsafe fn callback_of_handle(kind: Kind, user: *mut c_void) -> usize {
    // SAFETY: says the caller.
    unsafe {
        match kind {
            Kind::Timer => callback!(user, uv_timer_t, timer_cb),
            Kind::Idle | Kind::Prepare | Kind::Check => callback!(user, uv_watcher_t, watcher_cb),
            Kind::Async => callback!(user, uv_async_t, async_cb),
            Kind::Signal => callback!(user, uv_signal_t, signal_cb),
            Kind::Poll => callback!(user, uv_poll_t, poll_cb),
            Kind::Tcp | Kind::Pipe | Kind::Tty => {
                let connection_cb = callback!(user, uv_stream_t, connection_cb);
                if connection_cb != 0 { connection_cb } else { callback!(user, uv_stream_t, read_cb) }
            }
            Kind::Udp => callback!(user, uv_udp_t, recv_cb),
            Kind::Process => callback!(user, uv_process_t, exit_cb),
            Kind::FsEvent => callback!(user, uv_fs_event_t, cb),
            Kind::FsPoll => callback!(user, uv_fs_poll_t, poll_cb),
            Kind::None => 0,
        }
    }
}

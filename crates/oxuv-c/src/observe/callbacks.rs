//! Names of callbacks, and where handles were made.

use std::backtrace::Backtrace;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Write;

use oxuv_core::{Alive, Event, Key, Kind};
use oxuv_observe::Origins;
use oxuv_os::symbol::Symbols;

use crate::async_::uv_async_t;
use crate::fs::uv_fs_t;
use crate::fs_event::uv_fs_event_t;
use crate::fs_poll::uv_fs_poll_t;
use crate::getaddrinfo::{UV_GETADDRINFO, uv_getaddrinfo_t};
use crate::getnameinfo::{UV_GETNAMEINFO, uv_getnameinfo_t};
use crate::loop_::User;
use crate::poll::uv_poll_t;
use crate::process::uv_process_t;
use crate::random::{UV_RANDOM, uv_random_t};
use crate::signal::uv_signal_t;
use crate::tcp_connect::uv_connect_t;
use crate::types::{UV_FS, uv_handle_t, uv_req_t, uv_shutdown_t, uv_stream_t, uv_timer_t, uv_watcher_t, uv_write_t};
use crate::udp::uv_udp_t;
use crate::udp_send::uv_udp_send_t;
use crate::work::{UV_WORK, uv_work_t};

/// What is known of the callbacks of a loop.
pub(super) struct Callbacks {
    symbols: Symbols,
    keeps_made: bool,
    has_backtraces: bool,
    /// By the numbers of handles.
    handles: Vec<Option<Made>>,
    /// By the addresses of requests.
    jobs: HashMap<usize, Made>,
}

/// When something was made, and where.
struct Made {
    at: u64,
    /// Boxed, since few wish for one.
    backtrace: Option<Box<Backtrace>>,
}

/// So many functions are told of a backtrace.
const DEPTH: usize = 6;

impl Callbacks {
    /// Whether it is to be known when things were made, and in which functions.
    pub(super) fn new(keeps_made: bool, has_backtraces: bool) -> Callbacks {
        let (symbols, handles, jobs) = (Symbols::default(), Vec::new(), HashMap::new());
        Callbacks { symbols, keeps_made, has_backtraces, handles, jobs }
    }

    fn made(&self, at: u64) -> Made {
        Made { at, backtrace: self.has_backtraces.then(|| Box::new(Backtrace::force_capture())) }
    }
}

impl Origins<User> for Callbacks {
    fn origin(&mut self, event: &Event<User>, to: &mut Vec<u8>) {
        // SAFETY: the event is about to be told, so what it speaks of is valid.
        let address = unsafe { callback_of(event) };
        if address != 0 {
            to.extend_from_slice(self.symbols.name_of(address));
        }
        if let Event::Done { user, .. } = event {
            self.jobs.remove(&user.0.addr());
        }
    }

    fn describe(&mut self, keeper: &Alive<User>, at: u64, to: &mut String) {
        // SAFETY: a handle that is not closed, or a request that is under way, is valid.
        let callback = unsafe {
            match keeper.key {
                Some(_) => callback_of_handle(keeper.kind, keeper.user.0),
                None => callback_of_job(keeper.user.0.cast()),
            }
        };
        let made = match keeper.key {
            Some(key) => self.handles.get(key.index()).and_then(Option::as_ref),
            None => self.jobs.get(&keeper.user.0.addr()),
        };
        // Writing to memory does not fail.
        if let Some(made) = made {
            let _ = write!(to, ", since {:.1} ms", at.saturating_sub(made.at) as f64 / 1e6);
        }
        if callback != 0 {
            let _ = write!(to, ", from {}", String::from_utf8_lossy(self.symbols.name_of(callback)));
        }
        for function in made.and_then(|made| made.backtrace.as_deref()).map(functions).unwrap_or_default() {
            let _ = write!(to, "\noxuv:     made in {function}");
        }
    }

    fn handle_made(&mut self, key: Key, at: u64) {
        if !self.keeps_made {
            return;
        }
        let made = self.made(at);
        let missing = (key.index() + 1).saturating_sub(self.handles.len());
        if self.handles.try_reserve(missing).is_ok() {
            self.handles.resize_with(self.handles.len() + missing, || None);
            self.handles[key.index()] = Some(made);
        }
    }

    fn job_made(&mut self, user: &User, at: u64) {
        if self.keeps_made && self.jobs.try_reserve(1).is_ok() {
            let made = self.made(at);
            self.jobs.insert(user.0.addr(), made);
        }
    }
}

/// The functions of a backtrace that are the program's, the innermost first: each with its file and line, if those are known.
fn functions(backtrace: &Backtrace) -> Vec<String> {
    let text = backtrace.to_string();
    let mut functions: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(function) = functions.last_mut() {
                *function = format!("{function} at {place}");
            }
        } else if let Some((_, name)) = line.split_once(": ") {
            functions.push(name.to_owned());
        }
    }
    // What the program has called is an export; before it are functions of ours.
    let is_export = |function: &&String| function.starts_with("uv_");
    let ours = functions.iter().take_while(|function| !is_export(function)).count();
    // An export may call another.
    let exports = functions.iter().skip(ours).take_while(is_export).count();
    let main = functions.iter().position(|function| function.split(' ').next() == Some("main"));
    functions.truncate(main.map_or(usize::MAX, |nth| nth + 1));
    functions.into_iter().skip(ours + exports).take(DEPTH).collect()
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

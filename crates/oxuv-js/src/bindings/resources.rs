//! What keeps the loop running, as `process.getActiveResourcesInfo()` tells it; timers and immediates are counted by `lib/timers.js`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use oxuv::Kind;
use rquickjs::Ctx;

use crate::host::{Host, host};

/// Requests under way, by their names.
#[derive(Default)]
pub(crate) struct Requests(RefCell<BTreeMap<&'static str, usize>>);

/// A request is under way as long as this lives.
pub(super) struct Request {
    host: Weak<Host>,
    name: &'static str,
}

impl Request {
    pub(super) fn new(host: &Rc<Host>, name: &'static str) -> Request {
        *host.requests.0.borrow_mut().entry(name).or_default() += 1;
        Request { host: Rc::downgrade(host), name }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(host) = self.host.upgrade()
            && let Some(count) = host.requests.0.borrow_mut().get_mut(self.name)
        {
            *count -= 1;
        }
    }
}

/// The names of all requests, and of the handles that keep the loop: Node's.
pub(super) fn active(ctx: Ctx<'_>) -> Vec<&'static str> {
    let host = host(&ctx);
    let requests = host.requests.0.borrow();
    let mut names: Vec<_> = requests.iter().flat_map(|(name, count)| std::iter::repeat_n(*name, *count)).collect();
    let handles = host.lp.handles();
    let kept = handles.iter().filter(|handle| handle.has_ref());
    names.extend(kept.filter_map(|handle| {
        let is_listener = || handle.raw_fd().is_ok_and(oxuv_os::is_listener);
        Some(match handle.kind() {
            Kind::Tcp if is_listener() => "TCPServerWrap",
            Kind::Tcp => "TCPSocketWrap",
            Kind::Pipe => "PipeWrap",
            Kind::Tty => "TTYWrap",
            Kind::Udp => "UDPWrap",
            Kind::Process => "ProcessWrap",
            Kind::FsEvent => "FSEventWrap",
            Kind::FsPoll => "StatWatcher",
            Kind::Signal => "SignalWrap",
            // What wakes this thread for others.
            Kind::Async => "MessagePort",
            // Those of timers and immediates.
            Kind::Timer | Kind::Idle | Kind::Prepare | Kind::Check | Kind::Poll | Kind::None => return None,
        })
    }));
    names
}

//! Looking up addresses and names.

use std::ffi::CString;
use std::net::SocketAddr;

use oxuv_core::Lane;
use oxuv_core::linux::names::{Found, Hints, HostName, Name, NameFlags, look_up, look_up_name};

use crate::{Errno, LoopRef, Request, Result};

/// What libuv calls EAI_CANCELED.
const CANCELED: Errno = Errno::from_raw(3003);

impl LoopRef {
    /// Looks up the addresses of a host, of a service, or of a service at a host, on a thread of the pool. Look-ups never
    /// take more than half of the threads. Phase: poll.
    ///
    /// A name beyond ASCII is mapped and encoded by UTS 46. `callback` hears EAI_NONAME when there is no such host,
    /// EAI_AGAIN when the resolver does not answer, EAI_CANCELED when the request was cancelled, and others of their
    /// kind.
    ///
    /// ```
    /// use oxuv::{Hints, Loop, Mode, SocketKind};
    ///
    /// let lp = Loop::new()?;
    /// lp.lookup("127.0.0.1", "8080", Hints::of(SocketKind::Stream), |_, found| {
    ///     let addresses = found.unwrap().addresses;
    ///     assert_eq!(addresses[0].address, ([127, 0, 0, 1], 8080).into());
    /// })?;
    /// lp.run(Mode::Default)?;
    /// # Ok::<(), oxuv::Errno>(())
    /// ```
    ///
    /// # Errors
    /// EINVAL for neither host nor service, for a host's name that is longer than 255 bytes, empty or cannot be encoded, and
    /// for a zero byte; names are never cut. Else as [`LoopRef::work`].
    #[doc(alias = "uv_getaddrinfo")]
    #[track_caller]
    pub fn lookup<'a>(
        &self,
        host: impl Into<Option<&'a str>>,
        service: impl Into<Option<&'a str>>,
        hints: Hints,
        callback: impl FnOnce(&LoopRef, Result<Found>) + 'static,
    ) -> Result<Request> {
        let host = host.into().map(|host| HostName::new(host.as_bytes())).transpose()?;
        let service = service.into().map(CString::new).transpose().map_err(|_| Errno::EINVAL)?;
        if host.is_none() && service.is_none() {
            return Err(Errno::EINVAL);
        }
        let question = move || look_up(host.as_ref(), service.as_deref(), &hints);
        self.ask(Lane::SlowIo, CANCELED, question, callback)
    }

    /// Looks up the name of an address's host and of the service at its port, on a thread of the pool. Look-ups never take
    /// more than half of the threads. Phase: poll.
    ///
    /// `callback` hears EAI_NONAME when a name is required and there is none, EAI_AGAIN, EAI_CANCELED, and others of their
    /// kind.
    ///
    /// # Errors
    /// As [`LoopRef::work`].
    #[doc(alias = "uv_getnameinfo")]
    #[track_caller]
    pub fn lookup_name(
        &self,
        address: SocketAddr,
        flags: NameFlags,
        callback: impl FnOnce(&LoopRef, Result<Name>) + 'static,
    ) -> Result<Request> {
        self.ask(Lane::SlowIo, CANCELED, move || look_up_name(&address, flags), callback)
    }
}

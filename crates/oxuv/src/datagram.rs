//! Datagrams, as they are received, and where they are sent.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;

use oxuv_core::kernel::{Ecn, Received, SendOptions};
use oxuv_core::{InternetAddress, Target};

use crate::Errno;
#[cfg(doc)]
use crate::{UdpBindFlags, UdpOption};

/// A datagram that was received. The bytes are lent for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Datagram<'a> {
    /// What it consists of. It may be empty.
    pub bytes: &'a [u8],
    /// Who has sent it; `None` if that has no internet address.
    pub from: Option<SocketAddr>,
    /// It was too large for the buffer: the rest is lost.
    #[doc(alias = "UV_UDP_PARTIAL")]
    pub is_truncated: bool,
    /// It is one that was sent by this handle, and has met with this error; `from` is who has told of it. Comes only with
    /// [`UdpBindFlags::receive_errors`].
    #[doc(alias = "UV_UDP_LINUX_RECVERR")]
    pub error: Option<Errno>,
    /// Its congestion mark. Comes only with [`UdpOption::TellEcn`].
    pub ecn: Option<Ecn>,
    /// The local address at which it came, and which an answer is to come from: see [`Route::source`]. Of a datagram to a
    /// group of IPv6, the group's. Comes only with [`UdpOption::TellLocal`].
    pub local: Option<IpAddr>,
}

impl<'a> Datagram<'a> {
    /// The datagrams that were received as one.
    pub(crate) fn all_of(received: &Received<'a>) -> impl Iterator<Item = Datagram<'a>> + use<'a> {
        let Received { ref from, is_truncated, error, ecn, local, .. } = *received;
        let from = SocketAddr::try_from(from).ok();
        let mut left = received.datagrams().count();
        received.datagrams().map(move |bytes| {
            left -= 1;
            Datagram { bytes, from, is_truncated: is_truncated && left == 0, error, ecn, local }
        })
    }
}

/// Where a datagram is sent, and how. An address is one, `None` is the address that the handle is connected to.
///
/// ```
/// use oxuv::{Datagram, Ecn, Loop, Mode, Route, Udp, UdpOption};
///
/// let lp = Loop::new()?;
/// let server = Udp::new(&lp)?;
/// // At every address of this machine.
/// server.bind(([0, 0, 0, 0], 0).into())?;
/// server.set(UdpOption::TellEcn(true))?;
/// server.set(UdpOption::TellLocal(true))?;
/// server.receive_start(|server, datagram| {
///     let Datagram { from, local, ecn, .. } = datagram.unwrap();
///     assert_eq!(ecn, Some(Ecn::Ect0));
///     // The answer comes from the address that was asked.
///     let back = Route { source: local, ..Route::to(from.unwrap()) };
///     server.send("pong", back, |server, sent| sent.and(server.close()).unwrap()).unwrap();
/// })?;
///
/// let client = Udp::new(&lp)?;
/// let to = ([127, 0, 0, 2], server.local_addr()?.port()).into();
/// client.send("ping", Route { ecn: Some(Ecn::Ect0), ..Route::to(to) }, |_, sent| sent.unwrap())?;
/// client.receive_start(move |client, datagram| {
///     assert_eq!(datagram.unwrap().from, Some(to));
///     client.close().unwrap();
/// })?;
/// lp.run(Mode::Default)?;
/// # Ok::<(), oxuv::Errno>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Route {
    /// Where to; `None` is the address that the handle is connected to.
    pub to: Option<SocketAddr>,
    /// The local address to send from, one of this machine's and of the handle's family (as an IPv6 handle has it: an IPv4
    /// address as `::ffff:1.2.3.4`); `None` is the one that the handle is bound to, or the
    /// system's choice.
    pub source: Option<IpAddr>,
    /// The congestion mark. What else is in the type of service is 0 then; `None` leaves all of it to the socket.
    pub ecn: Option<Ecn>,
}

impl Route {
    /// To this address.
    pub fn to(to: SocketAddr) -> Route {
        Route { to: Some(to), ..Route::default() }
    }

    pub(crate) fn address(&self) -> Option<InternetAddress> {
        self.to.as_ref().map(InternetAddress::from)
    }

    /// As the core has it.
    pub(crate) fn target<'a>(
        &self,
        address: Option<&'a InternetAddress>,
        segment_size: Option<NonZeroU16>,
    ) -> Target<'a> {
        let options = SendOptions { segment_size, source: self.source, ecn: self.ecn };
        Target { address: address.map(InternetAddress::as_ref), options }
    }
}

impl From<SocketAddr> for Route {
    fn from(to: SocketAddr) -> Self {
        Route::to(to)
    }
}

impl From<Option<SocketAddr>> for Route {
    fn from(to: Option<SocketAddr>) -> Self {
        Route { to, ..Route::default() }
    }
}

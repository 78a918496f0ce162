//! What can be given for an address.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::Location;

use crate::task::answer_at;
use crate::task::here::{self, Site};
use crate::{Errno, Hints, SocketKind};

/// What stands for addresses, as with the standard library: a [`SocketAddr`], an address and a port, `"host:port"`, `("host", port)`,
/// or several addresses. Names are looked up on a thread of the pool.
pub trait ToSocketAddrs: Sealed {}

impl<A: Sealed + ?Sized> ToSocketAddrs for A {}

/// What is known without looking a name up.
#[derive(Debug)]
pub enum Asked {
    /// The one that there is.
    One(SocketAddr),
    /// All of them.
    Known(Vec<SocketAddr>),
    /// A host and a port.
    Named(String, u16),
}

/// Implemented here only.
pub trait Sealed {
    /// What is known at once.
    ///
    /// # Errors
    /// EINVAL for text without a port.
    fn asked(&self) -> io::Result<Asked>;
}

macro_rules! known {
    ($($kind:ty),*) => {$(
        impl Sealed for $kind {
            fn asked(&self) -> io::Result<Asked> {
                Ok(Asked::One((*self).into()))
            }
        }
    )*};
}
known!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl Sealed for [SocketAddr] {
    fn asked(&self) -> io::Result<Asked> {
        Ok(Asked::Known(self.to_vec()))
    }
}

impl Sealed for Vec<SocketAddr> {
    fn asked(&self) -> io::Result<Asked> {
        Ok(Asked::Known(self.clone()))
    }
}

impl Sealed for (&str, u16) {
    fn asked(&self) -> io::Result<Asked> {
        let (host, port) = *self;
        Ok(match host.parse::<IpAddr>() {
            Ok(address) => Asked::One((address, port).into()),
            Err(_) => Asked::Named(host.to_owned(), port),
        })
    }
}

impl Sealed for (String, u16) {
    fn asked(&self) -> io::Result<Asked> {
        (self.0.as_str(), self.1).asked()
    }
}

impl Sealed for str {
    fn asked(&self) -> io::Result<Asked> {
        if let Ok(address) = self.parse() {
            return Ok(Asked::One(address));
        }
        let (host, port) = self.rsplit_once(':').ok_or(Errno::EINVAL)?;
        let port = port.parse().map_err(|_| Errno::EINVAL)?;
        Ok(Asked::Named(host.to_owned(), port))
    }
}

impl Sealed for String {
    fn asked(&self) -> io::Result<Asked> {
        self.as_str().asked()
    }
}

impl<A: Sealed + ?Sized> Sealed for &A {
    fn asked(&self) -> io::Result<Asked> {
        (**self).asked()
    }
}

/// The addresses that something stands for.
///
/// ```
/// let lp = oxuv::Loop::new()?;
/// let found = lp.block_on(oxuv::net::lookup_host("127.0.0.1:80"))?;
/// assert_eq!(found, [([127, 0, 0, 1], 80).into()]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Cancel safety: a look-up that no thread has begun is taken back.
///
/// # Errors
/// EINVAL for text without a port; those of [`LoopRef::lookup`](crate::LoopRef::lookup).
#[track_caller]
pub fn lookup_host(address: impl ToSocketAddrs) -> impl Future<Output = io::Result<Vec<SocketAddr>>> {
    lookup_host_at(Location::caller(), address)
}

async fn lookup_host_at(site: Site, address: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    match address.asked()? {
        Asked::One(address) => Ok(vec![address]),
        Asked::Known(addresses) => Ok(addresses),
        Asked::Named(host, port) => lookup_name(site, host, port).await,
    }
}

/// The first of the addresses that something stands for: mostly it is one, and costs nothing.
#[inline]
pub(super) async fn first_of(site: Site, address: impl ToSocketAddrs) -> io::Result<SocketAddr> {
    let addresses = match address.asked()? {
        Asked::One(address) => return Ok(address),
        Asked::Known(addresses) => addresses,
        // Boxed, so that whoever has an address need not have room for all that a look-up needs.
        Asked::Named(host, port) => Box::pin(lookup_name(site, host, port)).await?,
    };
    addresses.first().copied().ok_or_else(|| Errno::EINVAL.into())
}

async fn lookup_name(site: Site, host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let owner = here::current();
    let hints = Hints::of(SocketKind::Stream);
    let found = answer_at(site, |teller| {
        owner.lookup(host.as_str(), None, hints, move |_, found| teller.tell(found)).map(Some)
    })
    .await?;
    let with_port = |mut address: SocketAddr| {
        address.set_port(port);
        address
    };
    Ok(found.addresses.into_iter().map(|found| with_port(found.address)).collect())
}

/// Tries each of the addresses until one succeeds, on behalf of this place.
pub(super) async fn try_each<T>(
    site: Site,
    address: impl ToSocketAddrs,
    mut attempt: impl AsyncFnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = None;
    for address in lookup_host_at(site, address).await? {
        match attempt(address).await {
            Ok(done) => return Ok(done),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| Errno::EINVAL.into()))
}

//! Names: what `lib/dns.js` has beside the look-up of `bindings/net.rs`.

use std::net::{IpAddr, SocketAddr};

use oxuv::{Errno, LoopRef, Name, NameFlags};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use super::net::socket_address;
use super::resources::Request;
use super::stream::Caller;
use crate::host::{Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("lookupName", Func::from(lookup_name))?;
    object.set("servers", Func::from(servers))?;
    object.set("text", Func::from(text))
}

/// Looks up the names of an address and of a port; then `done(status, host, service)`.
fn lookup_name(ctx: Ctx<'_>, address: String, port: u16, done: Kept) -> i32 {
    let done = Caller::new(&ctx, done);
    let host = host(&ctx);
    let request = Request::new(&host, "GetNameInfoReqWrap");
    let asked = socket_address(&address, port).and_then(|address| {
        let told = move |_: &LoopRef, found: oxuv::Result<Name>| {
            drop(request);
            match found {
                Ok(Name { host, service }) => done.call(|_| Ok((0, host, service))),
                Err(errno) => done.call(|_| Ok((errno.code(),))),
            }
        };
        host.make(&ctx, |lp| lp.lookup_name(address, NameFlags::NAME_REQUIRED, told))
    });
    asked.map_or_else(Errno::code, |_| 0)
}

/// The servers of names that the system is set to use.
fn servers() -> Vec<String> {
    let said = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = said.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some("nameserver")).then(|| words.next()).flatten()
    });
    servers
        .filter(|server| server.split('%').next().is_some_and(|ip| ip.parse::<IpAddr>().is_ok()))
        .map(str::to_owned)
        .collect()
}

/// An address as it is usually written; nothing for what is none.
fn text(address: String) -> Option<String> {
    socket_address(&address, 0).ok().map(|address| match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => address.ip().to_string(),
    })
}

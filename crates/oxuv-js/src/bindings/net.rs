//! Sockets: what TCP and pipes have beside what all streams have. `lib/net.js` stands on these and on the class `Stream`.

use std::ffi::{CString, OsStr};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use oxuv::{BindFlags, Errno, Found, Handle, Hints, Keepalive, LookupFlags, LoopRef, Pipe, PipeName, SocketKind, Tcp};
use oxuv_os::{DescriptorKind, interface};
use rquickjs::function::{Func, Opt};
use rquickjs::{Class, Ctx, FromJs, Object, Result, Value};

use super::OrThrow;
use super::resources::Request;
use super::stream::{AnyStream, Caller, Owner, Stream, code};
use crate::host::{Host, Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("tcp", Func::from(tcp))?;
    object.set("pipe", Func::from(pipe))?;
    object.set("kindOf", Func::from(kind_of))?;
    object.set("lookup", Func::from(lookup))?;
    object.set("isIP", Func::from(is_ip))?;
    object.set("parseIP", Func::from(parse_ip))?;
    object.set("formatIP", Func::from(format_ip))
}

/// A TCP handle without a socket.
fn tcp(ctx: Ctx<'_>) -> Result<Class<'_, Stream>> {
    let tcp = host(&ctx).make(&ctx, Tcp::new).or_throw(&ctx)?;
    Stream::wrap(&ctx, AnyStream::Tcp(tcp))
}

/// A pipe without a descriptor; other handles can be passed by it if it is `for_handles`.
fn pipe(ctx: Ctx<'_>, for_handles: Opt<bool>) -> Result<Class<'_, Stream>> {
    let make = if for_handles.0.unwrap_or(false) { Pipe::for_handles } else { Pipe::new };
    let pipe = host(&ctx).make(&ctx, make).or_throw(&ctx)?;
    Stream::wrap(&ctx, AnyStream::Pipe(pipe))
}

/// What a descriptor is, in Node's words.
fn kind_of(number: i32) -> &'static str {
    match DescriptorKind::of(number) {
        DescriptorKind::File => "FILE",
        DescriptorKind::Terminal => "TTY",
        DescriptorKind::Pipe => "PIPE",
        DescriptorKind::Tcp => "TCP",
        DescriptorKind::Udp => "UDP",
        DescriptorKind::Unknown => "UNKNOWN",
    }
}

/// For `dns` as well: looks up the addresses of a host; then `done(status, addresses)`. Hints are the system's numbers.
fn lookup(ctx: Ctx<'_>, name: String, family: u32, hints: i32, done: Kept) -> i32 {
    let done = Caller::new(&ctx, done);
    let v6 = match family {
        4 => Some(false),
        6 => Some(true),
        _ => None,
    };
    let hints = Hints { v6, kind: Some(SocketKind::Stream), flags: LookupFlags::from_bits_truncate(hints) };
    let host = host(&ctx);
    let request = Request::new(&host, "GetAddrInfoReqWrap");
    let told = move |_: &LoopRef, found: oxuv::Result<Found>| {
        drop(request);
        match found {
            Ok(found) => {
                let addresses: Vec<_> = found.addresses.iter().map(|found| text_of(&found.address)).collect();
                done.call(|_| Ok((0, addresses)));
            }
            Err(errno) => done.call(|_| Ok((errno.code(),))),
        }
    };
    let asked = host.make(&ctx, |lp| lp.lookup(name.as_str(), None, hints, told));
    asked.map_or_else(Errno::code, |_| 0)
}

/// 4, 6, or 0 for what is no address. One of IPv6 may have a zone.
fn is_ip(text: String) -> i32 {
    match parse(&text) {
        Some((IpAddr::V4(_), _)) => 4,
        Some((IpAddr::V6(_), _)) => 6,
        None => 0,
    }
}

/// The bytes of an address, without its zone; `undefined` for what is none.
fn parse_ip(text: String) -> Option<Vec<u8>> {
    Some(match parse(&text)?.0 {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    })
}

/// The text of an address from its bytes.
fn format_ip(bytes: Vec<u8>) -> Option<String> {
    if let Ok(octets) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(IpAddr::from(octets).to_string());
    }
    <[u8; 16]>::try_from(bytes.as_slice()).ok().map(|octets| IpAddr::from(octets).to_string())
}

/// An address, and the zone behind it.
pub(super) fn parse(text: &str) -> Option<(IpAddr, &str)> {
    let Some((address, zone)) = text.split_once('%') else { return Some((text.parse().ok()?, "")) };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    let is_zone = !zone.is_empty() && zone.bytes().all(is_plain);
    is_zone.then_some((IpAddr::V6(address.parse::<Ipv6Addr>().ok()?), zone))
}

pub(super) fn socket_address(address: &str, port: u16) -> oxuv::Result<SocketAddr> {
    Ok(match parse(address).ok_or(Errno::EINVAL)? {
        (IpAddr::V6(ip), zone) if !zone.is_empty() => SocketAddrV6::new(ip, port, 0, scope(zone)).into(),
        (ip, _) => SocketAddr::new(ip, port),
    })
}

/// The number of an interface; 0, which leaves the choice to the system, if there is none of that name.
pub(super) fn scope(zone: &str) -> u32 {
    zone.parse().unwrap_or_else(|_| CString::new(zone).map_or(0, |zone| interface::index(&zone)))
}

/// The function that is called when something is done, if there is one.
pub(super) fn callback<'js>(ctx: &Ctx<'js>, done: Opt<Value<'js>>) -> Result<Option<Caller>> {
    match done.0 {
        Some(value) if value.is_function() => Ok(Some(Caller::new(ctx, FromJs::from_js(ctx, value)?))),
        _ => Ok(None),
    }
}

pub(super) fn open(host: &Host, stream: &AnyStream, number: i32) -> oxuv::Result<()> {
    let descriptor = host.files.give_away(number)?;
    match stream {
        AnyStream::Tcp(tcp) => tcp.open(descriptor),
        AnyStream::Pipe(pipe) => pipe.open(descriptor),
        AnyStream::Tty(_) => Err(Errno::ENOTSUP),
    }
}

pub(super) fn bind(stream: &AnyStream, address: &str, port: u16, flags: u32) -> oxuv::Result<()> {
    match stream {
        AnyStream::Tcp(tcp) => {
            let flags = BindFlags { ipv6_only: flags & 1 != 0, ..BindFlags::default() };
            tcp.bind_with(socket_address(address, port)?, flags)
        }
        AnyStream::Pipe(pipe) => pipe.bind(pipe_name(address)),
        AnyStream::Tty(_) => Err(Errno::ENOTSUP),
    }
}

/// A path, or behind a zero the name of what is no file.
fn pipe_name(name: &str) -> PipeName {
    match name.strip_prefix('\0') {
        Some(name) => PipeName::Abstract(name.as_bytes().to_vec()),
        None => Path::new(OsStr::from_bytes(name.as_bytes())).into(),
    }
}

pub(super) fn listen(stream: &AnyStream, backlog: i32, listener: Owner) -> oxuv::Result<()> {
    match stream {
        AnyStream::Tcp(tcp) => tcp.listen(backlog, move |tcp, waiting| {
            accepted(&listener, waiting.and_then(|()| tcp.accept()).map(AnyStream::Tcp));
        }),
        AnyStream::Pipe(pipe) => pipe.listen(backlog, move |pipe, waiting| {
            accepted(&listener, waiting.and_then(|()| pipe.accept()).map(AnyStream::Pipe));
        }),
        AnyStream::Tty(_) => Err(Errno::ENOTSUP),
    }
}

fn accepted(listener: &Owner, accepted: oxuv::Result<AnyStream>) {
    let name = "onconnection";
    match accepted {
        Ok(stream) => listener.call(name, 0, |ctx| {
            let handle = stream.handle().clone();
            // Without memory for the script's side of it nobody would close it.
            let wrapped = Stream::wrap(ctx, stream).inspect_err(|_| {
                let _ = handle.close();
            });
            wrapped.map(Some)
        }),
        // As in Node: those that came have been turned away, and the server goes on.
        Err(Errno::EMFILE | Errno::ENFILE) => {}
        Err(errno) => listener.call(name, errno.code(), |_| Ok(None)),
    }
}

pub(super) fn connect(stream: &AnyStream, address: &str, port: u16, done: Caller) -> oxuv::Result<()> {
    match stream {
        AnyStream::Tcp(tcp) => tcp.connect(socket_address(address, port)?, move |_, result| done.status(result)),
        AnyStream::Pipe(pipe) => pipe.connect(pipe_name(address), move |_, result| done.status(result)),
        AnyStream::Tty(_) => Err(Errno::ENOTSUP),
    }
}

pub(super) fn reset(stream: &AnyStream, done: Option<Caller>) -> Result<i32> {
    let AnyStream::Tcp(tcp) = stream else { return Ok(Errno::ENOTSUP.code()) };
    Ok(code(match done {
        Some(done) => tcp.close_reset_then(move |_: &Handle| done.call(|_| Ok(()))),
        None => tcp.close_reset(),
    }))
}

pub(super) fn local_address(stream: &AnyStream, out: &Object<'_>) -> Result<i32> {
    match stream {
        AnyStream::Tcp(tcp) => describe(out, tcp.local_addr()),
        _ => Ok(Errno::ENOTSUP.code()),
    }
}

pub(super) fn peer_address(stream: &AnyStream, out: &Object<'_>) -> Result<i32> {
    match stream {
        AnyStream::Tcp(tcp) => describe(out, tcp.peer_addr()),
        _ => Ok(Errno::ENOTSUP.code()),
    }
}

/// The address without the port.
pub(super) fn text_of(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V6(address) if address.scope_id() != 0 => {
            let mut name = [0; interface::NAME_SIZE];
            match interface::name(address.scope_id(), &mut name) {
                Ok(name) => format!("{}%{}", address.ip(), name.to_string_lossy()),
                Err(_) => format!("{}%{}", address.ip(), address.scope_id()),
            }
        }
        _ => address.ip().to_string(),
    }
}

pub(super) fn describe(out: &Object<'_>, address: oxuv::Result<SocketAddr>) -> Result<i32> {
    let address = match address {
        Ok(address) => address,
        Err(errno) => return Ok(errno.code()),
    };
    out.set("address", text_of(&address))?;
    out.set("family", if address.is_ipv4() { "IPv4" } else { "IPv6" })?;
    out.set("port", address.port())?;
    Ok(0)
}

pub(super) fn set_no_delay(stream: &AnyStream, on: bool) -> i32 {
    match stream {
        AnyStream::Tcp(tcp) => code(tcp.set_nodelay(on)),
        _ => Errno::ENOTSUP.code(),
    }
}

pub(super) fn set_keep_alive(stream: &AnyStream, on: bool, seconds: f64) -> i32 {
    let AnyStream::Tcp(tcp) = stream else { return Errno::ENOTSUP.code() };
    // Node has an option for the first alone; without it all are as the system has them.
    let keepalive = match seconds as u32 {
        0 => Keepalive { idle: 7200, interval: 75, count: 9 },
        idle => Keepalive { idle, interval: 1, count: 10 },
    };
    code(tcp.set_keepalive(on.then_some(keepalive)))
}

pub(super) fn chmod(stream: &AnyStream, mode: u32) -> i32 {
    match stream {
        AnyStream::Pipe(pipe) => code(pipe.chmod(mode & 1 != 0, mode & 2 != 0)),
        _ => Errno::ENOTSUP.code(),
    }
}

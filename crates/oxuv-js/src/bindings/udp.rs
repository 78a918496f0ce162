//! Sockets of datagrams: what `lib/dgram.js` stands on.
//!
//! A handle is an object of the class `Udp`, as those of streams are of `Stream`: a method returns 0, or the negative number of
//! an error, unless it says otherwise.

use std::net::{IpAddr, SocketAddr};

use oxuv::{Datagram, Errno, Interface, Udp as Handle, UdpBindFlags, UdpOption};
use oxuv_js_engine::Bytes;
use oxuv_os::socket::{Buffer, buffer_size, set_buffer_size};
use rquickjs::class::Trace;
use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Class, Ctx, JsLifetime, Object, Result, Value};

use super::OrThrow;
use super::net::{callback, describe, parse, scope, socket_address, text_of};
use super::stream::{Caller, code};
use crate::host::{Kept, host};

pub(super) fn fill(object: &Object<'_>) -> Result<()> {
    object.set("udp", Func::from(udp))
}

/// A handle without a socket.
fn udp(ctx: Ctx<'_>) -> Result<Class<'_, Udp>> {
    let handle = host(&ctx).make(&ctx, Handle::new).or_throw(&ctx)?;
    Class::instance(ctx, Udp { handle })
}

/// What the script's side has of a socket.
#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Udp")]
pub(super) struct Udp {
    #[qjs(skip_trace)]
    pub(super) handle: Handle,
}

impl Udp {
    fn set(&self, option: UdpOption) -> i32 {
        code(self.handle.set(option))
    }

    fn change_membership(&self, source: Option<&str>, group: &str, interface: Option<&str>, join: bool) -> i32 {
        let option = || {
            let group = ip(group)?;
            let source = source.map(ip).transpose()?;
            let interface = interface.map(|text| interface_of(text, group.is_ipv4())).transpose()?;
            Ok(UdpOption::Membership { group, interface, source, join })
        };
        code(option().and_then(|option| self.handle.set(option)))
    }
}

fn ip(text: &str) -> oxuv::Result<IpAddr> {
    parse(text).map(|(ip, _)| ip).ok_or(Errno::EINVAL)
}

/// An interface by the text of an address: of IPv4 its own, of IPv6 any that has it as its zone.
fn interface_of(text: &str, is_v4: bool) -> oxuv::Result<Interface> {
    match parse(text).ok_or(Errno::EINVAL)? {
        (IpAddr::V4(ip), _) if is_v4 => Ok(Interface::Address(ip)),
        (IpAddr::V6(_), "") if !is_v4 => Ok(Interface::Index(0)),
        (IpAddr::V6(_), zone) if !is_v4 => Ok(Interface::Index(scope(zone))),
        _ => Err(Errno::EINVAL),
    }
}

/// A byte, as far as it is one.
fn byte(number: f64) -> oxuv::Result<u8> {
    if number.fract() == 0.0 && (0.0..=255.0).contains(&number) { Ok(number as u8) } else { Err(Errno::EINVAL) }
}

#[rquickjs::methods(rename_all = "camelCase")]
impl Udp {
    /// Takes over a descriptor by its number.
    fn open(&self, ctx: Ctx<'_>, number: i32) -> i32 {
        code(host(&ctx).files.give_away(number).and_then(|descriptor| self.handle.open(descriptor)))
    }

    /// Binds it. Flags: 1 for IPv6 alone, 4 for an address that others may have, too.
    fn bind(&self, address: String, port: u16, flags: u32) -> i32 {
        let flags =
            UdpBindFlags { ipv6_only: flags & 1 != 0, reuse_address: flags & 4 != 0, ..UdpBindFlags::default() };
        code(socket_address(&address, port).and_then(|address| self.handle.bind_with(address, flags)))
    }

    fn connect(&self, address: String, port: u16) -> i32 {
        code(socket_address(&address, port).and_then(|address| self.handle.connect(address)))
    }

    fn disconnect(&self) -> i32 {
        code(self.handle.disconnect())
    }

    /// Sends the parts as one datagram. If the system takes it at once, one more than its number of bytes; else 0, and
    /// `done(status, bytes)` is called then.
    fn send(
        &self,
        ctx: Ctx<'_>,
        parts: Vec<Bytes>,
        address: Option<String>,
        port: Opt<u16>,
        done: Opt<Option<Kept>>,
    ) -> i32 {
        let to = address.map(|address| socket_address(&address, port.0.unwrap_or(0))).transpose();
        let to = match to {
            Ok(to) => to,
            Err(errno) => return errno.code(),
        };
        let bytes = match <[Bytes; 1]>::try_from(parts) {
            Ok([only]) => only.0,
            Err(parts) => parts.into_iter().flat_map(|part| part.0).collect(),
        };
        match self.handle.try_send(&bytes, to) {
            Ok(count) => return count as i32 + 1,
            Err(Errno::EAGAIN) => {}
            Err(errno) => return errno.code(),
        }
        let count = bytes.len() as f64;
        let done = done.0.flatten().map(|done| Caller::new(&ctx, done));
        code(self.handle.send(bytes, to, move |_, sent| {
            if let Some(done) = done {
                done.call(|_| Ok((code(sent), count)));
            }
        }))
    }

    /// Receives: calls `received(count, buffer, address, family, port)` for each datagram, or `received(error)`.
    fn receive(&self, ctx: Ctx<'_>, received: Kept) -> i32 {
        let reader = Caller::new(&ctx, received);
        code(self.handle.receive_start(move |_, datagram| match datagram {
            Ok(Datagram { error: Some(errno), .. }) | Err(errno) => reader.call(|_| Ok((errno.code(),))),
            Ok(datagram) => tell(&reader, &datagram),
        }))
    }

    fn receive_stop(&self) -> i32 {
        code(self.handle.receive_stop())
    }

    /// Closes it, and calls `done` in the closing phase. Closed is closed: again does nothing.
    fn close<'js>(&self, ctx: Ctx<'js>, done: Opt<Value<'js>>) -> Result<()> {
        if self.handle.is_closing() {
            return Ok(());
        }
        let _ = match callback(&ctx, done)? {
            Some(done) => self.handle.close_then(move |_| done.call(|_| Ok(()))),
            None => self.handle.close(),
        };
        Ok(())
    }

    #[qjs(rename = "ref")]
    fn reference(&self) {
        let _ = self.handle.r#ref();
    }

    fn unref(&self) {
        let _ = self.handle.unref();
    }

    fn has_ref(&self) -> bool {
        self.handle.has_ref()
    }

    /// The number of its descriptor; -1 without one.
    #[qjs(get)]
    fn fd(&self) -> i32 {
        self.handle.raw_fd().unwrap_or(-1)
    }

    /// Fills `out` with the address it is bound to.
    fn getsockname(&self, out: Object<'_>) -> Result<i32> {
        describe(&out, self.handle.local_addr())
    }

    /// Fills `out` with the address it is connected to.
    fn getpeername(&self, out: Object<'_>) -> Result<i32> {
        describe(&out, self.handle.peer_addr())
    }

    fn set_broadcast(&self, on: bool) -> i32 {
        self.set(UdpOption::Broadcast(on))
    }

    #[qjs(rename = "setTTL")]
    fn set_ttl(&self, ttl: f64) -> i32 {
        byte(ttl).map_or_else(Errno::code, |ttl| self.set(UdpOption::Ttl(ttl)))
    }

    #[qjs(rename = "setMulticastTTL")]
    fn set_multicast_ttl(&self, ttl: f64) -> i32 {
        byte(ttl).map_or_else(Errno::code, |ttl| self.set(UdpOption::MulticastTtl(ttl)))
    }

    fn set_multicast_loopback(&self, on: bool) -> i32 {
        self.set(UdpOption::MulticastLoop(on))
    }

    fn set_multicast_interface(&self, address: String) -> i32 {
        let is_v4 = matches!(parse(&address), Some((IpAddr::V4(_), _)));
        interface_of(&address, is_v4)
            .map_or_else(Errno::code, |interface| self.set(UdpOption::MulticastInterface(Some(interface))))
    }

    fn add_membership(&self, group: String, interface: Opt<Option<String>>) -> i32 {
        self.change_membership(None, &group, interface.0.flatten().as_deref(), true)
    }

    fn drop_membership(&self, group: String, interface: Opt<Option<String>>) -> i32 {
        self.change_membership(None, &group, interface.0.flatten().as_deref(), false)
    }

    fn add_source_membership(&self, source: String, group: String, interface: Opt<Option<String>>) -> i32 {
        self.change_membership(Some(&source), &group, interface.0.flatten().as_deref(), true)
    }

    fn drop_source_membership(&self, source: String, group: String, interface: Opt<Option<String>>) -> i32 {
        self.change_membership(Some(&source), &group, interface.0.flatten().as_deref(), false)
    }

    /// The size of the buffer for what is received, or for what is to be sent, after it was set to `size` unless that is 0.
    fn buffer_size(&self, size: i32, receives: bool) -> i32 {
        let buffer = if receives { Buffer::Receive } else { Buffer::Send };
        let changed = self.handle.raw_fd().and_then(|number| {
            if size != 0 {
                set_buffer_size(number, buffer, size)?;
            }
            buffer_size(number, buffer)
        });
        changed.unwrap_or_else(Errno::code)
    }

    /// Bytes that the system has not taken.
    #[qjs(get)]
    fn queue_size(&self) -> f64 {
        self.handle.send_queue_size() as f64
    }

    /// Datagrams that the system has not taken.
    #[qjs(get)]
    fn queue_count(&self) -> f64 {
        self.handle.send_queue_count() as f64
    }
}

/// Tells the script of a datagram: the one copy there is, into memory that counts towards what it may use.
fn tell(reader: &Caller, datagram: &Datagram<'_>) {
    let from = datagram.from.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
    reader.call_with(|host, ctx, function| {
        let buffer = ArrayBuffer::new_copy(ctx.clone(), datagram.bytes)?;
        let family = if from.is_ipv4() { "IPv4" } else { "IPv6" };
        host.call_back(ctx, function, (datagram.bytes.len() as i32, buffer, text_of(&from), family, from.port()));
        Ok(())
    });
}

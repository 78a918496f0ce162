//! Network interfaces.

use std::ffi::{c_char, c_int};
use std::net::SocketAddr;

use libc::{sockaddr_in, sockaddr_in6};
use oxuv_core::{Address, Result};
use oxuv_os::system::interfaces::{Interface, Interfaces};

use super::block::{Block, hand_out};
use crate::address::write_address;
use crate::memory::free;

/// An IPv4 or IPv6 address, as its family says.
#[derive(Clone, Copy)]
#[repr(C)]
pub union uv_interface_address_of_family {
    /// IPv4.
    pub address4: sockaddr_in,
    /// IPv6.
    pub address6: sockaddr_in6,
}

/// An address of an interface.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct uv_interface_address_t {
    /// The interface's name.
    pub name: *mut c_char,
    /// Its address on the link, zero if it has none.
    pub phys_addr: [c_char; 6],
    /// Not 0 if it leads nowhere but back.
    pub is_internal: c_int,
    /// The address, with port 0.
    pub address: uv_interface_address_of_family,
    /// The mask of its network, zero if there is none.
    pub netmask: uv_interface_address_of_family,
}

/// Tells of the addresses of all interfaces that are up and running, in the system's order.
///
/// UV_ENOMEM, UV_EMFILE and the like.
///
/// # Safety
/// `addresses` and `count` are places for the array, to be freed by [`uv_free_interface_addresses`], and for its length.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_interface_addresses(
    addresses: *mut *mut uv_interface_address_t,
    count: *mut c_int,
) -> c_int {
    // SAFETY: passed on to our caller word for word.
    unsafe { hand_out(read, addresses, count) }
}

fn read() -> Result<Block<uv_interface_address_t>> {
    let interfaces = Interfaces::read()?;
    let name = |interface: &Interface<'_>| Block::<uv_interface_address_t>::room_of(interface.name.to_bytes());
    let room = interfaces.iter().map(|interface| name(&interface)).sum();
    let mut block = Block::new(interfaces.iter().count(), room)?;
    for interface in interfaces.iter() {
        let name = block.text(interface.name.to_bytes())?;
        block.push(uv_interface_address_t {
            name,
            phys_addr: interface.physical.map(|byte| byte as c_char),
            is_internal: interface.internal.into(),
            address: of_family(Some(interface.address)),
            netmask: of_family(interface.netmask),
        })?;
    }
    Ok(block)
}

fn of_family(address: Option<SocketAddr>) -> uv_interface_address_of_family {
    // SAFETY: both are structures of numbers, for which zero is a value.
    let mut place: uv_interface_address_of_family = unsafe { std::mem::zeroed() };
    let mut size = size_of_val(&place) as c_int;
    if let Some(address) = address {
        // SAFETY: there is room for the larger one. A place that is large enough gives no error.
        let _ = unsafe { write_address(&Address::from(&address), (&raw mut place).cast(), &mut size) };
    }
    place
}

/// Frees what [`uv_interface_addresses`] gave. Null is fine.
///
/// # Safety
/// `addresses` is null, or came from [`uv_interface_addresses`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn uv_free_interface_addresses(addresses: *mut uv_interface_address_t, _count: c_int) {
    // SAFETY: the array is one block of `calloc`'s.
    unsafe { free(addresses.cast()) }
}

//! Names: of hosts and services to addresses, and back. These calls wait for the network, as long as the system's resolver
//! is set to.

mod host_name;
mod query;

use crate::Errno;

pub use host_name::HostName;
pub use query::{Address, Found, Hints, LookupFlags, Name, NameFlags, SocketKind, look_up, look_up_name};

/// The error for what `getaddrinfo` or `getnameinfo` returned just now, in libuv's numbers. `None` for 0.
pub fn error(returned: i32) -> Option<Errno> {
    // Those that the libc crate does not have for all systems have these numbers in all of Linux's C libraries.
    const EAI_NODATA: i32 = -5;
    const EAI_ADDRFAMILY: i32 = -9;
    const EAI_CANCELED: i32 = -101;
    let number = match returned {
        0 => return None,
        libc::EAI_SYSTEM => return Some(Errno::from_raw(errno::errno().0)),
        EAI_ADDRFAMILY => 3000,
        libc::EAI_AGAIN => 3001,
        libc::EAI_BADFLAGS => 3002,
        EAI_CANCELED => 3003,
        libc::EAI_FAIL => 3004,
        libc::EAI_FAMILY => 3005,
        libc::EAI_MEMORY => 3006,
        EAI_NODATA => 3007,
        libc::EAI_NONAME => 3008,
        libc::EAI_OVERFLOW => 3009,
        libc::EAI_SERVICE => 3010,
        libc::EAI_SOCKTYPE => 3011,
        _ => return Some(Errno::UNKNOWN),
    };
    Some(Errno::from_raw(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolvers_errors_have_libuvs_names() {
        let name = |returned| error(returned).and_then(Errno::name);
        assert_eq!(error(0), None);
        for (returned, expected) in [
            (libc::EAI_NONAME, "EAI_NONAME"),
            (libc::EAI_AGAIN, "EAI_AGAIN"),
            (libc::EAI_SERVICE, "EAI_SERVICE"),
            (-5, "EAI_NODATA"),
            (-9, "EAI_ADDRFAMILY"),
            (-101, "EAI_CANCELED"),
        ] {
            assert_eq!(name(returned), Some(expected));
        }
        assert_eq!(error(-12345), Some(Errno::UNKNOWN));
    }
}

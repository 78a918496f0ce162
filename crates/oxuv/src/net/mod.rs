//! Sockets for tasks: TCP, Unix sockets, UDP, and the names of hosts.
//!
//! They are the handles of the same kinds ([`Tcp`](crate::Tcp), [`Pipe`](crate::Pipe), [`Udp`](crate::Udp)) with futures instead of closures.
//! Streams are [`futures_io::AsyncRead`] and [`futures_io::AsyncWrite`], and so are references to them; with the features `tokio` and `hyper` they
//! are those crates' as well. What is needed most they have as methods of their own, which take `&self`: one task may read while
//! another writes.
//!
//! ```
//! use oxuv::net::{TcpListener, TcpStream};
//! use oxuv::{Loop, task};
//!
//! let lp = Loop::new()?;
//! lp.block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let address = listener.local_addr()?;
//!     task::spawn_local(async move {
//!         let (stream, _peer) = listener.accept().await?;
//!         let mut buf = [0; 1024];
//!         loop {
//!             match stream.read(&mut buf).await? {
//!                 0 => return std::io::Result::Ok(()),
//!                 count => stream.write_all(&buf[..count]).await?,
//!             }
//!         }
//!     });
//!     let stream = TcpStream::connect(address).await?;
//!     stream.write_all(b"echo").await?;
//!     let mut buf = [0; 4];
//!     stream.read_exact(&mut buf).await?;
//!     assert_eq!(&buf, b"echo");
//!     std::io::Result::Ok(())
//! })?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The loop tells of readiness, and a task reads into its own memory when it runs: nothing is buffered, and what is not read
//! waits in the kernel. With many connections, a [`BufReader`] reads into memory that the loop lends.
//!
//! # Several tasks at one end
//!
//! Several tasks may wait at one end, for the same: to read from a stream, to write to it, for a connection, for a datagram. When it comes, all
//! are woken, and each tries: who finds nothing waits again. What has come goes to one of them, and which is not said; what two write at
//! once may be mixed, as the kernel takes pieces of it. One that has given up is in nobody's way. The functions named `poll_...`, and the
//! traits of readers and writers, do not know when somebody gives up: of all who wait by them, for the same, the last is woken.
//!
//! # Errors
//! They are [`std::io::Error`], which `?` makes of an [`Errno`](crate::Errno) and the other way round. When the loop is gone, everything is
//! EINVAL.

mod address;
mod buf_reader;
mod flow;
mod gate;
#[cfg(feature = "hyper")]
mod hyper;
mod lender;
mod tcp;
#[cfg(feature = "tokio")]
mod tokio;
mod traits;
mod udp;
mod unix;
#[cfg(any(feature = "hyper", feature = "tokio"))]
mod writes;

pub use address::{ToSocketAddrs, lookup_host};
pub use buf_reader::{BufReader, Source};
pub(crate) use flow::Flow;
pub(crate) use gate::{Gate, Gates};
pub(crate) use lender::Lender;
pub use tcp::{OwnedReadHalf, OwnedWriteHalf, TcpListener, TcpStream};
pub use udp::UdpSocket;
pub use unix::{OwnedUnixReadHalf, OwnedUnixWriteHalf, UnixListener, UnixStream};

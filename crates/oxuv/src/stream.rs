//! What all streams do: read, write, and shut their writing side down.
//!
//! Each kind of stream has these methods as its own, with closures that are given that kind: see [`is_a_stream`].

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use oxuv_core::{Buffers, Key, Refused};

pub(crate) use oxuv_core::{Many, One};

use crate::callbacks::{Callback, OnDone};
use crate::loop_::Core;
use crate::{Handle, LoopRef, Result, Tcp, Tty};

/// One handle as a stream of each kind. Closures are kept without their kind, and take from here what they are to be
/// given.
pub(crate) struct Streams {
    pub(crate) tcp: Tcp,
    pub(crate) tty: Tty,
}

impl Streams {
    #[inline]
    pub(crate) fn new(lp: &LoopRef, key: Key) -> Streams {
        let handle = Handle::new(lp, key);
        Streams { tcp: Tcp(handle.clone()), tty: Tty(handle) }
    }
}

/// A kind of stream.
pub(crate) trait Stream: Deref<Target = Handle> + 'static {
    fn of(streams: &Streams) -> &Self;
}

/// The closure of a request, without its kind of stream.
#[inline]
pub(crate) fn once<S: Stream>(on_done: impl FnOnce(&S, Result<()>) + 'static) -> OnDone {
    Box::new(move |streams, result| on_done(S::of(streams), result))
}

pub(crate) fn read_start<S: Stream>(stream: &S, callback: impl FnMut(&S, Result<&[u8]>) + 'static) -> Result<()> {
    stream.with(|core, key| core.read_start(key))?;
    let callback = RefCell::new(callback);
    stream.set_callback(Callback::Read(Rc::new(move |streams, read| callback.borrow_mut()(S::of(streams), read))));
    Ok(())
}

impl Handle {
    /// Keeps a closure for a request, and makes the request.
    pub(crate) fn request(&self, on_done: OnDone, ask: impl FnOnce(&mut Core, Key, u32) -> Result<()>) -> Result<()> {
        let callbacks = &self.owner().0.callbacks;
        let request = callbacks.add_request(on_done)?;
        let asked = self.with(|core, key| ask(core, key, request));
        if asked.is_err() {
            drop(callbacks.take_request(request));
        }
        asked
    }

    pub(crate) fn write_buffers<T: Buffers + 'static>(&self, buffers: T, on_done: OnDone) -> Result<()> {
        let callbacks = &self.owner().0.callbacks;
        let request = callbacks.add_request(on_done)?;
        let written = self.with(|core, key| Ok(core.write(key, request, buffers, |buffers| Box::new(buffers) as _)));
        // Whatever is handed back is dropped at the end of this function, where nothing is borrowed.
        let (error, _buffers) = match written {
            Ok(Ok(_buffers)) => return Ok(()),
            Ok(Err(Refused { error, given })) => (error, Some(given)),
            Err(error) => (error, None),
        };
        drop(callbacks.take_request(request));
        Err(error)
    }
}

/// Gives a kind of handle the methods of streams; `$field` is its field of [`Streams`].
macro_rules! is_a_stream {
    ($kind:ident, $field:ident) => {
        impl $crate::stream::Stream for $kind {
            #[inline]
            fn of(streams: &$crate::stream::Streams) -> &Self {
                &streams.$field
            }
        }

        /// As a stream.
        impl $kind {
            /// Reads: `callback` gets what has arrived, until [`Self::read_stop`], or until it gets an error, the
            /// last it is
            /// called with. The bytes are the loop's buffer, up to 64 KiB, lent for the call. Phase: poll.
            ///
            /// The end of the stream is the error EOF. After any other error the connection is neither readable nor
            /// writable.
            ///
            /// # Errors
            /// EINVAL when closing, EALREADY when it is reading, ENOTCONN when it is not connected or has failed;
            /// EEXIST when a
            /// [`Poll`](crate::Poll) of this loop waits for its descriptor.
            #[doc(alias = "uv_read_start")]
            pub fn read_start(
                &self,
                callback: impl FnMut(&Self, $crate::Result<&[u8]>) + 'static,
            ) -> $crate::Result<()> {
                $crate::stream::read_start(self, callback)
            }

            /// Stops reading. Stopped is stopped: again does nothing. What arrives waits in the kernel.
            ///
            /// # Errors
            /// EINVAL when closed.
            #[doc(alias = "uv_read_stop")]
            pub fn read_stop(&self) -> $crate::Result<()> {
                self.with(|core, key| core.read_stop(key))
            }

            /// Writes all of `bytes`, which anything may be that owns them: a `Vec`, a `String`, an `Arc<[u8]>`, a
            /// `&'static`
            /// slice. They are not copied. What the kernel does not take at once follows as it does; writes keep
            /// their order.
            ///
            /// `on_done` is called once, never inside this call: with `Ok` when the kernel has taken everything, with
            /// ECANCELED when the handle is closed before. Phase: pending, poll or closing.
            ///
            /// The bytes are looked at by `as_ref`, now and later, inside the loop: it gives the same bytes each
            /// time, and does
            /// not call this loop.
            ///
            /// # Errors
            /// EINVAL for more than 2^31-1 bytes, or when closed; EBADF when closing, or without a socket; EPIPE when
            /// not
            /// connected, or after [`Self::shutdown`]; ENOMEM. `on_done` is not called then.
            #[doc(alias = "uv_write")]
            pub fn write<T>(
                &self,
                bytes: T,
                on_done: impl FnOnce(&Self, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()>
            where
                T: AsRef<[u8]> + 'static,
            {
                self.write_buffers($crate::stream::One(bytes), $crate::stream::once(on_done))
            }

            /// As [`Self::write`], for several buffers in a row.
            ///
            /// # Errors
            /// As [`Self::write`]; EINVAL for no buffer, or for more than 2^20.
            #[doc(alias = "uv_write")]
            pub fn write_vectored<T>(
                &self,
                parts: Vec<T>,
                on_done: impl FnOnce(&Self, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()>
            where
                T: AsRef<[u8]> + 'static,
            {
                self.write_buffers($crate::stream::Many(parts), $crate::stream::once(on_done))
            }

            /// Sends what the kernel takes at once, and returns how many bytes that was.
            ///
            /// # Errors
            /// EAGAIN when it takes nothing, or when bytes are queued; else as [`Self::write`], and as the connection
            /// fails.
            #[doc(alias = "uv_try_write")]
            pub fn try_write(&self, bytes: &[u8]) -> $crate::Result<usize> {
                self.with(|core, key| core.try_write(key, &$crate::stream::One(bytes)))
            }

            /// As [`Self::try_write`], from several buffers in a row.
            ///
            /// # Errors
            /// As [`Self::try_write`]; EINVAL for no buffer, or for more than 2^20.
            #[doc(alias = "uv_try_write")]
            pub fn try_write_vectored<T: AsRef<[u8]>>(&self, parts: &[T]) -> $crate::Result<usize> {
                self.with(|core, key| core.try_write(key, &$crate::stream::Many(parts)))
            }

            /// Ends the writing side when everything written so far is sent: the peer reads the end of the stream.
            /// Nothing can
            /// be written any more, but reading goes on. `on_done` is called once, never inside this call. Phase:
            /// pending, poll
            /// or closing.
            ///
            /// # Errors
            /// ENOTCONN when not connected, or shut down before; EINVAL when closed.
            #[doc(alias = "uv_shutdown")]
            pub fn shutdown(&self, on_done: impl FnOnce(&Self, $crate::Result<()>) + 'static) -> $crate::Result<()> {
                let on_done = $crate::stream::once(on_done);
                self.request(on_done, |core, key, request| core.shutdown(key, request))
            }

            /// Bytes of writes that the kernel has not taken, or whose failure was not told yet.
            #[doc(alias = "uv_stream_get_write_queue_size")]
            pub fn write_queue_size(&self) -> usize {
                self.with(|core, key| core.write_queue_size(key)).unwrap_or(0)
            }

            /// True from the moment it is connected until its reading side fails.
            #[doc(alias = "uv_is_readable")]
            pub fn is_readable(&self) -> bool {
                self.with(|core, key| Ok(core.is_readable(key))).unwrap_or(false)
            }

            /// True from the moment it is connected until [`Self::shutdown`], or until it fails.
            #[doc(alias = "uv_is_writable")]
            pub fn is_writable(&self) -> bool {
                self.with(|core, key| Ok(core.is_writable(key))).unwrap_or(false)
            }
        }
    };
}
pub(crate) use is_a_stream;

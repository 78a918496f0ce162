//! What all streams have in common: reading, writing, shutting down; and of listeners: listening and accepting.
//!
//! Each kind of stream has these as methods of its own, so that nothing need be imported for them.

use std::ops::Deref;

use oxuv_core::{Buffers, Key, Progress, Refused};

use crate::callbacks::{Callback, OnDone};
use crate::drive::Subjects;
use crate::kept::Kept;
use crate::loop_::Core;
use crate::{Handle, Result};

/// A kind of stream, which is a handle by another name.
pub trait Stream: Deref<Target = Handle> + Sized + 'static {
    /// The stream that a closure is given.
    fn subject(subjects: &mut Subjects, key: Key) -> &Self;
}

/// Gives a kind of handle the methods of streams.
macro_rules! is_a_stream {
    ($kind:ident, $subject:ident) => {
        impl $crate::stream::Stream for $kind {
            #[inline]
            fn subject(subjects: &mut $crate::drive::Subjects, key: oxuv_core::Key) -> &$kind {
                subjects.$subject.0.point_at(key);
                &subjects.$subject
            }
        }

        impl $kind {
            /// Reads: `callback` gets what has arrived, until [`read_stop`](Self::read_stop), or until it gets an error, the last it is
            /// called with. The bytes are the loop's buffer, up to 64 KiB, lent for the call. Phase: poll.
            ///
            /// The end of the stream is the error EOF. After any other error the connection is neither readable nor writable.
            ///
            /// # Errors
            /// EINVAL when closing, EALREADY when it is reading or [tasks]($crate::net) have it, ENOTCONN when it is not connected or
            /// has failed; EEXIST when a [`Poll`]($crate::Poll) of this loop waits for its descriptor.
            #[doc(alias = "uv_read_start")]
            pub fn read_start(
                &self,
                callback: impl FnMut(&$kind, $crate::Result<&[u8]>) + 'static,
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

            /// Writes all of `bytes`, which anything may be that owns them: a `Vec`, a `String`, an `Arc<[u8]>`, a `&'static`
            /// slice. They are not copied. What the kernel does not take at once follows as it does; writes keep their order.
            ///
            /// `on_done` is called once, never inside this call: with `Ok` when the kernel has taken everything, with
            /// ECANCELED when the handle is closed before. Phase: pending, poll or closing.
            ///
            /// The bytes are looked at by `as_ref`, now and later, inside the loop: it gives the same bytes each time, and does
            /// not call this loop.
            ///
            /// # Errors
            /// EINVAL for more than 2^31-1 bytes, or when closed; EBADF when closing, or without a descriptor; EPIPE when not
            /// connected, or after [`shutdown`](Self::shutdown); ENOMEM. `on_done` is not called then.
            #[doc(alias = "uv_write")]
            pub fn write<T>(
                &self,
                bytes: T,
                on_done: impl FnOnce(&$kind, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()>
            where
                T: AsRef<[u8]> + 'static,
            {
                $crate::stream::write(self, oxuv_core::One(bytes), on_done, $crate::kept::Kept::one)
            }

            /// As [`write`](Self::write), for several buffers in a row.
            ///
            /// # Errors
            /// As [`write`](Self::write); EINVAL for no buffer, or for more than 2^20.
            #[doc(alias = "uv_write")]
            pub fn write_vectored<T>(
                &self,
                parts: Vec<T>,
                on_done: impl FnOnce(&$kind, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()>
            where
                T: AsRef<[u8]> + 'static,
            {
                $crate::stream::write(self, oxuv_core::Many(parts), on_done, $crate::kept::Kept::many)
            }

            /// As [`write`](Self::write), for bytes that are only lent: they are copied if the kernel does not take all of
            /// them at once. Mostly it does, and then nothing is allocated, but for an `on_done` that captures something.
            ///
            /// # Errors
            /// As [`write`](Self::write).
            #[doc(alias = "uv_write")]
            pub fn write_copy(
                &self,
                bytes: &[u8],
                on_done: impl FnOnce(&$kind, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()> {
                let keep = |oxuv_core::One(bytes): oxuv_core::One<&[u8]>| $crate::kept::Kept::Vec(bytes.to_vec());
                $crate::stream::write(self, oxuv_core::One(bytes), on_done, keep)
            }

            /// Sends what the kernel takes at once, and returns how many bytes that was.
            ///
            /// # Errors
            /// EAGAIN when it takes nothing, or when bytes are queued; else as [`write`](Self::write), and as the connection fails.
            #[doc(alias = "uv_try_write")]
            #[inline]
            pub fn try_write(&self, bytes: &[u8]) -> $crate::Result<usize> {
                self.with(|core, key| core.try_write(key, oxuv_core::One(bytes)))
            }

            /// As [`try_write`](Self::try_write), from several buffers in a row.
            ///
            /// # Errors
            /// As [`try_write`](Self::try_write); EINVAL for no buffer, or for more than 2^20.
            #[doc(alias = "uv_try_write")]
            pub fn try_write_vectored<T: AsRef<[u8]>>(&self, parts: &[T]) -> $crate::Result<usize> {
                self.with(|core, key| core.try_write(key, oxuv_core::Many(parts)))
            }

            /// Ends the writing side when everything written so far is sent: the peer reads the end of the stream. Nothing can
            /// be written any more, but reading goes on. `on_done` is called once, never inside this call. Phase: pending, poll
            /// or closing.
            ///
            /// # Errors
            /// ENOTCONN when not connected, or shut down before; EINVAL when closed.
            #[doc(alias = "uv_shutdown")]
            pub fn shutdown(&self, on_done: impl FnOnce(&$kind, $crate::Result<()>) + 'static) -> $crate::Result<()> {
                $crate::stream::request(self, on_done, |core, key, request| core.shutdown(key, request))
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

            /// True from the moment it is connected until [`shutdown`](Self::shutdown), or until it fails.
            #[doc(alias = "uv_is_writable")]
            pub fn is_writable(&self) -> bool {
                self.with(|core, key| Ok(core.is_writable(key))).unwrap_or(false)
            }
        }
    };
}
pub(crate) use is_a_stream;

/// Gives a kind of stream the methods of listeners.
macro_rules! listens {
    ($kind:ident) => {
        impl $kind {
            /// Listens: `callback` is called for each connection, one a turn, and takes it with [`accept`](Self::accept). If it does not,
            /// no other is announced until it is taken. Phase: poll. Again sets the new backlog and closure.
            ///
            /// The result that the closure gets is an error when connections had to be turned away at the descriptor limit
            /// (EMFILE, ENFILE; more may come later), or when the listening socket has failed (there will be no more).
            ///
            /// # Errors
            /// EINVAL when closing or connected, EALREADY when [tasks]($crate::net) have it, EADDRINUSE; what making a socket fails with
            /// if there is none.
            #[doc(alias = "uv_listen")]
            pub fn listen(
                &self,
                backlog: i32,
                callback: impl FnMut(&$kind, $crate::Result<()>) + 'static,
            ) -> $crate::Result<()> {
                self.check_no_tasks()?;
                self.with(|core, key| core.listen(key, backlog))?;
                $crate::stream::on_connection(self, callback);
                Ok(())
            }

            /// The connection that waits on this listener, as a new handle of the same loop. It stays open until it is closed,
            /// also if the value returned is dropped.
            ///
            /// # Errors
            /// EAGAIN when none waits, EINVAL when closing, ENOMEM.
            #[doc(alias = "uv_accept")]
            #[track_caller]
            pub fn accept(&self) -> $crate::Result<$kind> {
                self.with(|core, key| core.check_waiting(key))?;
                let client = $kind::new(self.owner())?;
                let accepted = client.with(|core, client| core.accept(self.key(), client));
                if let Err(error) = accepted {
                    client.close()?;
                    return Err(error);
                }
                self.owner().0.callbacks.made.inherit(self.key().index(), client.key().index());
                Ok(client)
            }
        }
    };
}
pub(crate) use listens;

/// Reads, and calls `callback` with what has come.
pub(crate) fn read_start<S: Stream>(stream: &S, mut callback: impl FnMut(&S, Result<&[u8]>) + 'static) -> Result<()> {
    stream.check_no_tasks()?;
    stream.with(|core, key| core.read_start(key))?;
    let callback = move |subjects: &mut Subjects, key, read: &Result<&[u8]>| callback(S::subject(subjects, key), *read);
    stream.set_callback(Callback::Read(Box::new(callback)));
    Ok(())
}

/// Has `callback` called for connections.
pub(crate) fn on_connection<S: Stream>(stream: &S, mut callback: impl FnMut(&S, Result<()>) + 'static) {
    let callback = move |subjects: &mut Subjects, key, waiting| callback(S::subject(subjects, key), waiting);
    stream.set_callback(Callback::Connection(Box::new(callback)));
}

/// Keeps a closure for a request, and makes the request.
pub(crate) fn request<S: Stream>(
    stream: &S,
    on_done: impl FnOnce(&S, Result<()>) + 'static,
    ask: impl FnOnce(&mut Core, Key, u32) -> Result<()>,
) -> Result<()> {
    let on_done: OnDone = Box::new(move |subjects, key, result| on_done(S::subject(subjects, key), result));
    let made = stream.owner().0.request(
        |requests| &mut requests.done,
        on_done,
        |core, request| ask(core, stream.key(), request).map_err(|error| (error, None::<()>)),
    );
    made.map_err(|(error, _)| error)
}

/// Writes, as `ask` says to the core.
#[inline]
pub(crate) fn write<S: Stream, T: Buffers>(
    stream: &S,
    buffers: T,
    on_done: impl FnOnce(&S, Result<()>) + 'static,
    keep: impl FnOnce(T) -> Kept,
) -> Result<()> {
    write_by(stream, on_done, |core, key, request| core.write(key, request, buffers, keep))
}

/// Makes a request of a write.
#[inline]
pub(crate) fn write_by<S: Stream, T: Buffers>(
    stream: &S,
    on_done: impl FnOnce(&S, Result<()>) + 'static,
    ask: impl FnOnce(&mut Core, Key, u32) -> Result<Progress<T>, Refused<T>>,
) -> Result<()> {
    let on_done: OnDone = Box::new(move |subjects, key, result| on_done(S::subject(subjects, key), result));
    // Whatever is handed back is dropped at the end of this function, where nothing is borrowed.
    let written = stream.owner().0.request(
        |requests| &mut requests.done,
        on_done,
        |core, request| ask(core, stream.key(), request).map_err(|Refused { error, given }| (error, Some(given))),
    );
    written.map(drop).map_err(|(error, _)| error)
}

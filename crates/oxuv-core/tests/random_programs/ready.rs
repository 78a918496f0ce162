//! Readiness of streams that the program reads when it comes to it.

use oxuv_core::kernel::{Readiness, Room};
use oxuv_core::{Errno, Result as CoreResult};

use crate::Check;
use crate::actions::same;
use crate::model::Model;
use crate::program::Place;
use crate::run::Machine;

impl Model {
    fn await_ready(&mut self, place: Place, interest: Readiness) -> CoreResult<()> {
        self.open(place)?;
        let handle = &mut self.handles[place];
        let stream = &mut handle.stream;
        if interest.is_empty() || !(Readiness::READ | Readiness::WRITE).contains(interest) {
            return Err(Errno::EINVAL);
        }
        if stream.is_reading {
            return Err(Errno::EALREADY);
        }
        if !stream.has_socket || stream.is_listening || stream.is_connecting() {
            return Err(Errno::ENOTCONN);
        }
        stream.awaited |= interest;
        handle.is_active = true;
        Ok(())
    }

    fn may_try_read(&self, place: Place, size: usize) -> CoreResult<()> {
        self.open(place)?;
        let stream = &self.handles[place].stream;
        match stream {
            _ if stream.is_reading => Err(Errno::EALREADY),
            _ if !stream.has_socket || !stream.is_readable || stream.is_connecting() => Err(Errno::ENOTCONN),
            _ if size == 0 => Err(Errno::ENOBUFS),
            _ => Ok(()),
        }
    }
}

impl Machine<'_> {
    pub(crate) fn await_ready(&mut self, place: Place, interest: u16) -> Check {
        let interest = Readiness::from_bits_retain(interest);
        let expected = self.model.await_ready(place, interest);
        same("wait_ready", self.core.wait_ready(self.model.handles[place].key, interest), expected)
    }

    pub(crate) fn take_ready(&mut self, place: Place, readiness: Readiness) -> Check {
        let handle = &mut self.model.handles[place];
        let awaited = handle.stream.awaited;
        ensure!(
            !readiness.is_empty() && awaited.contains(readiness),
            "{readiness:?} of {awaited:?} that is waited for"
        );
        handle.stream.awaited -= readiness;
        handle.is_active = !handle.stream.awaited.is_empty();
        Ok(())
    }

    /// What most programs do with readiness: they read, and wait for more.
    pub(crate) fn use_readiness(&mut self, place: Place, readiness: Readiness) -> Check {
        if !readiness.contains(Readiness::READ) {
            return Ok(());
        }
        self.try_read(place)?;
        let may_end = self.model.handles[place].stream.is_readable;
        if may_end && self.random.chance(700) { self.await_ready(place, Readiness::READ.bits()) } else { Ok(()) }
    }

    pub(crate) fn try_read(&mut self, place: Place) -> Check {
        let key = self.model.handles[place].key;
        let size = *self.random.pick(&[0, 1, 7, 300, 5000, 5000]).expect("there are some");
        let mut buffer = vec![0; size];
        let expected = self.model.may_try_read(place, size);
        let got = self.core.try_read(key, Room::from(&mut buffer[..])).map(|bytes| bytes.to_vec());
        self.trace.push(format!("try_read of {size}: {:?}", got.as_ref().map(Vec::len)));
        if expected.is_err() {
            return same("try_read", got.map(drop), expected);
        }
        match got {
            Err(Errno::EAGAIN) => Ok(()),
            Err(Errno::EOF) => self.check_end_of_stream(place),
            Err(error) => self.take_failure(place, error),
            Ok(bytes) => self.take_bytes(place, key, &bytes),
        }
    }
}

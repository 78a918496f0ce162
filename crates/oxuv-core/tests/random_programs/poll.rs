//! Poll handles: each has a connected socket of its own, which the program reads from when it is ready.

use oxuv_core::kernel::{Kernel, Readiness, Room};
use oxuv_core::{Errno, Key, Result as CoreResult};

use crate::Check;
use crate::actions::same;
use crate::model::Model;
use crate::outside::{PEER, bytes};
use crate::program::Place;
use crate::run::Machine;

impl Model {
    fn start_poll(&mut self, place: Place, interest: Readiness) -> CoreResult<()> {
        self.open(place)?;
        let handle = &mut self.handles[place];
        (handle.wanted, handle.is_active) = (interest, !interest.is_empty());
        Ok(())
    }

    pub(crate) fn stop_poll(&mut self, place: Place) -> CoreResult<()> {
        self.known(place)?;
        let handle = &mut self.handles[place];
        (handle.wanted, handle.is_active) = (Readiness::empty(), false);
        Ok(())
    }
}

impl Machine<'_> {
    pub(crate) fn init_poll(&mut self, place: Place, user: u64) -> CoreResult<Key> {
        let (fd, peer) = self.sim.pair()?;
        let key = self.core.poll_init(user, fd.number())?;
        self.polled[place] = Some(self.outside.borrow_mut().add(peer));
        self.owned[place] = Some(fd);
        Ok(key)
    }

    pub(crate) fn start_poll(&mut self, place: Place, interest: u16) -> Check {
        let interest = Readiness::from_bits_truncate(interest);
        let expected = self.model.start_poll(place, interest);
        same("poll_start", self.core.poll_start(self.model.handles[place].key, interest), expected)
    }

    pub(crate) fn take_poll(&mut self, place: Place, result: CoreResult<Readiness>) -> Check {
        let handle = &self.model.handles[place];
        ensure!(handle.is_active, "readiness for one who does not wait");
        let number = self.polled[place].ok_or("a poll handle without a connection")?;
        let peer = self.outside.borrow().connections[number].peer;
        match result {
            Ok(ready) => {
                ensure!(handle.wanted.contains(ready) && !ready.is_empty(), "{ready:?}, wanted is {:?}", handle.wanted);
            }
            Err(error) => {
                ensure!(error == Errno::EBADF && peer.has_reset(&self.sim), "a descriptor fails with {error:?}");
                let _ = self.model.stop_poll(place);
            }
        }
        let Some(fd) = &self.owned[place] else { return Err("a poll handle without a descriptor".into()) };
        let mut buffer = [0; 50];
        if let Ok(got) = self.sim.clone().recv(fd, Room::from(&mut buffer[..])) {
            let connection = &mut self.outside.borrow_mut().connections[number];
            ensure!(got == bytes(number, PEER, connection.read, got.len()), "what was read was not sent");
            connection.read += got.len();
        }
        Ok(())
    }
}

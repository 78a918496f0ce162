//! Receiving datagrams.

use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr};

use oxuv_os::{Errno, Result};

use crate::kernel::{Batch, Kernel, Queue, Readiness, Received, UdpBindFlags};
use crate::stream::Stage;
use crate::udp::UdpFlags;
use crate::{Buffers, Core, Event, Key, Kind};

/// The size of the largest datagram: each of several is received into so many bytes of the buffer.
pub const DATAGRAM_SIZE: usize = 64 * 1024;

impl<K: Kernel, U: Copy + Default, B: Buffers> Core<K, U, B> {
    /// Starts receiving: [`Event::NeedDatagramBuffer`] comes whenever there is something to receive, until stopped. A
    /// handle without a socket is bound to any IPv4 address first.
    ///
    /// # Errors
    /// EINVAL when closing, EALREADY when it is receiving or waited for; EEXIST when another handle waits for the descriptor; what
    /// binding fails with.
    #[doc(alias = "uv_udp_recv_start")]
    pub fn udp_receive_start(&mut self, key: Key) -> Result<()> {
        let index = self.open_handle(key, Kind::Udp)?;
        if self.udps[self.slots[index].state].flags.intersects(UdpFlags::RECEIVING | UdpFlags::AWAITED) {
            return Err(Errno::EALREADY);
        }
        self.udp_bind_to_any(key, IpAddr::V4(Ipv4Addr::UNSPECIFIED), UdpBindFlags::default())?;
        self.check_free(self.udps[self.slots[index].state].watch.number, Some(index))?;
        let udp = &mut self.udps[self.slots[index].state];
        udp.flags = (udp.flags - UdpFlags::KEPT) | UdpFlags::RECEIVING;
        self.want(index, Readiness::READ);
        self.set_active(index);
        Ok(())
    }

    /// Stops receiving. Stopped is stopped: again does nothing. What has arrived stays with the kernel.
    ///
    /// # Errors
    /// EINVAL for a stale key.
    #[doc(alias = "uv_udp_recv_stop")]
    pub fn udp_receive_stop(&mut self, key: Key) -> Result<()> {
        let index = self.slots.find_kind(key, Kind::Udp)?;
        let udp = &mut self.udps[self.slots[index].state];
        if udp.is(UdpFlags::RECEIVING) {
            udp.flags -= UdpFlags::RECEIVING;
            self.unwant(index, Readiness::READ);
            if self.udp_rests(index) {
                self.set_inactive(index);
            }
        }
        Ok(())
    }

    /// True between receive start and receive stop or close. Before it tells its user of each of several datagrams, a
    /// front asks this.
    #[inline]
    pub fn udp_is_receiving(&self, key: Key) -> bool {
        if self.step.stage == Stage::UdpReceive && self.step.key == key {
            // As a rule it is the one being worked on. Its slot is not freed meanwhile, so this key is as good as one looked up.
            return self.udps[self.step.state].is(UdpFlags::RECEIVING);
        }
        self.udp(key).is_ok_and(|udp| udp.is(UdpFlags::RECEIVING))
    }

    /// True if the handle receives several datagrams at a time.
    #[doc(alias = "uv_udp_using_recvmmsg")]
    pub fn udp_receives_several(&self, key: Key) -> bool {
        self.udp(key).is_ok_and(|udp| udp.is(UdpFlags::SEVERAL))
    }

    /// Answers [`Event::NeedDatagramBuffer`]: receives one datagram into `buf`, of which `received` tells then; before, it is
    /// [`Received::none`]. False when nothing was received (EAGAIN), or when receiving was stopped or the handle closed since
    /// the event: the buffer is given back, that is all.
    ///
    /// # Errors
    /// * ENOBUFS: `buf` is empty, nothing was received.
    /// * any other: a datagram sent before has failed. Receiving goes on.
    #[inline]
    pub fn udp_receive_into<'a>(
        &mut self,
        key: Key,
        buf: &'a mut [MaybeUninit<u8>],
        received: &mut Received<'a>,
    ) -> Result<bool> {
        let Some(queue) = self.queue_for(key, buf.is_empty())? else { return Ok(false) };
        let Some(fd) = &self.udps[self.step.state].fd else { return Ok(false) };
        match self.kernel.receive_datagram(fd, buf.into(), queue, received) {
            Ok(()) => Ok(true),
            Err(error) => self.nothing_received(error).map(|()| false),
        }
    }

    /// As [`Core::udp_receive_into`], for several datagrams, each of which is received into a part of `buf` of
    /// [`DATAGRAM_SIZE`] bytes. The batch, which is empty before, stays so when nothing was received.
    ///
    /// # Errors
    /// EINVAL when `buf` is smaller than one such part; else as [`Core::udp_receive_into`].
    pub fn udp_receive_several_into<'a>(
        &mut self,
        key: Key,
        buf: &'a mut [MaybeUninit<u8>],
        batch: &mut Batch<'a>,
    ) -> Result<()> {
        let Some(queue) = self.queue_for(key, buf.is_empty())? else { return Ok(()) };
        let Some(fd) = &self.udps[self.step.state].fd else { return Ok(()) };
        match self.kernel.receive_datagrams(fd, buf, DATAGRAM_SIZE, queue, batch) {
            Ok(()) => {
                // The event has counted one of them.
                let others = u8::try_from(batch.len()).unwrap_or(u8::MAX).saturating_sub(1);
                self.step.rounds = self.step.rounds.saturating_sub(others);
                Ok(())
            }
            Err(error) => self.nothing_received(error),
        }
    }

    /// The queue that the handle being worked on is to receive from; `None` if it is not, or not any more.
    #[inline]
    fn queue_for(&mut self, key: Key, is_empty: bool) -> Result<Option<Queue>> {
        if self.step.key != key {
            return Ok(None);
        }
        // As long as there is a step its handle's slot is not freed, so this key is as good as one looked up.
        let queue = match self.step.stage {
            Stage::UdpReceive => Queue::Datagrams,
            Stage::UdpReceiveErrors => Queue::Errors,
            _ => return Ok(None),
        };
        if is_empty {
            self.end_receiving();
            return Err(Errno::ENOBUFS);
        }
        let udp = &self.udps[self.step.state];
        Ok(match queue {
            _ if !udp.is(UdpFlags::RECEIVING) => None,
            Queue::Datagrams if udp.is(UdpFlags::DESCRIBED) => Some(Queue::Described),
            queue => Some(queue),
        })
    }

    fn nothing_received(&mut self, error: Errno) -> Result<()> {
        self.end_receiving();
        if error == Errno::EAGAIN { Ok(()) } else { Err(error) }
    }

    /// Nothing (more) to receive from this queue for now.
    fn end_receiving(&mut self) {
        let has_failed = self.step.readiness.contains(Readiness::ERROR);
        self.step.rounds = crate::stream::ROUNDS;
        self.step.stage = match self.step.stage {
            Stage::UdpReceive if has_failed => Stage::UdpReceiveErrors,
            _ if self.step.readiness.contains(Readiness::WRITE) => Stage::UdpSend,
            _ => Stage::None,
        };
    }

    /// What [`Core::next`] would give, if that is again an event of the same kind and handle as the last one,
    /// [`Event::NeedDatagramBuffer`]: true then, and it is to be answered. It gets there quicker.
    #[inline]
    pub fn next_receive(&mut self) -> bool {
        let is_next = self.step.stage == Stage::UdpReceive
            && self.step.rounds > 0
            && self.udps[self.step.state].is(UdpFlags::RECEIVING)
            && !self.is_observed();
        self.step.rounds -= u8::from(is_next);
        is_next
    }

    pub(crate) fn step_receive(&mut self) -> Option<Event<U>> {
        let key = self.step.key;
        if self.step.rounds == 0 || !self.udps[self.step.state].is(UdpFlags::RECEIVING) {
            self.end_receiving();
            return None;
        }
        self.step.rounds -= 1;
        Some(Event::NeedDatagramBuffer { key, user: self.slots[key.index].user })
    }
}

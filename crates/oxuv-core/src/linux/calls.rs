//! What the core asks of [`Linux`], call by call.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use oxuv_os::epoll::{Event, EventFlags};
use oxuv_os::fork::{self, Process};
use oxuv_os::gather::Gather;
use oxuv_os::net;
use oxuv_os::process::{self, Child};
use oxuv_os::signal::Signals;
use oxuv_os::spawn::spawn;
use oxuv_os::tty::{self, Modes, Opened, TtyMode, WindowSize};
use oxuv_os::{Descriptor, Errno, Result, Shared, clock, datagram, file, fs, inotify, udp, unix};

use super::{Linux, Waker};
use crate::fs_poll::Look;
use crate::kernel::{
    Abilities, Batch, BindFlags, Command, Datagram, Exit, Finished, Gathered, Job, Keepalive, Kernel, Listing, Name,
    Only, Queue, Readiness, Ready, Received, Room, Slot, UdpBindFlags, UdpOption, WAKE, Wake, Watching,
};
use crate::pool::{Lane, Rest, Ticket};

impl<J: Job + From<Shared<Look>>> Kernel for Linux<J> {
    type Fd = Descriptor;
    type Waker = Waker;
    type Job = J;
    type Child = Child;

    #[inline]
    fn now(&self) -> u64 {
        if self.test_time == 0 { clock::now() } else { self.test_time }
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn expect_wakes(&mut self) {
        self.be_reached();
    }

    fn let_go(fd: Descriptor) {
        std::mem::forget(fd);
    }

    #[inline]
    fn number(fd: &Descriptor) -> i32 {
        fd.as_raw_fd()
    }

    fn watch(&mut self, number: i32, token: u64, interest: Readiness, known: bool) -> Result<()> {
        self.be_reached();
        let mut flags = EventFlags::from_bits_truncate((interest & Readiness::INTERESTS).bits().into());
        flags.set(EventFlags::ET, interest.contains(Readiness::EDGE));
        self.epoll.set(number, token, flags, known)
    }

    fn unwatch(&mut self, number: i32) {
        // A child that closes what it has inherited must not take it out of its parent's set.
        if fork::forks() == self.process.forks() {
            self.epoll.remove(number);
        }
    }

    fn check_watchable(&mut self, number: i32) -> Result<()> {
        self.epoll.check(number)?;
        oxuv_os::set_nonblocking(number)
    }

    #[inline(always)] // Of its callers one is in every turn.
    fn wait(&mut self, timeout: Option<u64>) -> Result<usize> {
        self.begin();
        if self.jobs.is_awake {
            Ok(self.wait_for_jobs(timeout)? as usize)
        } else {
            Ok(self.wait_now(timeout)? as usize)
        }
    }

    #[inline]
    fn leave(&mut self) {
        // Who has the loop in another one waits for its descriptor now.
        self.begin();
        if self.jobs.is_awake && self.jobs.rest(false) == Rest::Found {
            self.waker.wake();
        }
    }

    #[inline]
    fn ready(&self, nth: usize) -> Ready {
        let Event { flags, data, .. } = self.events[nth];
        Ready { token: data.u64(), readiness: Readiness::from_bits_retain(flags.bits() as u16) }
    }

    fn tcp_socket(&mut self, family: IpAddr) -> Result<Descriptor> {
        // A listener may one day be at the descriptor limit; the reserve must be laid by before.
        self.spare.refill();
        net::tcp_socket(family)
    }

    fn is_tcp(&self, fd: &Descriptor) -> bool {
        net::is_tcp(fd)
    }

    fn adopt(&mut self, fd: &Descriptor) -> Result<()> {
        self.spare.refill();
        net::check_socket(fd)?;
        oxuv_os::set_nonblocking(fd.as_raw_fd())
    }

    fn bind(&mut self, fd: &Descriptor, address: &SocketAddr, flags: BindFlags) -> Result<()> {
        net::bind(fd, address, flags)
    }

    fn listen(&mut self, fd: &Descriptor, backlog: i32) -> Result<()> {
        net::listen(fd, backlog)
    }

    fn connect(&mut self, fd: &Descriptor, address: &SocketAddr) -> Result<()> {
        net::connect(fd, address)
    }

    fn take_error(&mut self, fd: &Descriptor) -> Result<()> {
        net::take_error(fd)
    }

    fn set_nodelay(&mut self, fd: &Descriptor, on: bool) -> Result<()> {
        net::set_nodelay(fd, on)
    }

    fn set_keepalive(&mut self, fd: &Descriptor, keepalive: Option<Keepalive>) -> Result<()> {
        net::set_keepalive(fd, keepalive)
    }

    fn set_reset_on_close(&mut self, fd: &Descriptor) -> Result<()> {
        net::set_reset_on_close(fd)
    }

    fn accept(&mut self, fd: &Descriptor) -> Result<Descriptor> {
        net::accept(fd)
    }

    fn shed(&mut self, fd: &Descriptor) -> bool {
        self.spare.refill();
        if !self.spare.release() {
            return false;
        }
        let end = loop {
            match net::accept(fd) {
                // Closed at once, and the descriptor is free for the next.
                Ok(_) | Err(Errno::ECONNABORTED) => {}
                Err(error) => break error,
            }
        };
        self.spare.refill();
        end == Errno::EAGAIN
    }

    #[inline(always)] // As `send`.
    fn recv<'a>(&mut self, fd: &Descriptor, room: Room<'a>) -> Result<&'a mut [u8]> {
        net::recv(fd, room)
    }

    #[inline(always)]
    fn send(&mut self, fd: &Descriptor, buf: &[u8]) -> Result<usize> {
        net::send(fd, buf, self.send_flags)
    }

    #[inline]
    fn gather(&mut self, fd: &Descriptor, bytes: &[u8], token: u64) -> bool {
        self.gather.as_mut().is_some_and(|gather| gather.add(fd, bytes, token, self.send_flags))
    }

    fn send_gathered(&mut self) {
        if let Some(gather) = &mut self.gather {
            gather.send();
        }
    }

    #[inline]
    fn next_gathered(&mut self) -> Option<Gathered<'_>> {
        let (token, bytes, result) = self.gather.as_mut()?.next_sent()?;
        Some(Gathered { token, bytes, result })
    }

    #[inline(always)] // As `send`.
    fn send_vectored(&mut self, fd: &Descriptor, bufs: &[IoSlice<'_>]) -> Result<usize> {
        // Without flags the two calls are one and the same, and this one's needs no header.
        if self.send_flags.is_empty() {
            file::write_vectored(fd, bufs)
        } else {
            net::send_vectored(fd, bufs, self.send_flags)
        }
    }

    fn read<'a>(&mut self, fd: &Descriptor, room: Room<'a>) -> Result<&'a mut [u8]> {
        file::read(fd, room)
    }

    fn write(&mut self, fd: &Descriptor, buf: &[u8]) -> Result<usize> {
        file::write(fd, buf)
    }

    fn write_vectored(&mut self, fd: &Descriptor, bufs: &[IoSlice<'_>]) -> Result<usize> {
        file::write_vectored(fd, bufs)
    }

    fn unix_socket(&mut self) -> Result<Descriptor> {
        self.spare.refill();
        unix::socket()
    }

    fn unix_bind(&mut self, fd: &Descriptor, name: &[u8]) -> Result<()> {
        unix::bind(fd, name)
    }

    fn unix_connect(&mut self, fd: &Descriptor, name: &[u8]) -> Result<()> {
        unix::connect(fd, name)
    }

    fn unix_local_name(&self, fd: &Descriptor) -> Result<Name> {
        unix::local_name(fd)
    }

    fn unix_peer_name(&self, fd: &Descriptor) -> Result<Name> {
        unix::peer_name(fd)
    }

    fn unix_remove(&mut self, path: &CStr) {
        unix::remove(path);
    }

    fn unix_set_mode(&mut self, path: &CStr, mode: u32) -> Result<()> {
        unix::set_mode(path, mode)
    }

    fn adopt_pipe(&mut self, fd: &Descriptor) -> Result<Abilities> {
        self.spare.refill();
        let mut abilities = unix::adopt(fd)?;
        if !abilities.is_pollable {
            abilities.is_pollable = self.epoll.check(fd.as_raw_fd()).is_ok();
        }
        Ok(abilities)
    }

    fn recv_with_handles<'a>(
        &mut self,
        fd: &Descriptor,
        room: Room<'a>,
        handles: &mut VecDeque<Descriptor>,
    ) -> Result<&'a mut [u8]> {
        unix::recv_with_handles(fd, room, |handle| handles.push_back(handle))
    }

    fn send_with_handle(&mut self, fd: &Descriptor, bufs: &[IoSlice<'_>], handle: i32) -> Result<usize> {
        unix::send_with_handle(fd, bufs, handle, self.send_flags)
    }

    fn open_terminal(&mut self, fd: &Descriptor, replace: bool) -> Result<Opened<Descriptor>> {
        tty::open_terminal(fd, replace)
    }

    fn set_terminal_mode(&mut self, fd: &Descriptor, modes: &mut Modes, mode: TtyMode) -> Result<()> {
        modes.set(fd, mode)
    }

    fn window_size(&self, fd: &Descriptor) -> Result<WindowSize> {
        tty::window_size(fd)
    }

    fn shutdown_write(&mut self, fd: &Descriptor) -> Result<()> {
        net::shutdown_write(fd)
    }

    fn local_address(&self, fd: &Descriptor) -> Result<SocketAddr> {
        net::local_address(fd)
    }

    fn peer_address(&self, fd: &Descriptor) -> Result<SocketAddr> {
        net::peer_address(fd)
    }

    fn udp_socket(&mut self, family: IpAddr) -> Result<Descriptor> {
        self.spare.refill();
        udp::socket(family)
    }

    fn udp_reuse(&mut self, fd: &Descriptor, flags: UdpBindFlags) -> Result<()> {
        udp::reuse(fd, flags)
    }

    fn udp_bind(&mut self, fd: &Descriptor, address: &SocketAddr, flags: UdpBindFlags) -> Result<()> {
        udp::bind(fd, address, flags)
    }

    fn udp_connect(&mut self, fd: &Descriptor, address: Option<&SocketAddr>) -> Result<()> {
        udp::connect(fd, address)
    }

    fn udp_set(&mut self, fd: &Descriptor, is_ipv6: bool, option: UdpOption) -> Result<()> {
        udp::set(fd, is_ipv6, option)
    }

    fn udp_can_segment(&self, fd: &Descriptor) -> bool {
        udp::can_segment(fd)
    }

    fn udp_can_join(&self, fd: &Descriptor) -> bool {
        udp::segments_unseen(fd)
    }

    #[inline]
    fn send_datagrams(&mut self, fd: &Descriptor, datagrams: &[Datagram<'_>]) -> Result<usize> {
        datagram::send(fd, datagrams, self.send_flags)
    }

    #[inline]
    fn receive_datagram<'a>(
        &mut self,
        fd: &Descriptor,
        room: Room<'a>,
        queue: Queue,
        received: &mut Received<'a>,
    ) -> Result<()> {
        datagram::receive(fd, room, queue, received)
    }

    fn receive_datagrams<'a>(
        &mut self,
        fd: &Descriptor,
        buf: &'a mut [MaybeUninit<u8>],
        size: usize,
        queue: Queue,
        batch: &mut Batch<'a>,
    ) -> Result<()> {
        datagram::receive_several(fd, buf, size, queue, batch)
    }

    fn file_watcher(&mut self) -> Result<Descriptor> {
        inotify::open()
    }

    fn add_file_watch(&mut self, fd: &Descriptor, path: &CStr, only: Only) -> Result<i32> {
        inotify::add(fd, path, only)
    }

    fn remove_file_watch(&mut self, fd: &Descriptor, watch: i32) {
        inotify::remove(fd, watch);
    }

    fn read_changes(&mut self, fd: &Descriptor, into: &mut Vec<u8>) -> Result<()> {
        inotify::read(fd, into)
    }

    fn list_directory(&mut self, path: &CStr) -> Result<Listing> {
        fs::list(path)
    }

    fn check_open(&self, number: i32) -> Result<i32> {
        oxuv_os::check_open(number)
    }

    fn connection(&mut self) -> Result<(Descriptor, Descriptor)> {
        self.spare.refill();
        let (ours, theirs) = unix::pair()?;
        oxuv_os::set_nonblocking(ours.as_raw_fd())?;
        Ok((Descriptor::not_standard(ours)?, Descriptor::not_standard(theirs)?))
    }

    fn spawn(&mut self, command: &Command<'_>, slots: &[Slot]) -> Result<Child> {
        spawn(command, slots)
    }

    fn child_id(child: &Child) -> i32 {
        child.id()
    }

    fn child_descriptor(child: &Child) -> Option<i32> {
        child.descriptor()
    }

    fn wait_child(&mut self, child: &Child) -> Result<Option<Exit>> {
        child.try_wait()
    }

    fn leave_children(&mut self, children: Vec<Child>) {
        process::leave(children);
    }

    fn wait_for_left(&mut self) {
        process::wait_for_left();
    }

    fn kill_child(&mut self, child: &Child, signal: i32) -> Result<()> {
        child.kill(signal)
    }

    #[inline(always)] // As `Core::submit_for`.
    fn submit(&mut self, lane: Lane, request: u32, job: J) -> Result<Ticket, (Errno, J)> {
        self.submit_job(lane, request, job)
    }

    fn cancel(&mut self, ticket: Ticket) -> Result<()> {
        self.cancel_job(ticket)
    }

    fn must_begin(&self) -> bool {
        self.ring.must_enter()
    }

    #[inline]
    fn begin(&mut self) {
        if self.ring.must_enter() {
            self.enter_ring();
        }
    }

    fn watch_signal(&mut self, number: i32, how: Watching) -> Result<()> {
        self.be_reached();
        let signals = match &mut self.signals {
            Some(signals) => signals,
            none => none.insert(Signals::new(&self.waker.0)?),
        };
        signals.watch(number, how)
    }

    fn signals_have_come(&mut self) -> bool {
        self.signals.as_ref().is_some_and(Signals::have_come)
    }

    fn next_signal(&mut self) -> Option<i32> {
        self.signals.as_mut()?.take_next()
    }

    fn after_fork(&mut self) -> Result<bool> {
        // Under their numbers they become new ones, so all who have a waker may keep it.
        self.waker.0.renew()?;
        self.epoll.renew()?;
        self.epoll.set(self.waker.0.as_raw_fd(), WAKE, EventFlags::IN | EventFlags::ET, false)?;
        self.be_reached();
        let process = Process::current();
        let is_child = std::mem::replace(&mut self.process, process) != process;
        if is_child {
            if let Some(signals) = &mut self.signals {
                signals.after_fork();
            }
            self.jobs.lose();
            self.ring.lose();
            if self.gather.is_some() {
                self.gather = Gather::new().ok();
            }
        } else {
            self.ring.watch(&self.epoll)?;
            // What had been written to the one before.
            self.waker.wake();
        }
        Ok(is_child)
    }

    #[inline]
    fn collect_finished(&mut self) -> usize {
        self.jobs.take() + self.ring.take(&self.epoll)
    }

    #[inline]
    fn next_finished(&mut self) -> Option<Finished<J>> {
        self.next_job()
    }

    fn measure_jobs(&mut self) {
        self.jobs.observe();
        self.ring.observe();
    }

    fn measured_jobs(&mut self, tell: &mut dyn FnMut(crate::observe::Job)) {
        self.jobs.observed(tell);
        self.ring.observed(tell);
    }
}

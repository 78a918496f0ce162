//! What the core asks of [`Sim`], call by call.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::Ordering::Release;

use oxuv_os::datagram::BATCH as DATAGRAMS;
use oxuv_os::tty::{Modes, Opened, TtyMode, WindowSize};
use oxuv_os::{Errno, Result};

use super::{Child, Fault, Fd, Offload, Sim, Waker};
use crate::kernel::{
    Abilities, Batch, BindFlags, Command, Datagram, Exit, Finished, Gathered, Job, Keepalive, Kernel, Listing, Name,
    Only, Queue, Readiness, Ready, Received, Room, Slot, UdpBindFlags, UdpOption, Watching,
};
use crate::{Lane, Ticket};

impl Kernel for Sim {
    type Fd = Fd;
    type Waker = Waker;
    type Job = Box<dyn Job>;
    type Child = Child;

    fn now(&self) -> u64 {
        self.world.borrow_mut().read_clock()
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn let_go(fd: Fd) {
        fd.let_go();
    }

    fn number(fd: &Fd) -> i32 {
        fd.number
    }

    fn watch(&mut self, number: i32, token: u64, interest: Readiness, known: bool) -> Result<()> {
        self.world.borrow_mut().watch(number, token, interest, known)
    }

    fn unwatch(&mut self, number: i32) {
        self.world.borrow_mut().unwatch(number);
    }

    fn check_watchable(&mut self, number: i32) -> Result<()> {
        if self.world.borrow().is_open(number) { Ok(()) } else { Err(Errno::EBADF) }
    }

    fn wait(&mut self, timeout: Option<u64>) -> Result<usize> {
        self.wait_for_events(timeout)
    }

    fn ready(&self, nth: usize) -> Ready {
        self.world.borrow().batch[nth]
    }

    fn tcp_socket(&mut self, family: IpAddr) -> Result<Fd> {
        let number = self.world.borrow_mut().tcp_socket(family)?;
        Ok(self.own(number))
    }

    fn is_tcp(&self, fd: &Fd) -> bool {
        let world = self.world.borrow();
        world.connection_of(fd.number).is_ok_and(|number| !world.connections[number].is_pipe_like)
    }

    fn adopt(&mut self, _fd: &Fd) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, fd: &Fd, address: &SocketAddr, flags: BindFlags) -> Result<()> {
        self.world.borrow_mut().bind(fd.number, address, flags)
    }

    fn listen(&mut self, fd: &Fd, backlog: i32) -> Result<()> {
        self.world.borrow_mut().listen(fd.number, backlog)
    }

    fn connect(&mut self, fd: &Fd, address: &SocketAddr) -> Result<()> {
        self.connect_socket(fd.number, *address)
    }

    fn take_error(&mut self, fd: &Fd) -> Result<()> {
        self.world.borrow_mut().take_error(fd.number)
    }

    fn set_nodelay(&mut self, _fd: &Fd, _on: bool) -> Result<()> {
        Ok(())
    }

    fn set_keepalive(&mut self, _fd: &Fd, _keepalive: Option<Keepalive>) -> Result<()> {
        Ok(())
    }

    fn set_reset_on_close(&mut self, fd: &Fd) -> Result<()> {
        self.world.borrow_mut().socket_mut(fd.number).resets_on_close = true;
        Ok(())
    }

    fn accept(&mut self, fd: &Fd) -> Result<Fd> {
        let number = self.world.borrow_mut().accept(fd.number)?;
        Ok(self.own(number))
    }

    fn shed(&mut self, fd: &Fd) -> bool {
        self.world.borrow_mut().shed(fd.number)
    }

    fn recv<'a>(&mut self, fd: &Fd, room: Room<'a>) -> Result<&'a mut [u8]> {
        self.world.borrow_mut().recv(fd.number, room)
    }

    fn send(&mut self, fd: &Fd, buf: &[u8]) -> Result<usize> {
        self.world.borrow_mut().send(fd.number, &[IoSlice::new(buf)])
    }

    fn gather(&mut self, fd: &Fd, bytes: &[u8], token: u64) -> bool {
        self.gathering.add(fd.number, bytes, token)
    }

    fn send_gathered(&mut self) {
        for send in self.gathering.sends.iter_mut().filter(|send| send.result.is_none()) {
            send.result = Some(self.world.borrow_mut().send(send.number, &[IoSlice::new(&send.bytes)]));
        }
    }

    fn next_gathered(&mut self) -> Option<Gathered<'_>> {
        let send = self.gathering.next()?;
        Some(Gathered { token: send.token, bytes: &send.bytes, result: send.result? })
    }

    fn send_vectored(&mut self, fd: &Fd, bufs: &[IoSlice<'_>]) -> Result<usize> {
        self.world.borrow_mut().send(fd.number, bufs)
    }

    fn read<'a>(&mut self, fd: &Fd, room: Room<'a>) -> Result<&'a mut [u8]> {
        self.recv(fd, room)
    }

    fn write(&mut self, fd: &Fd, buf: &[u8]) -> Result<usize> {
        self.send(fd, buf)
    }

    fn write_vectored(&mut self, fd: &Fd, bufs: &[IoSlice<'_>]) -> Result<usize> {
        self.send_vectored(fd, bufs)
    }

    fn unix_socket(&mut self) -> Result<Fd> {
        self.tcp_socket(Ipv6Addr::UNSPECIFIED.into())
    }

    fn unix_bind(&mut self, fd: &Fd, name: &[u8]) -> Result<()> {
        self.world.borrow_mut().unix_bind(fd.number, name)
    }

    fn unix_connect(&mut self, fd: &Fd, name: &[u8]) -> Result<()> {
        self.unix_connect_socket(fd.number, name)
    }

    fn unix_local_name(&self, fd: &Fd) -> Result<Name> {
        let world = self.world.borrow();
        Ok(world.unix_name(world.local_address(fd.number)))
    }

    fn unix_peer_name(&self, fd: &Fd) -> Result<Name> {
        let address = self.peer_address(fd)?;
        Ok(self.world.borrow().unix_name(address))
    }

    fn unix_remove(&mut self, path: &CStr) {
        self.world.borrow_mut().unix_remove(path);
    }

    fn unix_set_mode(&mut self, path: &CStr, _mode: u32) -> Result<()> {
        if self.world.borrow().has_unix_file(path) { Ok(()) } else { Err(Errno::ENOENT) }
    }

    fn adopt_pipe(&mut self, _fd: &Fd) -> Result<Abilities> {
        Ok(Abilities { is_socket: true, is_terminal: false, is_pollable: true, readable: true, writable: true })
    }

    fn recv_with_handles<'a>(&mut self, fd: &Fd, room: Room<'a>, handles: &mut VecDeque<Fd>) -> Result<&'a mut [u8]> {
        self.recv_along(fd.number, room, handles)
    }

    fn send_with_handle(&mut self, fd: &Fd, bufs: &[IoSlice<'_>], handle: i32) -> Result<usize> {
        self.world.borrow_mut().send_along(fd.number, bufs, handle)
    }

    /// A terminal is opened anew, or not, as it comes. A socket in the place of one is taken as it is.
    fn open_terminal(&mut self, fd: &Fd, _replace: bool) -> Result<Opened<Fd>> {
        let reopened = self.world.borrow_mut().reopen_terminal(fd.number)?.map(|number| self.own(number));
        Ok(Opened { reopened, readable: true, writable: true, blocking: false })
    }

    fn set_terminal_mode(&mut self, fd: &Fd, _modes: &mut Modes, _mode: TtyMode) -> Result<()> {
        if self.world.borrow().socket(fd.number).is_terminal { Ok(()) } else { Err(Errno::ENOTTY) }
    }

    fn window_size(&self, fd: &Fd) -> Result<WindowSize> {
        let is_terminal = self.world.borrow().socket(fd.number).is_terminal;
        if is_terminal { Ok(WindowSize { columns: 80, rows: 25 }) } else { Err(Errno::ENOTTY) }
    }

    fn shutdown_write(&mut self, fd: &Fd) -> Result<()> {
        self.world.borrow_mut().shutdown_write(fd.number)
    }

    fn local_address(&self, fd: &Fd) -> Result<SocketAddr> {
        Ok(self.world.borrow().local_address(fd.number))
    }

    fn peer_address(&self, fd: &Fd) -> Result<SocketAddr> {
        let world = self.world.borrow();
        if let Ok(mailbox) = world.mailbox(fd.number) {
            return mailbox.connected.ok_or(oxuv_os::Errno::ENOTCONN);
        }
        let connection = &world.connections[world.connection_of(fd.number)?];
        let is_connected = !connection.is_connecting && !connection.has_failed_to_connect;
        if is_connected { Ok(connection.theirs) } else { Err(Errno::ENOTCONN) }
    }

    fn udp_socket(&mut self, family: IpAddr) -> Result<Fd> {
        let number = self.world.borrow_mut().udp_socket(family)?;
        Ok(self.own(number))
    }

    fn udp_reuse(&mut self, _fd: &Fd, _flags: UdpBindFlags) -> Result<()> {
        Ok(())
    }

    fn udp_bind(&mut self, fd: &Fd, address: &SocketAddr, flags: UdpBindFlags) -> Result<()> {
        self.world.borrow_mut().udp_bind(fd.number, address, flags)
    }

    fn udp_connect(&mut self, fd: &Fd, address: Option<&SocketAddr>) -> Result<()> {
        self.world.borrow_mut().mailbox_mut(fd.number)?.connected = address.copied();
        Ok(())
    }

    fn udp_set(&mut self, _fd: &Fd, _is_ipv6: bool, option: UdpOption) -> Result<()> {
        let can = !matches!(option, UdpOption::Coalesce(_)) || self.world.borrow().offload == Offload::Full;
        if can { Ok(()) } else { Err(Errno::ENOPROTOOPT) }
    }

    fn udp_can_segment(&self, _fd: &Fd) -> bool {
        self.world.borrow().offload != Offload::Unknown
    }

    fn udp_can_join(&self, fd: &Fd) -> bool {
        let world = self.world.borrow();
        world.offload != Offload::Unknown && world.mailbox(fd.number).is_ok_and(|mailbox| !mailbox.keeps_errors)
    }

    fn send_datagrams(&mut self, fd: &Fd, datagrams: &[Datagram<'_>]) -> Result<usize> {
        self.world.borrow_mut().send_datagrams(fd.number, datagrams)
    }

    fn receive_datagram<'a>(
        &mut self,
        fd: &Fd,
        room: Room<'a>,
        queue: Queue,
        received: &mut Received<'a>,
    ) -> Result<()> {
        *received = self.world.borrow_mut().receive_datagram(fd.number, room, queue)?;
        Ok(())
    }

    fn receive_datagrams<'a>(
        &mut self,
        fd: &Fd,
        buf: &'a mut [MaybeUninit<u8>],
        size: usize,
        queue: Queue,
        batch: &mut Batch<'a>,
    ) -> Result<()> {
        let mut error = oxuv_os::Errno::EINVAL;
        for part in buf.chunks_exact_mut(size).take(DATAGRAMS) {
            match self.world.borrow_mut().receive_datagram(fd.number, part.into(), queue) {
                Ok(received) => batch.push(received),
                Err(end) => {
                    error = end;
                    break;
                }
            }
        }
        if batch.is_empty() { Err(error) } else { Ok(()) }
    }

    fn file_watcher(&mut self) -> Result<Fd> {
        let number = self.world.borrow_mut().file_watcher()?;
        Ok(self.own(number))
    }

    fn add_file_watch(&mut self, fd: &Fd, path: &CStr, only: Only) -> Result<i32> {
        let mut world = self.world.borrow_mut();
        if world.commits(Fault::NoWatch) {
            return Err(Errno::ENOSPC);
        }
        world.with_watcher(fd.number, |disk, watcher| disk.add_watch(watcher, path, only))
    }

    fn remove_file_watch(&mut self, fd: &Fd, watch: i32) {
        self.world.borrow_mut().with_watcher(fd.number, |disk, watcher| disk.remove_watch(watcher, watch));
    }

    fn read_changes(&mut self, fd: &Fd, into: &mut Vec<u8>) -> Result<()> {
        self.world.borrow_mut().with_watcher(fd.number, |_, watcher| watcher.read(into))
    }

    fn list_directory(&mut self, path: &CStr) -> Result<Listing> {
        let mut world = self.world.borrow_mut();
        world.lacks_descriptor()?;
        world.disk.list(path)
    }

    fn check_open(&self, number: i32) -> Result<i32> {
        if self.world.borrow().is_open(number) { Ok(number) } else { Err(Errno::EBADF) }
    }

    fn connection(&mut self) -> Result<(Fd, Fd)> {
        self.make_connection()
    }

    /// Whatever the command says, the child does what the test has it do.
    fn spawn(&mut self, _command: &Command<'_>, slots: &[Slot]) -> Result<Child> {
        self.spawn_child(slots)
    }

    fn child_id(child: &Child) -> i32 {
        child.id()
    }

    fn child_descriptor(child: &Child) -> Option<i32> {
        child.descriptor()
    }

    fn wait_child(&mut self, child: &Child) -> Result<Option<Exit>> {
        self.world.borrow_mut().wait_for(child)
    }

    fn leave_children(&mut self, children: Vec<Child>) {
        self.world.borrow_mut().leave(&children);
    }

    fn wait_for_left(&mut self) {
        self.world.borrow_mut().wait_for_left();
    }

    fn kill_child(&mut self, child: &Child, signal: i32) -> Result<()> {
        self.world.borrow_mut().signal(child, signal)
    }

    fn submit(&mut self, lane: Lane, request: u32, job: Box<dyn Job>) -> Result<Ticket, (Errno, Box<dyn Job>)> {
        self.submit_job(lane, request, job)
    }

    fn cancel(&mut self, ticket: Ticket) -> Result<()> {
        self.cancel_job(ticket)
    }

    fn watch_signal(&mut self, number: i32, how: Watching) -> Result<()> {
        self.world.borrow_mut().signals.watch(number, how)
    }

    fn signals_have_come(&mut self) -> bool {
        std::mem::take(&mut self.world.borrow_mut().signals.are_rung)
    }

    fn next_signal(&mut self) -> Option<i32> {
        self.world.borrow_mut().signals.caught.pop_front()
    }

    /// This kernel is the child's from now on; there is no parent.
    fn after_fork(&mut self) -> Result<bool> {
        if self.world.borrow_mut().commits(Fault::NoDescriptor) {
            return Err(Errno::EMFILE);
        }
        // The parent does, however long that takes, and has what comes of it.
        for send in self.gathering.unsent() {
            self.world.borrow_mut().send_in_time(send.number, &send.bytes);
        }
        self.gathering.lose();
        let mut world = self.world.borrow_mut();
        world.forget_watches();
        world.signals.forget_caught();
        world.jobs.lose();
        self.waker.0.store(false, Release);
        Ok(true)
    }

    fn must_begin(&self) -> bool {
        self.world.borrow().jobs.must_begin()
    }

    fn begin(&mut self) {
        self.begin_operations();
    }

    fn collect_finished(&mut self) -> usize {
        self.collect_jobs()
    }

    fn next_finished(&mut self) -> Option<Finished<Box<dyn Job>>> {
        self.next_job()
    }
}

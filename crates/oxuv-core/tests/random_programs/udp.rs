//! Datagrams: those that the program sends arrive outside, once and in their order; those that come are received so.

use std::collections::{HashMap, VecDeque};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;

use oxuv_core::kernel::{Batch, Received, SendOptions, UdpBindFlags};
use oxuv_core::sim::{Offload, Sim};
use oxuv_core::{Address, DATAGRAM_SIZE, Errno, Key, Kind, Many, Result as CoreResult, Target};

use crate::Check;
use crate::actions::{is_limit, same, user_of_request};
use crate::model::{Life, Model};
use crate::outside::Outside;
use crate::program::{Place, Target as To};
use crate::run::{Flow, Machine, Pieces};
use crate::streams::Request;

/// The datagrams of one place.
#[derive(Debug, Default, Clone)]
pub(crate) struct Mail {
    /// The port that its handle is bound to.
    port: Option<u16>,
    /// Those that the program has sent or tried to, and the numbers of those that were told to have gone.
    sent: u32,
    gone: Vec<u32>,
    /// Those sent as one, by the number of the last: how many they are.
    together: HashMap<u32, u32>,
    /// Those sent as one and cancelled: some of them may have gone.
    cut_short: Vec<u32>,
    /// The numbers of those that have come to the outside.
    arrived: Vec<u32>,
    /// It has had a peer, who may refuse.
    was_connected: bool,
    /// Some waited when the handle was connected no more: to whom they were to go, nobody knows.
    are_lost: bool,
    /// Those that were sent to it, and the numbers and lengths of those that wait to be received.
    coming: u32,
    waiting: VecDeque<(u32, usize)>,
}

/// Somebody outside.
fn somebody() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 9).into()
}

/// What the kernel of a program makes of datagrams sent as one.
pub(crate) fn offload(seed: u64) -> Offload {
    match seed % 5 {
        0 => Offload::Unknown,
        1 => Offload::Refused(Errno::EIO),
        2 => Offload::Refused(Errno::EMSGSIZE),
        _ => Offload::Full,
    }
}

fn datagram(place: Place, number: u32, length: usize) -> Vec<u8> {
    let mut bytes = vec![place as u8];
    bytes.extend(number.to_le_bytes());
    bytes.extend((0..length).map(|at| (at as u8).wrapping_mul(7) ^ number as u8));
    bytes
}

impl Outside {
    /// Somebody sends a datagram to the handle of a place.
    pub(crate) fn send_letter(&mut self, sim: &Sim, place: Place, length: usize) {
        let mail = &mut self.mail[place];
        let Some(port) = mail.port else { return };
        mail.coming += 1;
        if sim.send_letter(somebody(), port, &datagram(place, mail.coming, length)) {
            mail.waiting.push_back((mail.coming, length));
        }
    }

    /// Takes in what has come.
    pub(crate) fn take_letters(&mut self, sim: &Sim) {
        for letter in sim.take_letters() {
            let place = usize::from(letter.bytes[0]);
            let number = u32::from_le_bytes(letter.bytes[1..5].try_into().expect("four bytes"));
            let mail = &mut self.mail[place];
            let is_whole = letter.bytes == datagram(place, number, letter.bytes.len() - 5) && letter.to == somebody();
            if !is_whole || mail.arrived.last().is_some_and(|&last| last >= number) {
                self.complaint = Some(format!("datagram {number} of place {place} comes after {:?}", mail.arrived));
                return;
            }
            mail.arrived.push(number);
        }
    }

    /// When all is over: what was told to have gone has arrived, and nothing else; with refusals, some of it is lost.
    pub(crate) fn check_letters(&mut self, sim: &Sim, may_lose: bool) -> Check {
        self.take_letters(sim);
        for (place, Mail { gone, arrived, cut_short, .. }) in self.mail.iter().enumerate() {
            let arrived: Vec<u32> = arrived.iter().filter(|it| !cut_short.contains(it)).copied().collect();
            let is_right = if may_lose { arrived.iter().all(|it| gone.contains(it)) } else { *gone == arrived };
            ensure!(is_right, "place {place} has sent {gone:?}, and {arrived:?} have arrived");
        }
        Ok(())
    }

    pub(crate) fn has_mail(&self, place: Place) -> bool {
        !self.mail[place].waiting.is_empty()
    }

    /// The handle of a place is closed: what waits for it is lost.
    pub(crate) fn forget_mail(&mut self, place: Place) {
        self.mail[place].port = None;
        self.mail[place].waiting.clear();
    }
}

impl Model {
    fn start_receiving(&mut self, place: Place) -> CoreResult<()> {
        self.open(place)?;
        let handle = &mut self.handles[place];
        if std::mem::replace(&mut handle.stream.is_reading, true) {
            return Err(Errno::EALREADY);
        }
        (handle.is_active, handle.stream.has_socket) = (true, true);
        Ok(())
    }

    pub(crate) fn stop_receiving(&mut self, place: Place) -> CoreResult<()> {
        self.known(place)?;
        let handle = &mut self.handles[place];
        if std::mem::take(&mut handle.stream.is_reading) {
            handle.is_active = !handle.stream.writes.is_empty();
        }
        Ok(())
    }

    /// The callback of the last report is over: one that does not receive has nothing to do any more.
    pub(crate) fn end_sending(&mut self) {
        for handle in self.handles.iter_mut().filter(|handle| handle.kind == Kind::Udp && handle.life == Life::Open) {
            handle.is_active &= handle.stream.is_reading || !handle.stream.writes.is_empty();
        }
    }
}

impl Machine<'_> {
    /// Whether this receives several datagrams at a time.
    pub(crate) fn receives_several(place: Place) -> bool {
        place % 2 == 1
    }

    /// A call may have failed at the descriptor limit where it needed a socket; otherwise the handle has one now.
    fn note_socket(&mut self, what: &str, place: Place, got: CoreResult<()>, expected: CoreResult<()>) -> Check {
        let stream = &mut self.model.handles[place].stream;
        let may_fail = expected.is_ok() && !stream.has_socket && self.program.faults.no_descriptor > 0;
        if may_fail && got.is_err_and(is_limit) {
            return Ok(());
        }
        same(what, got, expected)?;
        if got.is_ok() {
            stream.has_socket = true;
            let address = self.core.udp_local_address(self.model.handles[place].key);
            self.outside.borrow_mut().mail[place].port = address.ok().map(|address| address.port());
        }
        Ok(())
    }

    pub(crate) fn bind_udp(&mut self, place: Place, port: u16) -> Check {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let got = self.core.udp_bind(self.model.handles[place].key, &address, UdpBindFlags::default());
        // Another handle may have the port, and one that was bound by sending cannot be bound again.
        let may_fail = self.model.open(place).is_ok() && matches!(got, Err(Errno::EADDRINUSE | Errno::EINVAL));
        if may_fail {
            self.model.handles[place].stream.has_socket = true;
            return Ok(());
        }
        self.note_socket("udp_bind", place, got, self.model.open(place))
    }

    /// Connects to somebody, or to nobody any more.
    pub(crate) fn connect_udp(&mut self, place: Place, target: To) -> Check {
        let (key, address) = (self.model.handles[place].key, (target != To::Nobody).then(somebody));
        let got = self.core.udp_connect(key, address.as_ref());
        let is_connected = self.model.handles[place].stream.is_connected;
        let expected = match (self.model.open(place), address, is_connected) {
            (Ok(()), Some(_), true) => Err(Errno::EISCONN),
            (Ok(()), None, false) => Err(Errno::ENOTCONN),
            (open, ..) => open,
        };
        self.note_socket("udp_connect", place, got, expected)?;
        if got.is_ok() {
            let stream = &mut self.model.handles[place].stream;
            stream.is_connected = address.is_some();
            let mail = &mut self.outside.borrow_mut().mail[place];
            mail.was_connected |= stream.is_connected;
            mail.are_lost |= !stream.is_connected && !stream.writes.is_empty();
        }
        ensure!(
            self.core.udp_is_connected(key) == self.model.handles[place].stream.is_connected,
            "it is not connected"
        );
        Ok(())
    }

    fn may_be_refused(&self, place: Place) -> bool {
        self.program.faults.refuse > 0 && self.outside.borrow().mail[place].was_connected
    }

    /// To whom a datagram of this length goes: to an address, or to whom the handle is connected to; and what comes of that. Now and
    /// then it is the wrong one.
    fn addressee(&self, place: Place, length: usize) -> (Option<SocketAddr>, CoreResult<()>) {
        let is_connected = self.model.handles[place].stream.is_connected;
        let is_named = is_connected == (length == 5);
        let expected = match (is_named, is_connected) {
            (true, true) => Err(Errno::EISCONN),
            (false, false) => Err(Errno::EDESTADDRREQ),
            _ => Ok(()),
        };
        (is_named.then(somebody), self.model.open(place).and(expected))
    }

    pub(crate) fn start_receiving(&mut self, place: Place) -> Check {
        let got = self.core.udp_receive_start(self.model.handles[place].key);
        let had_socket = self.model.handles[place].stream.has_socket;
        if got.is_err_and(is_limit) && !had_socket && self.program.faults.no_descriptor > 0 {
            return Ok(());
        }
        let expected = self.model.start_receiving(place);
        self.note_socket("udp_receive_start", place, got, expected)
    }

    /// The next datagram of a place, in one to three pieces.
    fn next_datagram(&mut self, place: Place, length: usize) -> (u32, Pieces) {
        let mail = &mut self.outside.borrow_mut().mail[place];
        mail.sent += 1;
        let bytes = datagram(place, mail.sent, length);
        (mail.sent, Many(bytes.chunks(bytes.len() / (1 + length % 3) + 1).map(<[u8]>::to_vec).collect()))
    }

    /// The next datagrams of a place, some hundred of one length, in one piece.
    fn next_datagrams(&mut self, place: Place, length: usize) -> (u32, Pieces, SendOptions) {
        let mail = &mut self.outside.borrow_mut().mail[place];
        // More than one call sends.
        let count = 1 + (length as u32 * 99) % 130;
        let numbers = mail.sent + 1..=mail.sent + count;
        mail.sent += count;
        mail.together.insert(mail.sent, count);
        let bytes = numbers.flat_map(|number| datagram(place, number, length)).collect();
        let options = SendOptions { segment_size: NonZeroU16::new(5 + length as u16), ..SendOptions::PLAIN };
        (mail.sent, Many(vec![bytes]), options)
    }

    pub(crate) fn send(&mut self, place: Place, length: usize) -> Check {
        self.requests += 1;
        let user = user_of_request(self.requests, place);
        let (number, pieces, options) = if length % 4 == 1 && length < 1000 {
            self.next_datagrams(place, length)
        } else {
            let (number, pieces) = self.next_datagram(place, length);
            (number, pieces, SendOptions::PLAIN)
        };
        let mut was_kept = false;
        let keep = |pieces: Pieces| {
            was_kept = true;
            pieces
        };
        let (key, (to, expected)) = (self.model.handles[place].key, self.addressee(place, length));
        let to = to.as_ref().map(Address::from);
        let target = Target { address: to.as_ref().map(Address::as_ref), options };
        let got = self.core.udp_send(key, user, target, pieces, keep);
        let answer = got.as_ref().map(|_| ()).map_err(|refused| refused.error);
        self.note_socket("udp_send", place, answer, expected)?;
        let Ok(handed_back) = got else { return Ok(()) };
        ensure!(handed_back.is_none() == was_kept, "the buffers of a send are kept and handed back, or neither");
        let handle = &mut self.model.handles[place];
        handle.stream.writes.push_back(Request {
            user,
            end: number as usize,
            was_kept,
            pending_round: None,
            has_handle: false,
        });
        (handle.stream.may_be_pending, handle.is_active) = (true, true);
        Ok(())
    }

    pub(crate) fn try_send(&mut self, place: Place, length: usize) -> Check {
        let (number, pieces) = self.next_datagram(place, length);
        let (to, expected) = self.addressee(place, length);
        let to = to.as_ref().map(Address::from);
        let handle = &self.model.handles[place];
        let got = self.core.udp_try_send(handle.key, to.as_ref().map(Address::as_ref), &pieces);
        if expected.is_err() {
            return same("udp_try_send", got.map(drop), expected);
        }
        if got == Err(Errno::ECONNREFUSED) && self.may_be_refused(place) {
            return Ok(());
        }
        let is_busy = self.model.open(place).is_ok() && !handle.stream.writes.is_empty();
        let has_socket = is_busy || self.core.udp_descriptor(handle.key).is_ok();
        if has_socket && got == Err(Errno::EAGAIN) {
            self.model.handles[place].stream.has_socket = true;
            return Ok(());
        }
        ensure!(!is_busy, "try_send is {got:?} while datagrams wait");
        if let Ok(sent) = got {
            ensure!(sent == length + 5, "try_send says {sent} of {length} and 5 bytes");
            self.outside.borrow_mut().mail[place].gone.push(number);
        }
        self.note_socket("udp_try_send", place, got.map(drop), expected)
    }

    pub(crate) fn take_sent(&mut self, place: Place, user: u64, result: CoreResult<()>) -> Check {
        let request = self.model.take_write(place, user)?;
        let is_handed_back = self.core.take_buffers().is_some();
        ensure!(is_handed_back == request.was_kept, "buffers handed back: {is_handed_back}, {request:?}");
        let may_be_refused = self.may_be_refused(place);
        let mail = &mut self.outside.borrow_mut().mail[place];
        let last = request.end as u32;
        let numbers = last + 1 - mail.together.get(&last).copied().unwrap_or(1)..=last;
        match result {
            Ok(()) => mail.gone.extend(numbers),
            Err(Errno::EDESTADDRREQ) if mail.are_lost => mail.cut_short.extend(numbers),
            Err(Errno::ECONNREFUSED) if may_be_refused => mail.cut_short.extend(numbers),
            Err(Errno::ECANCELED) if self.model.handles[place].life == Life::Closing => {
                if mail.together.contains_key(&last) {
                    mail.cut_short.extend(numbers);
                }
            }
            Err(error) => return Err(format!("a send fails with {error:?}")),
        }
        Ok(())
    }

    /// Gives the core a buffer, checks what it receives, and calls back for each datagram.
    pub(crate) fn receive(&mut self, place: Place, key: Key) -> Result<Flow, String> {
        let several = Self::receives_several(place);
        let sizes = if several { [0, 100, 1, 1, 3] } else { [0, 1, 7, 300, 5000] };
        let mut size = *self.random.pick(&sizes).expect("there are some");
        if several && size < 100 {
            size *= DATAGRAM_SIZE;
        }
        let mut buffer = vec![MaybeUninit::uninit(); size];
        let (is_reading, may_lack) = (self.model.handles[place].stream.is_reading, self.program.faults.again > 0);
        let result = if several {
            let mut batch = Batch::default();
            let result = self.core.udp_receive_several_into(key, &mut buffer, &mut batch);
            result.map(|()| (0..batch.len()).map(|nth| *batch.get(nth)).collect::<Vec<_>>())
        } else {
            let mut received = Received::none();
            let result = self.core.udp_receive_into(key, &mut buffer, &mut received);
            result.map(|is_there| is_there.then_some(received).into_iter().collect())
        };
        self.trace.push(format!("receive of {size}: {:?}", result.as_ref().map(Vec::len)));
        let room = if several { DATAGRAM_SIZE } else { size };
        match result {
            Err(Errno::ENOBUFS) => ensure!(size == 0, "no buffer where {size} bytes were given"),
            Err(Errno::EINVAL) => ensure!(several && size < DATAGRAM_SIZE, "{size} bytes are no room"),
            Err(Errno::ECONNREFUSED) if self.may_be_refused(place) => {}
            Err(error) => return Err(format!("receiving fails with {error:?}")),
            Ok(all) if all.is_empty() => {
                let has_mail = self.outside.borrow().has_mail(place);
                // It may have been the queue of errors that was looked at.
                let may_lack = may_lack || self.may_be_refused(place);
                ensure!(!is_reading || may_lack || !has_mail, "nothing is received where something is");
            }
            Ok(all) => {
                ensure!(is_reading, "something is received although receiving was stopped");
                all.iter().try_for_each(|received| self.check_received(place, received, room))?;
                // The first callback is our caller's.
                for _ in 1..all.len() {
                    if self.callback(place)? == Flow::Left {
                        return Ok(Flow::Left);
                    }
                    if !self.core.udp_is_receiving(key) {
                        return Ok(Flow::Goes);
                    }
                }
            }
        }
        self.verify()?;
        self.callback(place)
    }

    fn check_received(&self, place: Place, received: &Received<'_>, room: usize) -> Check {
        let next = self.outside.borrow_mut().mail[place].waiting.pop_front();
        let (number, length) = next.ok_or("a datagram that nobody has sent")?;
        let whole = datagram(place, number, length);
        let fits = whole.len().min(room);
        ensure!(received.bytes == &whole[..fits], "datagram {number} is not what was sent");
        ensure!(received.is_truncated == (fits < whole.len()), "datagram {number} is cut off, or it is not");
        ensure!(received.from == Address::from(&somebody()), "datagram {number} comes from somebody else");
        Ok(())
    }
}

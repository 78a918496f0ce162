//! Ends that send to each other, on whatever threads they are: two of a channel, or any number that have a name in common.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oxuv::Sender;

/// What goes from one end to the others.
#[derive(Default)]
pub(super) struct Message {
    /// The value, as `lib/internal/serializer.js` writes it.
    pub(super) bytes: Vec<u8>,
    /// The contents of buffers that go with it.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Ends of other channels that go with it.
    pub(super) ends: Vec<Endpoint>,
    /// Open files that go with it.
    pub(super) files: Vec<OwnedFd>,
}

#[derive(Default)]
struct Side {
    /// What has come and is not taken yet.
    queue: VecDeque<Message>,
    /// Wakes the loop of the thread that this side is on.
    waker: Option<Sender>,
}

impl Side {
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            // A loop that has gone has nobody to be told.
            let _ = waker.send();
        }
    }
}

/// Those that hear each other: nothing in the place of one that is closed.
#[derive(Default)]
struct Group {
    sides: Vec<Option<Side>>,
    /// Whether others may still come.
    is_open: bool,
}

impl Group {
    fn others(&mut self, own: usize) -> impl Iterator<Item = &mut Side> {
        self.sides.iter_mut().enumerate().filter(move |(at, _)| *at != own).filter_map(|(_, side)| side.as_mut())
    }
}

/// Those with a name, as long as any of them is there.
static NAMED: Mutex<BTreeMap<String, Weak<Mutex<Group>>>> = Mutex::new(BTreeMap::new());

// Nothing that may panic is done while one of these is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One end. Dropped, it is closed.
pub(crate) struct Endpoint {
    group: Arc<Mutex<Group>>,
    own: usize,
}

impl Endpoint {
    pub(crate) fn pair() -> (Endpoint, Endpoint) {
        let sides = vec![Some(Side::default()), Some(Side::default())];
        let group = Arc::new(Mutex::new(Group { sides, is_open: false }));
        (Endpoint { group: Arc::clone(&group), own: 0 }, Endpoint { group, own: 1 })
    }

    /// One more end of those with this name.
    pub(super) fn named(name: String) -> Endpoint {
        let mut named = lock(&NAMED);
        named.retain(|_, group| group.strong_count() > 0);
        let known = named.get(&name).and_then(Weak::upgrade);
        let group = known.unwrap_or_else(|| Arc::new(Mutex::new(Group { sides: Vec::new(), is_open: true })));
        named.insert(name, Arc::downgrade(&group));
        let mut members = lock(&group);
        let free = members.sides.iter().position(Option::is_none);
        let own = free.unwrap_or_else(|| {
            members.sides.push(None);
            members.sides.len() - 1
        });
        members.sides[own] = Some(Side::default());
        drop(members);
        Endpoint { group, own }
    }

    /// Sends a message to all others; what goes with it to the last of them.
    pub(super) fn send(&self, message: Message) {
        let mut group = lock(&self.group);
        let mut rest = Some(message);
        let mut others = group.others(self.own).peekable();
        while let Some(other) = others.next() {
            let message = if others.peek().is_some() {
                rest.as_ref().map(|message| Message { bytes: message.bytes.clone(), ..Message::default() })
            } else {
                rest.take()
            };
            other.queue.extend(message);
            other.wake();
        }
        drop(others);
        // Nobody had it. It may own another end of this very group, so nothing is locked when it goes.
        drop(group);
        drop(rest);
    }

    pub(super) fn receive(&self) -> Option<Message> {
        lock(&self.group).sides[self.own].as_mut()?.queue.pop_front()
    }

    pub(super) fn waiting(&self) -> usize {
        lock(&self.group).sides[self.own].as_ref().map_or(0, |side| side.queue.len())
    }

    /// Whether nothing will come any more: all others are closed, and what they have sent is taken.
    pub(super) fn is_over(&self) -> bool {
        let mut group = lock(&self.group);
        let is_empty = group.sides[self.own].as_ref().is_none_or(|side| side.queue.is_empty());
        !group.is_open && is_empty && group.others(self.own).next().is_none()
    }

    /// Whether others may still come.
    pub(super) fn is_named(&self) -> bool {
        lock(&self.group).is_open
    }

    pub(super) fn is_other(&self, end: &Endpoint) -> bool {
        Arc::ptr_eq(&self.group, &end.group)
    }

    /// Has this waker woken for what comes, and at once if something is there.
    pub(super) fn set_waker(&self, waker: Option<Sender>) {
        if let Some(own) = &mut lock(&self.group).sides[self.own] {
            own.waker = waker;
            own.wake();
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let mut group = lock(&self.group);
        let left = group.sides[self.own].take();
        group.others(self.own).for_each(|other| other.wake());
        drop(group);
        // Ends of channels in there are closed only now that nothing is locked.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        Message { bytes: text.as_bytes().to_vec(), ..Message::default() }
    }

    fn text(end: &Endpoint) -> Option<String> {
        end.receive().map(|message| String::from_utf8(message.bytes).unwrap())
    }

    #[test]
    fn what_was_sent_comes_also_after_the_sender_is_closed() {
        let (one, other) = Endpoint::pair();
        one.send(message("last"));
        assert!(!other.is_over());
        drop(one);
        assert!(!other.is_over());
        assert_eq!(text(&other).as_deref(), Some("last"));
        assert!(other.is_over());
        other.send(message("to nobody"));
    }

    #[test]
    fn ends_that_nobody_takes_are_closed() {
        let (one, other) = Endpoint::pair();
        let (inner, far) = Endpoint::pair();
        one.send(Message { ends: vec![inner], ..Message::default() });
        assert!(!far.is_over());
        drop(other);
        assert!(far.is_over());
        // Its own other end, on the way to itself.
        let (one, other) = Endpoint::pair();
        one.send(Message { ends: vec![other], ..Message::default() });
        drop(one);
    }

    #[test]
    fn those_of_a_name_hear_each_other_but_not_themselves() {
        let [one, two, three] = [0; 3].map(|_| Endpoint::named("channel of a test".to_owned()));
        one.send(message("to two"));
        assert_eq!((text(&two).as_deref(), text(&three).as_deref()), (Some("to two"), Some("to two")));
        assert_eq!(text(&one), None);
        drop((two, three));
        assert!(!one.is_over());
    }
}

//! The memory that writes send from: dropped once, and copied only where it was lent.

mod common;

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::rc::Rc;
use std::thread;

use common::{Trace, fill, local_pair, new_loop, outcome, pair, panic_of, pattern, run, turn};
use oxuv::{Errno, Loop, Tcp, Timer};

/// Bytes that tell when they are dropped, and from where they are read.
struct Bytes {
    bytes: Vec<u8>,
    looks: Rc<RefCell<Vec<*const u8>>>,
    trace: Trace,
}

impl Bytes {
    fn new(len: usize, trace: &Trace) -> Bytes {
        Bytes { bytes: pattern(len), looks: Rc::default(), trace: trace.clone() }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.looks.borrow_mut().push(self.bytes.as_ptr());
        &self.bytes
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.trace.add("dropped");
    }
}

#[test]
fn they_are_sent_from_where_they_are_and_dropped_before_the_callback() {
    const MANY: usize = 24 << 20;
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = pair(&lp);
    let bytes = Bytes::new(MANY, &trace);
    let (place, looks) = (bytes.bytes.as_ptr(), Rc::clone(&bytes.looks));
    tcp.write(bytes, trace.tells("write")).unwrap();
    let before = looks.borrow().len();
    turn(&lp);
    assert_eq!(trace.take(), [""; 0]);
    let reader = thread::spawn(move || {
        let mut got = vec![0; MANY];
        peer.read_exact(&mut got).unwrap();
        got
    });
    run(&lp);
    assert!(reader.join().unwrap() == pattern(MANY));
    assert_eq!(trace.take(), ["dropped", "write ok"]);
    // The later parts were sent from the same memory as the first.
    assert!(looks.borrow().len() > before);
    assert!(looks.borrow().iter().all(|&look| look == place));
}

#[test]
fn those_of_a_write_that_completes_at_once_are_dropped_with_the_call() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    tcp.write(Bytes::new(10, &trace), trace.tells("write")).unwrap();
    trace.add("returned");
    run(&lp);
    assert_eq!(trace.take(), ["dropped", "returned", "write ok"]);
}

#[test]
fn those_of_a_refused_write_are_dropped_with_the_call_and_so_is_its_closure() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = pair(&lp);
    tcp.shutdown(|_, _| {}).unwrap();
    let owned = Rc::new(());
    let held = Rc::clone(&owned);
    let refused = tcp.write(Bytes::new(10, &trace), move |_, _| drop(held));
    assert_eq!(refused, Err(Errno::EPIPE));
    assert_eq!(trace.take(), ["dropped"]);
    assert_eq!(Rc::strong_count(&owned), 1);
    run(&lp);
}

#[test]
fn those_of_a_canceled_write_are_dropped_before_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write(Bytes::new(10, &trace), trace.tells("one")).unwrap();
    tcp.write_vectored((0..3).map(|_| Bytes::new(10, &trace)).collect(), trace.tells("two")).unwrap();
    turn(&lp);
    tcp.close().unwrap();
    assert_eq!(trace.take(), [""; 0]);
    run(&lp);
    assert_eq!(trace.take(), ["dropped", "one ECANCELED", "dropped", "dropped", "dropped", "two ECANCELED"]);
}

#[test]
fn those_of_a_failed_write_are_dropped_before_its_callback() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, peer) = pair(&lp);
    fill(&tcp);
    for name in ["one", "two"] {
        let line = trace.clone();
        let bytes = Bytes::new(8 << 20, &trace);
        tcp.write(bytes, move |_, result| line.add(format!("{name} {}", result.is_err()))).unwrap();
    }
    turn(&lp);
    drop(peer);
    run(&lp);
    assert_eq!(trace.take(), ["dropped", "one true", "dropped", "two true"]);
}

#[test]
fn those_of_a_loop_that_is_dropped_are_dropped_once_and_nobody_is_called() {
    let (lp, trace) = (Loop::new().unwrap(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write(Bytes::new(10, &trace), trace.tells("one")).unwrap();
    tcp.write(Bytes::new(10, &trace), trace.tells("two")).unwrap();
    turn(&lp);
    drop(lp);
    assert_eq!(trace.take(), ["dropped", "dropped"]);
    assert_eq!(tcp.write(Bytes::new(10, &trace), trace.tells("late")), Err(Errno::EINVAL));
    assert_eq!(trace.take(), ["dropped"]);
}

#[test]
fn those_of_a_write_whose_callback_panics_are_dropped_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    fill(&tcp);
    tcp.write(Bytes::new(10, &trace), |_, _| panic!("one")).unwrap();
    tcp.write(Bytes::new(10, &trace), trace.tells("two")).unwrap();
    tcp.close().unwrap();
    assert_eq!(panic_of(|| run(&lp)), "one");
    assert_eq!(trace.take(), ["dropped"]);
    run(&lp);
    assert_eq!(trace.take(), ["dropped", "two ECANCELED"]);
}

/// Bytes that do something when they are dropped.
struct Then<F: FnMut()>(F);

impl<F: FnMut()> AsRef<[u8]> for Then<F> {
    fn as_ref(&self) -> &[u8] {
        b"bytes"
    }
}

impl<F: FnMut()> Drop for Then<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[test]
fn they_may_call_the_loop_when_they_are_dropped() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, _peer) = local_pair(&lp);
    let timer = Timer::new(&lp).unwrap();
    let start_timer = |name| {
        let (timer, line) = (timer.clone(), trace.clone());
        move || timer.start(std::time::Duration::ZERO, line.adds(name)).unwrap()
    };
    // Sent at once; refused; and queued until canceled.
    tcp.write(Then(start_timer("sent")), |_, _| {}).unwrap();
    run(&lp);
    let fresh = Tcp::new(&lp).unwrap();
    assert!(fresh.write(Then(start_timer("refused")), |_, _| {}).is_err());
    run(&lp);
    fill(&tcp);
    tcp.write(Then(start_timer("canceled")), |_, _| {}).unwrap();
    tcp.close().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["sent", "refused", "canceled"]);
}

#[test]
fn any_owner_of_bytes_will_do() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    tcp.write(vec![b'1'], trace.tells("vec")).unwrap();
    tcp.write(String::from("2"), trace.tells("string")).unwrap();
    tcp.write(std::sync::Arc::<[u8]>::from(*b"3"), trace.tells("arc")).unwrap();
    tcp.write([b'4'; 3], trace.tells("array")).unwrap();
    tcp.write_vectored(vec![Box::<[u8]>::from(*b"5"), Box::default()], trace.tells("boxes")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["vec ok", "string ok", "arc ok", "array ok", "boxes ok"]);
    let mut bytes = [0; 7];
    peer.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"1234445");
}

/// Bytes that ask the loop something when they are looked at.
struct Curious(Loop);

impl AsRef<[u8]> for Curious {
    fn as_ref(&self) -> &[u8] {
        if self.0.is_alive() { b"alive" } else { b"still" }
    }
}

#[test]
fn they_may_call_another_loop_when_they_are_looked_at() {
    let (lp, trace) = (new_loop(), Trace::new());
    let (tcp, mut peer) = local_pair(&lp);
    tcp.write(Curious(Loop::new().unwrap()), trace.tells("write")).unwrap();
    run(&lp);
    let mut bytes = [0; 5];
    peer.read_exact(&mut bytes).unwrap();
    assert_eq!((trace.take(), &bytes), (vec!["write ok".to_string()], b"still"));
}

/// Bytes that panic when they are looked at for the time of this number.
struct Brittle(Cell<u32>);

impl AsRef<[u8]> for Brittle {
    fn as_ref(&self) -> &[u8] {
        let left = self.0.get();
        self.0.set(left.wrapping_sub(1));
        assert!(left != 0, "brittle");
        b"bytes"
    }
}

#[test]
fn if_they_panic_when_looked_at_the_write_is_not_made() {
    for looks in 0..8 {
        let (lp, trace) = (new_loop(), Trace::new());
        let (tcp, _peer) = local_pair(&lp);
        let line = trace.clone();
        let written = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            tcp.write(Brittle(Cell::new(looks)), move |_, result| line.add(outcome("write", result)))
        }));
        turn(&lp);
        let expected = if written.is_err() { vec![] } else { vec!["write ok".to_string()] };
        assert_eq!(trace.take(), expected, "after {looks} looks");
        assert!(!lp.is_alive(), "after {looks} looks");
    }
}

#[test]
fn lent_bytes_are_sent_whole_also_when_the_kernel_does_not_take_them_at_once() {
    let (lp, trace) = (new_loop(), Trace::new());
    for len in [1, 8 << 20] {
        let (tcp, mut peer) = pair(&lp);
        let mut bytes = pattern(len);
        tcp.write_copy(&bytes, trace.tells("write")).unwrap();
        assert_eq!(tcp.write_queue_size() > 0, len > 1);
        // They are ours again.
        bytes.fill(0);
        let reader = thread::spawn(move || {
            let mut read = vec![0; len];
            peer.read_exact(&mut read).unwrap();
            read
        });
        run(&lp);
        assert_eq!(trace.take(), ["write ok"]);
        assert!(reader.join().unwrap() == pattern(len), "{len}");
        tcp.close().unwrap();
        run(&lp);
        assert!(tcp.write_copy(b"too late", |_, _| panic!("it was refused")).is_err());
    }
}

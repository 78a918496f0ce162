use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::*;
use crate::fs;

/// A ring; `None`, and a word about it, where there can be none.
fn ring(test: &str) -> Option<Ring<u32>> {
    match Ring::new() {
        Ok(ring) => Some(ring),
        Err(error) => {
            // The macros that print are silent in a test that passes.
            let text = format!("not run: {test}: there is no ring here ({error})\n");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
            None
        }
    }
}

/// An operation that has come back, and what it has found out.
struct Done {
    value: u32,
    outcome: Outcome,
    answer: Option<Answer>,
    call: Option<Call>,
}

fn submit(ring: &mut Ring<u32>, call: Call, value: u32) -> Name {
    call.put(ring.place().unwrap()).expect("a ring's to do");
    ring.submit(value).unwrap()
}

fn come_back(value: u32, outcome: Outcome, operation: &mut Operation) -> Done {
    let answer = if let Outcome::Answer(Ok(number)) = outcome { Some(operation.answer(number)) } else { None };
    Done { value, outcome, answer, call: operation.take_call() }
}

/// Whether a ring would do it.
fn is_taken(call: Call) -> bool {
    call.put(&mut Operation::default()).is_ok()
}

/// All that comes back, by their values.
fn all_done(ring: &mut Ring<u32>) -> Vec<Done> {
    let mut done = Vec::new();
    while !ring.is_empty() {
        ring.enter().unwrap();
        if ring.entered > 0 {
            assert!(ring.wait_until(Instant::now() + Duration::from_secs(60)));
        }
        done.extend(std::iter::from_fn(|| (ring.completed() > 0).then(|| ring.next_done(come_back))).flatten());
    }
    done.sort_by_key(|done| done.value);
    done
}

fn name(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn pipe() -> (Arc<OwnedFd>, OwnedFd) {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    (Arc::new(reader), writer)
}

fn read(file: &Arc<OwnedFd>, offset: Option<u64>) -> Call {
    Call::Read { file: Arc::clone(file), room: Vec::with_capacity(10), offset }
}

#[test]
fn more_operations_than_the_queues_have_room_for_come_back_each_once() {
    let Some(mut ring) = ring("more_operations_than_the_queues_have_room_for_come_back_each_once") else { return };
    let count = ring.most as u32 * 3 + 7;
    for value in 0..count {
        submit(&mut ring, Call::Metadata(name(if value % 3 == 0 { "/nonexistent" } else { "/" })), value);
    }
    ring.enter().unwrap();
    assert_eq!(ring.entered, ring.most, "no more are the kernel's than it has room for");
    let done = all_done(&mut ring);
    assert!(done.iter().map(|done| done.value).eq(0..count));
    for Done { value, outcome, answer, .. } in done {
        match (outcome, answer) {
            (_, Some(Answer::Metadata(found))) => assert!(value % 3 != 0 && found.is_dir()),
            (Outcome::Answer(Err(error)), None) => assert!(value % 3 == 0 && error == Errno::ENOENT),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((ring.entered, ring.len()), (0, 0));
}

#[test]
fn an_operation_keeps_what_it_needs() {
    let Some(mut ring) = ring("an_operation_keeps_what_it_needs") else { return };
    let (reader, writer) = pipe();
    submit(&mut ring, read(&reader, None), 1);
    ring.enter().unwrap();
    drop(reader);
    assert_eq!((ring.completed(), ring.len()), (0, 1));
    fs::write_all(writer.as_fd(), b"hello", None).unwrap();
    let done = all_done(&mut ring).pop().unwrap();
    assert!(matches!(done.answer, Some(Answer::Count(5))));
    let Some(Call::Read { room, file, .. }) = done.call else { panic!("it is given back") };
    assert_eq!((room.as_slice(), Arc::strong_count(&file)), (&b"hello"[..], 1));
}

#[test]
fn those_of_one_position_go_one_after_the_other() {
    let Some(mut ring) = ring("those_of_one_position_go_one_after_the_other") else { return };
    let path = std::env::temp_dir().join(format!("oxuv-os-ring-{}", std::process::id()));
    std::fs::write(&path, "0123456789abcdefghij").unwrap();
    let file = Arc::new(OwnedFd::from(std::fs::File::open(&path).unwrap()));
    std::fs::remove_file(path).unwrap();
    let names: Vec<_> = (0..4).map(|value| submit(&mut ring, read(&file, None), value)).collect();
    submit(&mut ring, read(&file, Some(15)), 4);
    assert_eq!(ring.waiting.len(), 2);
    // One that waits behind another is taken back, and one in front.
    assert_eq!(ring.cancel(names[1]).unwrap().map(|(value, _)| value), Some(1));
    assert_eq!(ring.cancel(names[0]).unwrap().map(|(value, _)| value), Some(0));
    assert_eq!(ring.cancel(names[0]).unwrap_err(), Errno::EBUSY);
    let texts: Vec<_> = all_done(&mut ring)
        .into_iter()
        .map(|done| match done.call {
            Some(Call::Read { room, .. }) => String::from_utf8(room).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["0123456789", "abcdefghij", "fghij"]);
    assert!(ring.positions.is_empty());
}

#[test]
fn a_file_that_was_opened_too_late_is_closed() {
    let Some(mut ring) = ring("a_file_that_was_opened_too_late_is_closed") else { return };
    let path = std::env::temp_dir().join(format!("oxuv-os-ring-late-{}", std::process::id()));
    std::fs::write(&path, "").unwrap();
    let text = path.to_str().unwrap();
    let open = submit(&mut ring, Call::Open { path: name(text), flags: fs::O_RDONLY, mode: 0 }, 1);
    // As if the kernel had been quicker than whoever has taken it back.
    ring.slots[open.index as usize].is_cancelled = true;
    assert!(matches!(all_done(&mut ring)[..], [Done { outcome: Outcome::Cancelled, .. }]));
    let numbers = std::fs::read_dir("/proc/self/fd").unwrap();
    let mut targets = numbers.filter_map(|number| std::fs::read_link(number.unwrap().path()).ok());
    assert!(targets.all(|target| target != path));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_waits_is_taken_back_and_what_is_done_is_not() {
    let Some(mut ring) = ring("what_waits_is_taken_back_and_what_is_done_is_not") else { return };
    let (reader, _writer) = pipe();
    let waits = submit(&mut ring, read(&reader, None), 1);
    let root = submit(&mut ring, Call::Open { path: name("/"), flags: fs::O_RDONLY, mode: 0 }, 2);
    ring.enter().unwrap();
    match ring.cancel(waits) {
        Ok(None) => assert_eq!(ring.cancel(waits).unwrap_err(), Errno::EBUSY),
        // An old kernel.
        other => {
            assert_eq!(other.unwrap_err(), Errno::EBUSY);
            fs::write_all(_writer.as_fd(), b"x", None).unwrap();
        }
    }
    let done = all_done(&mut ring);
    assert!(matches!((&done[0].outcome, &done[0].answer), (Outcome::Cancelled, _) | (_, Some(Answer::Count(1)))));
    assert!(matches!(done[1].answer, Some(Answer::File(_))));
    assert_eq!(ring.cancel(root).unwrap_err(), Errno::EBUSY);
}

#[test]
fn a_ring_that_goes_takes_back_what_waits() {
    let Some(mut ring) = ring("a_ring_that_goes_takes_back_what_waits") else { return };
    let (reader, writer) = pipe();
    for value in 0..20 {
        submit(&mut ring, read(&reader, None), value);
    }
    ring.enter().unwrap();
    let since = Instant::now();
    drop(ring);
    // Had one been left to the kernel, it would have the reader still.
    let is_old_kernel = since.elapsed() >= PATIENCE;
    assert!(is_old_kernel || Arc::strong_count(&reader) == 1);
    drop((reader, writer));
}

#[test]
fn a_descriptor_is_closed_once() {
    let Some(mut ring) = ring("a_descriptor_is_closed_once") else { return };
    if ring.known & 1 << io_uring::opcode::Close::CODE == 0 {
        return;
    }
    submit(&mut ring, Call::Close(Some(std::fs::File::open("/").unwrap().into())), 1);
    let done = all_done(&mut ring).pop().unwrap();
    assert!(matches!(done.answer, Some(Answer::Done)));
    assert!(matches!(done.call, Some(Call::Close(None))), "the number may be another's by now");
    // Not done, it is still its owner's to close.
    let (reader, writer) = pipe();
    assert!(!is_taken(Call::Close(Some(writer))));
    let mut bytes = Vec::with_capacity(1);
    assert_eq!(fs::read_to_vec(reader.as_fd(), &mut bytes, None), Ok(0), "nobody can write any more");
}

#[test]
fn what_is_for_a_thread_is_not_taken() {
    let (reader, writer) = pipe();
    assert!(!is_taken(read(&reader, Some(0))), "a pipe has no position");
    rustix::io::ioctl_fionbio(&*reader, true).unwrap();
    assert!(!is_taken(read(&reader, None)), "nobody shall wait");
    let writer = Arc::new(writer);
    let unnamed = OwnedFd::from(std::fs::File::from(
        rustix::fs::memfd_create("unnamed", rustix::fs::MemfdFlags::CLOEXEC).unwrap(),
    ));
    assert!(!is_taken(Call::Close(Some(unnamed))), "it may take long to free it");
    assert!(!is_taken(Call::Truncate(Arc::clone(&writer), -1)));
    let file = Arc::new(OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap()));
    assert!(!is_taken(read(&file, Some(u64::MAX))));
    assert!(is_taken(read(&file, Some(0))));
}

//! Whether two traces are the same, but for what the README leaves open.

use oxuv_order::Entry;

/// How two traces compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They are the same.
    Same,
    /// They are the same up to this entry, where the kernel's order of ready descriptors was another one.
    Reordered(usize),
    /// They differ at this entry.
    Different(usize),
}

/// The handles that tell the phases apart, of either loop: the one's call comes right before poll, the other's right after it.
pub(crate) const BEFORE_POLL: [&str; 2] = ["before", "earlier"];
pub(crate) const AFTER_POLL: [&str; 2] = ["after", "later"];

/// Compares what came of a program on both sides.
pub(crate) fn compare(one: &[Entry], other: &[Entry]) -> Verdict {
    let at = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    match (one.get(at), other.get(at)) {
        (None, None) => Verdict::Same,
        (Some(Entry::Called(a)), Some(Entry::Called(b))) => {
            let is_open = handle(a) != handle(b)
                && (has_both(&one[at..], &other[at..]) || is_woken_for_nothing(&one[..at], a, b));
            if is_open && is_in_poll(&one[..at]) { Verdict::Reordered(at) } else { Verdict::Different(at) }
        }
        _ => Verdict::Different(at),
    }
}

/// Whether this is the call of an async handle that was sent to in the phase under way, which the other side tells in a later turn.
fn is_woken_for_nothing(past: &[Entry], call: &str, other: &str) -> bool {
    let sent = Entry::Did(format!("send {call} -> ok"));
    AFTER_POLL.contains(&other)
        && past.iter().rev().take_while(|entry| !is_called(entry, &BEFORE_POLL)).any(|entry| *entry == sent)
}

fn is_called(entry: &Entry, names: &[&str]) -> bool {
    matches!(entry, Entry::Called(call) if names.contains(&call.as_str()))
}

/// By how much an entry leads into another run of the loop, or out of it.
fn depth(entry: &Entry) -> i32 {
    match entry {
        Entry::Did(did) if did.starts_with("run ") => {
            if did.contains("->") {
                -1
            } else {
                1
            }
        }
        _ => 0,
    }
}

/// Whether what comes next is told in the poll phase. Runs within callbacks are passed over.
fn is_in_poll(past: &[Entry]) -> bool {
    let mut inner = 0;
    for entry in past.iter().rev() {
        match depth(entry) {
            1 if inner == 0 => return false,
            change => inner -= change,
        }
        if inner == 0 && (is_called(entry, &BEFORE_POLL) || is_called(entry, &AFTER_POLL)) {
            return is_called(entry, &BEFORE_POLL);
        }
    }
    false
}

/// Whose callback it is.
fn handle(call: &str) -> &str {
    call.split([' ', '\'']).next().unwrap_or_default()
}

/// Whether, in what is left of the poll phase, each of the two that are told first comes on the other side, too; or one of them
/// does, and was the end of the other.
fn has_both(one: &[Entry], other: &[Entry]) -> bool {
    let phase = |entries: &[Entry]| -> Vec<Entry> {
        let mut inner = 0;
        let is_in_phase = |entry: &&Entry| {
            inner += depth(entry);
            inner > 0 || inner == 0 && !is_called(entry, &AFTER_POLL)
        };
        entries.iter().take_while(is_in_phase).cloned().collect()
    };
    let (one, other) = (phase(one), phase(other));
    let comes_later = |first: &[Entry], rest: &[Entry]| first.first().is_some_and(|entry| rest.contains(entry));
    comes_later(&one, &other) || comes_later(&other, &one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Vec<Entry> {
        let entry = |word: &str| match word.strip_prefix('-') {
            Some(did) => Entry::Did(did.to_owned()),
            None => Entry::Called(word.to_owned()),
        };
        text.split(", ").map(entry).collect()
    }

    #[test]
    fn the_same_is_the_same() {
        assert_eq!(compare(&calls("before, a, -start a, after"), &calls("before, a, -start a, after")), Verdict::Same);
        assert_eq!(compare(&[], &[]), Verdict::Same);
    }

    #[test]
    fn the_order_of_descriptors_in_a_poll_phase_is_left_open() {
        let (one, other) = (calls("before, a read 1, b read 2, after"), calls("before, b read 2, a read 1, after"));
        assert_eq!(compare(&one, &other), Verdict::Reordered(1));
        // One may be the end of the other.
        let other = calls("before, b read 2, -close a, after");
        assert_eq!(compare(&one, &other), Verdict::Reordered(1));
    }

    #[test]
    fn a_wake_up_for_nothing_is_left_open() {
        let (one, other) = (calls("before, a x, -send b -> ok, b, after"), calls("before, a x, -send b -> ok, after"));
        assert_eq!(compare(&one, &other), Verdict::Reordered(3));
        let (one, other) = (calls("-send b -> ok, before, b, after"), calls("-send b -> ok, before, after"));
        assert_eq!(compare(&one, &other), Verdict::Different(2));
    }

    #[test]
    fn everything_else_is_not() {
        for (one, other, at) in [
            ("before, a read 1, after", "before, after", 1),
            ("before, after, a, b", "before, after, b, a", 2),
            ("before, a read 1, a read 2, after", "before, a read 2, a read 1, after", 1),
            ("before, a, b, after", "before, c, d, after", 1),
            ("before, a, after, b", "before, b, after, a", 1),
            ("before, -write a: ok", "before, -write a: EPIPE", 1),
            ("before, a", "before, a, b", 2),
        ] {
            assert_eq!(compare(&calls(one), &calls(other)), Verdict::Different(at), "{one}; {other}");
        }
    }
}

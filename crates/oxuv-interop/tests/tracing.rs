//! What a loop does, as spans and events of the crate `tracing`.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oxuv::observe::Settings;
use oxuv::{Loop, Mode, Timer};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, info};

/// Writes down what it hears, each span under its name.
#[derive(Clone, Default)]
struct Notes {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<Mutex<Vec<String>>>,
    last: Arc<AtomicU64>,
}

impl Notes {
    fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn name(&self, span: &Id) -> String {
        self.spans.lock().unwrap()[span.into_u64() as usize - 1].clone()
    }
}

/// The fields of a span or an event, as text.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 += &format!(" {}={value:?}", field.name());
    }
}

impl Subscriber for Notes {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.spans.lock().unwrap().push(fields.0);
        Id::from_u64(self.last.fetch_add(1, Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(event.metadata().target().to_owned());
        event.record(&mut fields);
        self.note(fields.0);
    }

    fn enter(&self, span: &Id) {
        self.note(format!("into {}", self.name(span)));
    }

    fn exit(&self, span: &Id) {
        self.note(format!("out of {}", self.name(span)));
    }
}

#[test]
fn turns_and_callbacks_are_spans_around_what_the_program_tells() {
    let notes = Notes::default();
    let line = line!() + 3;
    tracing::subscriber::with_default(notes.clone(), || {
        let lp = Loop::new().unwrap();
        let timer = Timer::new(&lp).unwrap();
        lp.observe(Settings { tracing: true, ..Settings::default() }).unwrap();
        timer
            // Long enough that it is not due before the first turn, however busy the machine is.
            .start(Duration::from_millis(200), |timer| {
                info!(target: "program", "a timer");
                timer.close().unwrap();
            })
            .unwrap();
        lp.work(|| (), |_, _| {}).unwrap();
        lp.run(Mode::Default).unwrap();
    });
    let lines = notes.lines.lock().unwrap();
    let at = |what: &str| {
        lines.iter().position(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what}: {lines:#?}"))
    };
    let callback = "callback kind=\"timer\" handle=";
    let (into, told, out) =
        (at(&format!("into {callback}")), at("program message=a timer"), at(&format!("out of {callback}")));
    assert!(into < told && told < out, "{lines:#?}");
    assert!(lines[into].ends_with(&format!("{}:{line}\"", file!())), "{lines:#?}");
    assert!(
        at("into turn number=1") < into
            && lines.iter().any(|line| line.starts_with("oxuv message=waited microseconds="))
    );
    assert!(lines.iter().any(|line| line.starts_with("oxuv message=job lane=\"work\" queued=")), "{lines:#?}");
    // Whatever is entered is left, the innermost first.
    let mut entered = Vec::new();
    for line in lines.iter() {
        if let Some(span) = line.strip_prefix("into ") {
            entered.push(span);
        } else if let Some(span) = line.strip_prefix("out of ") {
            assert_eq!(entered.pop(), Some(span), "{lines:#?}");
        }
    }
    assert!(entered.is_empty(), "{entered:?}");
}

#[test]
fn an_observer_that_goes_in_a_callback_leaves_its_spans() {
    let notes = Notes::default();
    tracing::subscriber::with_default(notes.clone(), || {
        let lp = Loop::new().unwrap();
        lp.observe(Settings { tracing: true, ..Settings::default() }).unwrap();
        let timer = Timer::new(&lp).unwrap();
        timer
            .start(Duration::ZERO, |timer| {
                timer.owner().observe(Settings::default()).unwrap();
                timer.close().unwrap();
            })
            .unwrap();
        lp.run(Mode::Default).unwrap();
    });
    let lines = notes.lines.lock().unwrap();
    let count = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
    assert!(count("into ") > 0 && count("into ") == count("out of "), "{lines:#?}");
}

#[test]
fn a_callback_that_panics_leaves_no_span_entered() {
    let notes = Notes::default();
    tracing::subscriber::with_default(notes.clone(), || {
        let lp = Loop::new().unwrap();
        lp.observe(Settings { tracing: true, ..Settings::default() }).unwrap();
        let timer = Timer::new(&lp).unwrap();
        timer.start(Duration::ZERO, |_| panic!("on purpose")).unwrap();
        let run = std::panic::AssertUnwindSafe(|| lp.run(Mode::Default));
        assert!(std::panic::catch_unwind(run).is_err());
        info!(target: "program", "after it");
    });
    let lines = notes.lines.lock().unwrap();
    let after = lines.iter().position(|line| line.contains("after it")).unwrap();
    let entered = lines[..after].iter().filter(|line| line.starts_with("into callback")).count();
    let left = lines[..after].iter().filter(|line| line.starts_with("out of callback")).count();
    assert_eq!((entered, left), (1, 1), "{lines:?}");
}

#[test]
fn each_poll_of_a_task_is_a_span_around_what_the_task_tells() {
    let notes = Notes::default();
    let line = line!() + 4;
    tracing::subscriber::with_default(notes.clone(), || {
        let lp = Loop::new().unwrap();
        lp.observe(Settings { tracing: true, ..Settings::default() }).unwrap();
        let task = lp.spawn_local(async {
            info!(target: "program", "first");
            oxuv::task::yield_now().await;
            info!(target: "program", "second");
        });
        lp.run(Mode::Default).unwrap();
        assert!(task.is_finished());
    });
    let lines = notes.lines.lock().unwrap();
    let within: Vec<_> = lines.windows(3).filter(|lines| lines[1].starts_with("program message=")).collect();
    let (into, out) = ("into callback kind=\"task\" ", "out of callback kind=\"task\" ");
    assert!(within.len() == 2 && within.iter().all(|lines| lines[0].starts_with(into) && lines[2].starts_with(out)));
    assert!(within[0][0].ends_with(&format!("{}:{line}\"", file!())), "{lines:#?}");
}

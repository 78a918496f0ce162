//! Traces, slow callbacks, numbers, and why a loop is alive.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use oxuv::observe::{CallbackKind, Doing, Numbers, Pulse, Settings, SlowCallback, Trace, Watchdog};
use oxuv::{Errno, Idle, Kind, Loop, Mode, Tcp, Timer, fs};
use serde_json::Value;

struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("oxuv-trace-{name}-{}.json", std::process::id())))
    }

    fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.0).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Those of spans of this category, by name.
    fn spans(&self, category: &str, name: &str) -> Vec<Value> {
        let is = |record: &Value| record["ph"] == "X" && record["cat"] == category && record["name"] == name;
        self.records().into_iter().filter(is).collect()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn begin(span: &Value) -> f64 {
    span["ts"].as_f64().unwrap()
}

fn end(span: &Value) -> f64 {
    begin(span) + span["dur"].as_f64().unwrap()
}

#[test]
fn a_trace_tells_of_callbacks_within_phases_within_turns() {
    let file = File::new("nested");
    let lp = Loop::new().unwrap();
    lp.trace(&file.0).unwrap();
    let line = line!() + 1;
    let timer = Timer::new(&lp).unwrap();
    timer
        // Long enough that it is not due before the first turn, however busy the machine is.
        .start(Duration::from_millis(200), |timer| {
            std::thread::sleep(Duration::from_millis(10));
            timer.close().unwrap();
        })
        .unwrap();
    lp.work(|| std::thread::sleep(Duration::from_millis(2)), |_, _| {}).unwrap();
    lp.run(Mode::Default).unwrap();
    drop(lp);
    let [callback] = &file.spans("callback", "timer")[..] else { panic!("one timer") };
    assert!(callback["dur"].as_f64().unwrap() >= 10_000.0, "{callback}");
    assert_eq!(callback["args"]["origin"], format!("{}:{line}", file!()));
    let is_around = |outer: &&Value, inner: &Value| begin(outer) <= begin(inner) && end(inner) <= end(outer);
    let phases = file.spans("phase", "timers");
    assert_eq!(phases.iter().filter(|phase| is_around(phase, callback)).count(), 1, "{phases:?}");
    let turns = file.spans("turn", "turn");
    let [turn] = turns.iter().filter(|turn| is_around(turn, callback)).collect::<Vec<_>>()[..] else {
        panic!("{turns:?}")
    };
    assert!(file.spans("wait", "wait").iter().any(|wait| is_around(&turn, wait)));
    let job = &file.spans("callback", "job")[0];
    assert!(job["args"]["origin"].as_str().unwrap().contains("observing.rs"));
    let records = file.records();
    let jobs: Vec<_> = records.iter().filter(|record| record["cat"] == "pool" && record["name"] == "runs").collect();
    let [begun, ended] = jobs[..] else { panic!("{jobs:?}") };
    assert!(begin(ended) - begin(begun) >= 2000.0);
}

#[test]
fn a_trace_is_whole_at_each_moment_and_shows_the_callback_under_way() {
    let file = File::new("moment");
    let lp = Loop::new().unwrap();
    lp.trace(&file.0).unwrap();
    let timer = Timer::new(&lp).unwrap();
    let path = file.0.clone();
    let seen = Rc::new(RefCell::new(Value::Null));
    let saw = Rc::clone(&seen);
    timer
        .start(Duration::ZERO, move |timer| {
            let records: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            *saw.borrow_mut() = records.as_array().unwrap().last().unwrap().clone();
            timer.close().unwrap();
        })
        .unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!((seen.borrow()["name"].as_str(), seen.borrow()["dur"].as_f64()), (Some("timer"), Some(0.0)));
}

#[test]
fn a_long_trace_is_whole() {
    let file = File::new("long");
    let lp = Loop::new().unwrap();
    lp.trace(&file.0).unwrap();
    let mut left = 10_000;
    let idle = Idle::new(&lp).unwrap();
    idle.start(move |idle| {
        left -= 1;
        if left == 0 {
            idle.close().unwrap();
        }
    })
    .unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(file.spans("callback", "idle").len(), 10_000);
    drop(lp);
    assert_eq!(file.spans("turn", "turn").len(), 10_000);
}

#[test]
fn two_loops_may_write_to_one_trace() {
    let file = File::new("two");
    let trace = Trace::create(&file.0).unwrap();
    let trace_of = |trace: &Trace| Settings { trace: Some(trace.clone()), ..Settings::default() };
    let threads = [1, 2].map(|_| {
        let trace = trace.clone();
        std::thread::spawn(move || {
            let lp = Loop::new().unwrap();
            lp.observe(trace_of(&trace)).unwrap();
            Timer::new(&lp).unwrap().start(Duration::from_millis(1), |timer| timer.close().unwrap()).unwrap();
            lp.run(Mode::Default).unwrap();
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let tracks: Vec<_> = file.spans("callback", "timer").iter().map(|span| span["tid"].as_u64().unwrap()).collect();
    assert!(tracks.len() == 2 && tracks[0] != tracks[1], "{tracks:?}");
    assert_eq!(trace.error(), None);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let lp = Loop::new().unwrap();
    assert_eq!(lp.trace("/proc/nothing/trace.json").err(), Some(Errno::ENOENT));
    assert!(lp.trace("/dev/full").is_err());
    let file = File::new("twice");
    lp.trace(&file.0).unwrap();
    assert_eq!(Loop::new().unwrap().trace(&file.0).err(), Some(Errno::EBUSY));
}

#[test]
fn what_the_kernel_does_of_files_has_a_lane_of_its_own() {
    let (file, lp, numbers) = (File::new("ring"), Loop::new().unwrap(), Numbers::new());
    let trace = Trace::create(&file.0).unwrap();
    lp.observe(Settings { trace: Some(trace), numbers: Some(numbers.clone()), ..Settings::default() }).unwrap();
    lp.use_io_uring(true);
    fs::metadata(&lp, "/", |_, found| assert!(found.is_ok())).unwrap();
    lp.run(Mode::Default).unwrap();
    let (track, by_ring, by_threads) = if lp.has_io_uring() { (4, 1, 0) } else { (2, 0, 1) };
    assert_eq!((numbers.ring().count, numbers.lanes()[1].count), (by_ring, by_threads));
    let records = file.records();
    let jobs: Vec<_> = records.iter().filter(|record| record["cat"] == "pool").collect();
    assert_eq!(jobs.len(), 4);
    assert!(jobs.iter().all(|job| job["tid"] == track), "{jobs:?}");
}

#[test]
fn slow_callbacks_are_told_with_where_they_are_from() {
    let lp = Loop::new().unwrap();
    let told = Rc::new(RefCell::new(Vec::new()));
    let (tells, owner) = (Rc::clone(&told), (*lp).clone());
    let tell = move |slow: SlowCallback| {
        // An observer cannot use the loop.
        assert_eq!(owner.backend_fd(), Err(Errno::EBUSY));
        tells.borrow_mut().push(slow);
    };
    let slow = Some((Duration::from_millis(20), Box::new(tell) as _));
    lp.observe(Settings { slow, ..Settings::default() }).unwrap();
    for time in [0, 25] {
        let sleeper = move |timer: &Timer| {
            std::thread::sleep(Duration::from_millis(time));
            timer.close().unwrap();
        };
        Timer::new(&lp).unwrap().start(Duration::ZERO, sleeper).unwrap();
    }
    lp.run(Mode::Default).unwrap();
    let told = told.take();
    let slow = told.iter().find(|slow| slow.duration >= Duration::from_millis(25)).unwrap();
    assert_eq!(slow.kind, CallbackKind::Timer);
    assert!(slow.origin.contains("observing.rs:"), "{slow}");
    assert!(slow.to_string().starts_with("slow callback: timer took "), "{slow}");
    lp.observe(Settings::default()).unwrap();
}

const THRESHOLD: Duration = Duration::from_millis(300);

#[test]
fn a_watchdog_sees_a_stuck_callback_while_it_is_stuck() {
    let lp = Loop::new().unwrap();
    let pulse = Pulse::default();
    lp.observe(Settings { pulse: Some(pulse.clone()), ..Settings::default() }).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let dog = Watchdog::start(pulse, THRESHOLD, move |stuck| sender.send(stuck).unwrap()).unwrap();
    let timer = Timer::new(&lp).unwrap();
    let told = Rc::new(RefCell::new(None));
    let tells = Rc::clone(&told);
    timer
        .start(Duration::ZERO, move |timer| {
            // It is told while this still runs.
            *tells.borrow_mut() = Some(receiver.recv().unwrap());
            timer.close().unwrap();
        })
        .unwrap();
    lp.run(Mode::Default).unwrap();
    drop(dog);
    let stuck = told.take().unwrap();
    // Found within twice the threshold.
    assert!(stuck.duration >= THRESHOLD && stuck.duration < 2 * THRESHOLD, "{stuck}");
    assert!(stuck.origin.contains("observing.rs"), "{stuck}");
}

#[test]
fn numbers_count_turns_callbacks_and_time() {
    let lp = Loop::new().unwrap();
    let numbers = Numbers::new();
    lp.observe(Settings { numbers: Some(numbers.clone()), ..Settings::default() }).unwrap();
    lp.measure_idle_time();
    let mut left = 5;
    let timer = Timer::new(&lp).unwrap();
    timer
        .start_repeating(Duration::from_millis(10), Duration::from_millis(10), move |timer| {
            std::thread::sleep(Duration::from_millis(2));
            left -= 1;
            if left == 0 {
                timer.close().unwrap();
            }
        })
        .unwrap();
    lp.work(|| (), |_, _| {}).unwrap();
    lp.run(Mode::Default).unwrap();
    let timers = numbers.callbacks(CallbackKind::Timer);
    assert!(timers.count == 5 && timers.total >= 10_000_000 && timers.longest >= 2_000_000, "{timers:?}");
    assert_eq!((numbers.callbacks(CallbackKind::Job).count, numbers.lanes()[0].count), (1, 1));
    // They are the loop's own.
    assert_eq!((numbers.metrics(), numbers.turns()), (lp.metrics(), lp.turns()));
    assert_eq!(Duration::from_nanos(numbers.idle()), lp.idle_time());
    assert!(numbers.metrics().events >= 1 && numbers.idle() > 0 && numbers.busy() >= 10_000_000, "{numbers:?}");
    assert!((0.0..1.0).contains(&numbers.utilization()));
    let delays = numbers.delays();
    assert!(delays.count >= 6 && delays.max >= 2_000_000 && delays.p50 <= delays.max, "{delays:?}");
    let text = numbers.prometheus();
    assert!(text.contains("\noxuv_callbacks_total{kind=\"timer\"} 5\n"), "{text}");
    assert!(text.contains("\n# TYPE oxuv_delay_seconds summary\noxuv_delay_seconds{quantile=\"0.5\"} "), "{text}");
}

#[test]
fn what_keeps_a_loop_alive_is_named_with_its_place() {
    let lp = Loop::new().unwrap();
    assert!(lp.why_alive().is_empty());
    let unrefed = Timer::new(&lp).unwrap();
    unrefed.start(Duration::from_secs(1), |_| {}).unwrap();
    unrefed.unref().unwrap();
    let timer_line = line!() + 1;
    let timer = Timer::new(&lp).unwrap();
    timer.start_repeating(Duration::from_secs(60), Duration::from_secs(5), |_| {}).unwrap();
    let listener = Tcp::new(&lp).unwrap();
    listener.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    listener.listen(1, |_: &Tcp, _| {}).unwrap();
    let closing = Timer::new(&lp).unwrap();
    closing.close().unwrap();
    let job_line = line!() + 1;
    lp.work(|| (), |_, _| {}).unwrap();
    let open = lp.why_open();
    assert!(open.len() == 5 && open[0].to_string().contains(": open, since "), "{open:?}");
    let alive = lp.why_alive();
    let [timer, listener, closing, job] = &alive[..] else { panic!("{alive:?}") };
    assert_eq!((timer.keeper.kind, timer.keeper.doing), (Kind::Timer, Doing::ACTIVE));
    assert!(timer.keeper.due_in.unwrap() > 50_000_000_000 && timer.keeper.repeat == Some(5_000_000_000));
    assert_eq!(timer.origin, format!("{}:{timer_line}", file!()));
    assert_eq!((listener.keeper.kind, listener.keeper.doing), (Kind::Tcp, Doing::ACTIVE | Doing::LISTENING));
    assert!(listener.keeper.descriptor.is_some() && listener.keeper.local.unwrap().port() > 0);
    assert!(listener.to_string().contains(": listening, descriptor "), "{listener}");
    assert_eq!(closing.keeper.doing, Doing::CLOSING);
    assert_eq!((job.keeper.kind, job.keeper.doing), (Kind::None, Doing::WORKING));
    assert_eq!(job.origin, format!("{}:{job_line}", file!()));
}

#[test]
fn a_callback_that_panics_is_over() {
    let lp = Loop::new().unwrap();
    let (pulse, file) = (Pulse::default(), File::new("panic"));
    let trace = Trace::create(&file.0).unwrap();
    lp.observe(Settings { pulse: Some(pulse.clone()), trace: Some(trace), ..Settings::default() }).unwrap();
    let timer = Timer::new(&lp).unwrap();
    timer
        .start(Duration::ZERO, |_| {
            std::thread::sleep(Duration::from_millis(5));
            panic!("on purpose");
        })
        .unwrap();
    let run = std::panic::AssertUnwindSafe(|| lp.run(Mode::Default));
    assert!(std::panic::catch_unwind(run).is_err());
    assert!(pulse.under_way().is_none());
    let spans = file.spans("callback", "timer");
    assert!(spans.len() == 1 && spans[0]["dur"].as_f64().unwrap() >= 5000.0, "{spans:?}");
}

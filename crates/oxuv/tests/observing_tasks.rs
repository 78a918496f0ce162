//! What tasks are seen as by those who look on: why a loop is alive, where things are from, and what has taken long.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::time::Duration;

use oxuv::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use oxuv::observe::{Alive, CallbackKind, Doing, Inquiry, Numbers, Pulse, Settings, SlowCallback, Watchdog, Why};
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Command, Errno, Loop, LoopRef, Mode, fs, signal, task, time};

fn here(line: u32) -> String {
    format!("{}:{line}", file!())
}

fn alive_here() -> Vec<Alive> {
    LoopRef::current().unwrap().why_alive()
}

#[test]
fn unfinished_tasks_keep_a_loop_alive_and_say_where_they_were_spawned() {
    let lp = Loop::new().unwrap();
    let (line, first) = (line!(), lp.spawn_local(pending::<()>()));
    let second = lp.spawn_local(lp.sleep(Duration::from_secs(50)));
    lp.run(Mode::NoWait).unwrap();
    let [one, other] = &lp.why_alive()[..] else { panic!("{:?}", lp.why_alive()) };
    assert_eq!((&one.origin, &other.origin), (&here(line), &here(line + 1)));
    assert!(one.keeper.is_task() && one.keeper.doing == Doing::WAITING);
    assert!(one.to_string().starts_with("task: waiting, since "), "{one}");
    assert!(one.to_string().ends_with(&format!(" ms, from {}", here(line))), "{one}");
    assert_eq!(lp.why_open().len(), 2);
    assert_eq!(lp.check_closable(), Err(Errno::EBUSY));
    first.abort();
    second.abort();
    assert!(lp.why_alive().is_empty() && lp.why_open().is_empty() && !lp.is_alive());
    assert_eq!(lp.check_closable(), Ok(()));
}

#[test]
fn who_asks_within_a_task_is_told_of_it_and_of_what_is_blocked_on() {
    let lp = Loop::new().unwrap();
    let line = line!() + 1;
    lp.block_on(async {
        let asked = spawn_local(async { alive_here() });
        let told = asked.await.unwrap();
        let told: Vec<_> = told.iter().map(|task| (task.keeper.doing, task.origin.clone())).collect();
        assert_eq!(told, [(Doing::WAITING, here(line)), (Doing::RUNNING, here(line + 1))]);
        assert_eq!(alive_here()[0].keeper.doing, Doing::RUNNING);
    });
    assert!(lp.why_alive().is_empty());
}

#[test]
fn an_inquiry_is_answered_with_the_tasks_as_well() {
    let lp = Loop::new().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let inquiry = Inquiry::new(move |why, lines| sender.send((why, lines)).unwrap());
    lp.observe(Settings { inquiry: Some(inquiry.clone()), ..Settings::default() }).unwrap();
    lp.block_on(async {
        inquiry.ask();
        time::sleep(Duration::from_millis(1)).await;
    });
    let (why, lines) = receiver.try_recv().unwrap();
    assert_eq!(why, Why::Alive);
    assert!(lines.iter().any(|line| line.starts_with("task: waiting") && line.contains(file!())), "{lines:?}");
}

/// The origins of all that is there but for tasks.
fn origins() -> Vec<String> {
    let lp = LoopRef::current().unwrap();
    lp.why_open().into_iter().filter(|open| !open.keeper.is_task()).map(|open| open.origin).collect()
}

#[test]
fn what_async_functions_make_is_from_the_line_that_calls_them() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let line = line!() + 1;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let client = client.await.unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        assert_eq!(origins(), [line, line + 1, line + 3].map(here));
        drop((listener, client, datagrams));
    });
    lp.block_on(async {
        assert_eq!(UnixStream::connect("/nowhere/at/all").await.unwrap_err().raw_os_error(), Some(2));
        yield_now().await;
        time::sleep(Duration::from_millis(1)).await;
        let line = line!() + 1;
        let both = [spawn_local(signal::ctrl_c()), spawn_local(signal::ctrl_c())];
        let child = spawn_local(async { Command::new("sleep").arg("50").kill_on_drop(true).status().await });
        yield_now().await;
        assert_eq!(origins(), [line, line, line + 1].map(here));
        both.iter().for_each(task::JoinHandle::abort);
        child.abort();
    });
}

#[test]
fn jobs_of_tasks_are_from_the_line_that_asks_for_them() {
    let lp = Loop::new().unwrap();
    // With the kernel there would be none to be seen.
    lp.use_io_uring(false);
    lp.block_on(async {
        let line = line!() + 1;
        let read = spawn_local(fs::task::read("/proc/self/comm"));
        let text = spawn_local(async { fs::task::read_to_string("/proc/self/comm").await });
        let open = spawn_local(fs::task::File::open("/proc/self/comm"));
        yield_now().await;
        let work = task::spawn_blocking(|| ());
        assert_eq!(origins(), [line, line + 1, line + 2, line + 4].map(here));
        let file = open.await.unwrap().unwrap();
        text.await.unwrap().unwrap();
        read.await.unwrap().unwrap();
        work.await.unwrap();
        let line = line!() + 1;
        let size = spawn_local(async move { file.metadata().await });
        yield_now().await;
        assert_eq!(origins(), [here(line)]);
        size.await.unwrap().unwrap();
    });
}

#[test]
fn connections_are_from_the_line_that_accepts_or_where_the_task_was_spawned() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let clients = [1, 2].map(|_| spawn_local(TcpStream::connect(listener.local_addr().unwrap())));
        yield_now().await;
        let line = line!() + 1;
        let server = spawn_local(async move {
            let one = listener.accept().await.unwrap();
            let other = poll_fn(|context| listener.poll_accept(context)).await.unwrap();
            (one, other, listener)
        });
        let server = server.await.unwrap();
        assert_eq!(origins()[3..], [line + 1, line].map(here));
        drop((clients, server));
    });
}

#[test]
fn a_poll_that_takes_long_is_told_as_the_tasks_own() {
    let lp = Loop::new().unwrap();
    let (told, numbers) = (Rc::new(RefCell::new(Vec::new())), Numbers::new());
    let tells = Rc::clone(&told);
    let tell = Box::new(move |slow: SlowCallback| tells.borrow_mut().push((slow.kind, slow.origin)));
    let slow = Some((Duration::from_millis(300), tell as _));
    lp.observe(Settings { slow, numbers: Some(numbers.clone()), ..Settings::default() }).unwrap();
    let line = line!() + 1;
    lp.block_on(async {
        let blocks = spawn_local(async { std::thread::sleep(Duration::from_millis(310)) });
        let does_not = spawn_local(async {});
        blocks.await.unwrap();
        does_not.await.unwrap();
        std::thread::sleep(Duration::from_millis(310));
    });
    lp.observe(Settings::default()).unwrap();
    let told: Vec<_> = told.take().into_iter().map(|(kind, origin)| (kind.name(), origin)).collect();
    let is_told =
        |line: u32| told.iter().any(|(kind, origin)| *kind == "task" && here(line).ends_with(origin.as_str()));
    assert!(is_told(line) && is_told(line + 1) && !is_told(line + 2), "{told:?}");
    let polls = numbers.callbacks(CallbackKind::Task);
    assert!(polls.count >= 4 && polls.longest >= 300_000_000, "{polls:?}");
}

#[test]
fn a_watchdog_names_the_task_that_is_stuck() {
    const THRESHOLD: Duration = Duration::from_millis(100);
    let (lp, pulse) = (Loop::new().unwrap(), Pulse::default());
    lp.observe(Settings { pulse: Some(pulse.clone()), ..Settings::default() }).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let dog = Watchdog::start(pulse, THRESHOLD, move |stuck| drop(sender.send(stuck))).unwrap();
    let line = line!() + 1;
    let stuck = lp.block_on(async { spawn_local(async move { receiver.recv().unwrap() }).await.unwrap() });
    drop(dog);
    assert_eq!(stuck.kind, CallbackKind::Task);
    assert!(here(line).ends_with(&stuck.origin), "{stuck}");
}

#[test]
fn a_trace_has_each_poll_as_a_callback() {
    let path = std::env::temp_dir().join(format!("oxuv-trace-tasks-{}.json", std::process::id()));
    let lp = Loop::new().unwrap();
    lp.trace(&path).unwrap();
    let line = line!() + 1;
    let tasks = [1, 2].map(|_| lp.spawn_local(yield_now()));
    lp.run(Mode::Default).unwrap();
    drop(lp);
    let records: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let is_poll = |record: &&serde_json::Value| record["cat"] == "callback" && record["name"] == "task";
    let polls: Vec<_> = records.iter().filter(is_poll).collect();
    assert!(tasks.iter().all(task::JoinHandle::is_finished));
    assert_eq!(polls.len(), 4, "{records:?}");
    assert!(polls.iter().all(|poll| poll["args"]["origin"] == here(line)), "{polls:?}");
}

#[test]
fn the_timer_of_a_sleep_is_from_the_task_that_sleeps_also_when_it_was_anothers() {
    let lp = Loop::new().unwrap();
    let told = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&told);
    // Whatever takes any time is slow.
    let tell = Box::new(move |slow: SlowCallback| kept.borrow_mut().push((slow.kind, slow.origin)));
    lp.observe(Settings { slow: Some((Duration::ZERO, tell)), ..Settings::default() }).unwrap();
    let line = line!() + 1;
    lp.block_on(async { time::sleep(Duration::from_millis(1)).await });
    lp.block_on(async { time::sleep(Duration::from_millis(1)).await });
    let timers: Vec<_> = told.take().into_iter().filter(|(kind, _)| *kind == CallbackKind::Timer).collect();
    let [(_, one), (_, other)] = &timers[..] else { panic!("{timers:?}") };
    assert!(here(line).ends_with(one.as_str()) && here(line + 1).ends_with(other.as_str()), "{timers:?}");
}

#[test]
fn a_panic_of_what_is_blocked_on_ends_its_callback() {
    let (lp, told) = (Loop::new().unwrap(), Rc::new(RefCell::new(Vec::new())));
    let tells = Rc::clone(&told);
    let tell = Box::new(move |slow: SlowCallback| tells.borrow_mut().push(slow.to_string()));
    lp.observe(Settings { slow: Some((Duration::from_millis(300), tell)), ..Settings::default() }).unwrap();
    // Without the hook, which takes its time to print where that was.
    let blocks = || lp.block_on(async { std::panic::resume_unwind(Box::new("on purpose")) });
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(blocks)).unwrap_err();
    std::thread::sleep(Duration::from_millis(310));
    lp.block_on(yield_now());
    assert!(told.take().is_empty());
}

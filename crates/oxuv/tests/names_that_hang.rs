//! Look-ups that are never answered, while files are read. It takes a network and a resolver of its own.

use std::cell::Cell;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use oxuv::fs::File;
use oxuv::{Errno, Found, Hints, Lane, Loop, LoopRef, Mode, Pool, Timer};

mod common;

use common::{Place, ms};

const TEST: &str = "look_ups_that_hang_do_not_hold_up_files";

/// Set in the process that has them.
const INSIDE: &str = "OXUV_TEST_NAMES_THAT_HANG";

/// Puts the files of the folder $1 in the place of those in /etc, and becomes the rest of "$@".
const SETUP: &str = r#"
for file in resolv.conf nsswitch.conf hosts; do
    [ ! -e "/etc/$file" ] || mount --bind "$1/$file" "/etc/$file" || exit 77
done
[ -e /etc/resolv.conf ] && ip link set lo up || exit 77
shift
exec "$@"
"#;

#[test]
fn look_ups_that_hang_do_not_hold_up_files() {
    if std::env::var_os(INSIDE).is_some() {
        return with_a_silent_resolver();
    }
    let place = Place::new("names-that-hang");
    for (name, text) in [
        ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
        ("hosts", "127.0.0.1 localhost\n"),
    ] {
        std::fs::write(place.path(name), text).unwrap();
    }
    match run_inside(place.path("").as_path()) {
        Ok(status) if status.code() == Some(77) => {
            say("not run: no files of the resolver, or no ip, in namespaces of our own")
        }
        Ok(status) => assert!(status.success(), "{status}"),
        Err(reason) => say(&format!("not run: {reason}")),
    }
}

/// Also where the output of tests that do not fail is hidden: what is printed by a macro.
fn say(text: &str) {
    let mut output = std::io::stderr().lock();
    writeln!(output, "{TEST}: {text}").unwrap();
}

/// Runs this test once more, in namespaces of its own.
fn run_inside(folder: &Path) -> Result<ExitStatus, String> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "--mount"]);
        command
    };
    let probe = unshare().arg("true").stderr(Stdio::null()).status();
    match probe {
        Err(error) => return Err(format!("unshare: {error}")),
        Ok(status) if !status.success() => return Err("there are no namespaces for us".into()),
        Ok(_) => {}
    }
    let test = std::env::current_exe().unwrap();
    let mut command = unshare();
    command.args(["sh", "-c", SETUP, "sh"]).arg(folder).arg(test).args(["--exact", TEST, "--nocapture"]);
    command.env(INSIDE, "1").env_remove("UV_THREADPOOL_SIZE").env_remove("RES_OPTIONS").stdout(Stdio::null());
    command.status().map_err(|error| format!("unshare: {error}"))
}

/// Answers nobody at first. How many reads a second are there with 200 look-ups, and how many on a pool that has none? By turns, since
/// others may want the machine as well.
fn with_a_silent_resolver() {
    let resolver = UdpSocket::bind("127.0.0.1:53").unwrap();
    resolver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let lp = Loop::new().unwrap();
    let quiet = Loop::with_pool(&Pool::new(NonZeroUsize::new(4).unwrap()).unwrap()).unwrap();
    let (file, quiet_file) = (open(&lp), open(&quiet));

    let (canceled, not_there) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let look_up = |nth: usize| {
        let (canceled, not_there) = (canceled.clone(), not_there.clone());
        let done = move |_: &LoopRef, found: oxuv::Result<Found>| match found.unwrap_err().name() {
            Some("EAI_CANCELED") => canceled.set(canceled.get() + 1),
            Some("EAI_NONAME") => not_there.set(not_there.get() + 1),
            other => panic!("{other:?}"),
        };
        lp.lookup(&*format!("host-{nth}.example"), None, Hints::default(), done).unwrap()
    };
    let requests: Vec<_> = (0..200).map(look_up).collect();
    let deadline = Instant::now() + Duration::from_secs(10);
    while lp.pool_metrics().lanes[Lane::SlowIo as usize].running < 2 {
        assert!(Instant::now() < deadline, "look-ups do not begin");
        thread::yield_now();
    }
    let mut question = [0; 512];
    let (len, asker) = resolver.recv_from(&mut question).expect("the resolver is asked");

    let mut counts = Vec::new();
    let ratio = |&(hanging, quiet): &(usize, usize)| hanging as f64 / quiet as f64;
    while counts.len() < 40 {
        counts.push((reads_in_a_while(&lp, &file), reads_in_a_while(&quiet, &quiet_file)));
        counts.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
        if counts.len() >= 5 && ratio(&counts[counts.len() / 2]) >= 0.5 {
            break;
        }
    }
    let slow = lp.pool_metrics().lanes[Lane::SlowIo as usize];
    assert_eq!((slow.running, slow.queued, slow.done), (2, 198, 0));
    let median = ratio(&counts[counts.len() / 2]);
    assert!(median >= 0.5, "{counts:?}");
    say(&format!("{median:.2} of the reads without look-ups"));

    // libuv#2481: those that run cannot be taken back, and have their result later.
    let refused: Vec<_> = requests.iter().filter_map(|request| request.cancel().err()).collect();
    assert_eq!(refused, [Errno::EBUSY; 2]);
    thread::spawn(move || {
        say_no(&resolver, &mut question[..len], asker);
        while let Ok((len, asker)) = resolver.recv_from(&mut question) {
            say_no(&resolver, &mut question[..len], asker);
        }
    });
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!((canceled.get(), not_there.get()), (198, 2));
}

/// Answers that there is no such name.
fn say_no(resolver: &UdpSocket, question: &mut [u8], asker: SocketAddr) {
    question[2..4].copy_from_slice(&[0x81, 0x83]);
    resolver.send_to(question, asker).unwrap();
}

/// This program's own file.
fn open(lp: &Loop) -> File {
    let file = Rc::new(Cell::new(None));
    let opened = file.clone();
    File::open(lp, std::env::current_exe().unwrap(), move |_, file| opened.set(Some(file))).unwrap();
    lp.run(Mode::Default).unwrap();
    file.take().unwrap().unwrap()
}

#[derive(Default)]
struct Reads {
    is_over: Cell<bool>,
    under_way: Cell<usize>,
    done: Cell<usize>,
}

/// Reads with 16 requests at a time, and counts.
fn reads_in_a_while(lp: &Loop, file: &File) -> usize {
    let reads = Rc::new(Reads::default());
    lp.update_time();
    let (timer, over) = (Timer::new(lp).unwrap(), reads.clone());
    timer.start(ms(50), move |_| over.is_over.set(true)).unwrap();
    for _ in 0..16 {
        read(file, &reads, Vec::with_capacity(512));
    }
    while reads.under_way.get() > 0 {
        lp.run(Mode::Once).unwrap();
    }
    timer.close().unwrap();
    reads.done.get()
}

fn read(file: &File, reads: &Rc<Reads>, room: Vec<u8>) {
    let again = reads.clone();
    reads.under_way.set(reads.under_way.get() + 1);
    let done = move |file: &File, bytes: oxuv::Result<Vec<u8>>| {
        again.under_way.set(again.under_way.get() - 1);
        again.done.set(again.done.get() + 1);
        if !again.is_over.get() {
            read(file, &again, bytes.unwrap());
        }
    };
    file.read_at(room, 0, done).unwrap();
}

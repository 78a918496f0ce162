//! Child processes.

mod common;

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::rc::Rc;

use common::ms;
use oxuv::{Command, Errno, Handle, Loop, Mode, Pipe, Process, Result, Stdio, Tcp, Timer};

/// What a callback was told.
type Told = Rc<RefCell<Vec<Result<ExitStatus>>>>;

/// A list, and a callback that adds to it.
fn told() -> (Told, impl FnOnce(&Process, Result<ExitStatus>)) {
    let told = Told::default();
    let told_to = Rc::clone(&told);
    (told, move |_: &Process, status| told_to.borrow_mut().push(status))
}

/// What the command prints.
fn output(command: &mut Command) -> String {
    let lp = Loop::new().unwrap();
    let pipe = Pipe::new(&lp).unwrap();
    let text = Rc::new(RefCell::new(Vec::new()));
    command.stdout(Stdio::pipe(&pipe)).spawn(&lp, |_, status| assert!(status.unwrap().success())).unwrap();
    let read = Rc::clone(&text);
    pipe.read_start(move |_, bytes| match bytes {
        Ok(bytes) => read.borrow_mut().extend_from_slice(bytes),
        Err(error) => assert_eq!(error, Errno::EOF),
    })
    .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    String::from_utf8(text.take()).unwrap()
}

#[test]
fn a_child_runs_and_its_end_is_told() {
    let lp = Loop::new().unwrap();
    let (ends, on_exit) = told();
    let process = Command::new("sh").args(["-c", "exit 3"]).spawn(&lp, on_exit).unwrap();
    assert!(process.is_active() && process.has_ref() && process.id().unwrap() > 0);
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(ends.borrow()[..], [Ok(ExitStatus::from_raw(3 << 8))]);
    assert!(!process.is_active());
    assert_eq!(process.kill(15), Err(Errno::ESRCH));
    process.close().unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!((process.id(), process.kill(0)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    assert_eq!(lp.check_closable(), Ok(()));
}

#[test]
fn a_signal_ends_it() {
    let lp = Loop::new().unwrap();
    let (ends, on_exit) = told();
    let process = Command::new("sleep").arg("100").spawn(&lp, on_exit).unwrap();
    assert_eq!((process.kill(0), process.kill(1000)), (Ok(()), Err(Errno::EINVAL)));
    process.kill(15).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(ends.borrow()[0].unwrap().signal(), Some(15));
}

#[test]
fn what_goes_in_comes_out_changed() {
    let lp = Loop::new().unwrap();
    let (input, output) = (Pipe::new(&lp).unwrap(), Pipe::new(&lp).unwrap());
    let heard = Rc::new(RefCell::new(Vec::new()));
    let at_exit = Rc::clone(&heard);
    Command::new("tr")
        .args(["a-z", "A-Z"])
        .stdin(Stdio::pipe(&input))
        .stdout(Stdio::pipe(&output))
        .spawn(&lp, move |process, _| {
            at_exit.borrow_mut().push("exit".to_owned());
            process.close().unwrap();
        })
        .unwrap();
    assert!(input.is_writable() && !input.is_readable() && output.is_readable() && !output.is_writable());
    let big = "there and back ".repeat(20_000);
    input
        .write(big.clone(), |input, written| {
            written.unwrap();
            input.close().unwrap();
        })
        .unwrap();
    let read = Rc::new(RefCell::new(String::new()));
    let (reading, at_end) = (Rc::clone(&read), Rc::clone(&heard));
    output
        .read_start(move |output, bytes| match bytes {
            Ok(bytes) => reading.borrow_mut().push_str(std::str::from_utf8(bytes).unwrap()),
            Err(_) => {
                at_end.borrow_mut().push("end".to_owned());
                output.close().unwrap();
            }
        })
        .unwrap();
    lp.run(Mode::Default).unwrap();
    assert!(*read.borrow() == big.to_uppercase());
    assert_eq!(heard.borrow().len(), 2);
}

#[test]
fn the_environment_is_ours_with_changes() {
    let print = || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $ONE $TWO $CARGO_PKG_NAME"]);
        command
    };
    assert_eq!(output(&mut print()), "oxuv\n");
    assert_eq!(output(print().env("ONE", "1").env("TWO", "2").env_remove("CARGO_PKG_NAME")), "1 2\n");
    assert_eq!(output(print().env("ONE", "1").env_clear().env("TWO", "2")), "2\n");
    // Programs are looked for where the child would.
    let lp = Loop::new().unwrap();
    let nowhere = Command::new("true").env("PATH", "/nowhere").spawn(&lp, |_, _| {});
    assert_eq!(nowhere, Err(Errno::ENOENT));
    assert_eq!(output(Command::new("pwd").current_dir("/usr")), "/usr\n");
}

#[test]
fn descriptors_are_inherited_as_was_said() {
    let lp = Loop::new().unwrap();
    let listener = Tcp::new(&lp).unwrap();
    listener.bind(([127, 0, 0, 1], 0).into()).unwrap();
    listener.listen(1, |_, _| {}).unwrap();
    listener.unref().unwrap();
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let shown = Pipe::new(&lp).unwrap();
    let text = Rc::new(RefCell::new(String::new()));
    Command::new("sh")
        .args(["-c", "read line; echo $line; for fd in 0 1 2 3 4 5; do readlink /proc/$$/fd/$fd; done"])
        .stdin(file)
        .stdout(Stdio::pipe(&shown))
        .stderr(Stdio::null())
        .descriptor(4, Stdio::handle(&listener))
        .spawn(&lp, |_, _| {})
        .unwrap();
    let reading = Rc::clone(&text);
    shown
        .read_start(move |_, bytes| reading.borrow_mut().push_str(std::str::from_utf8(bytes.unwrap_or(b"")).unwrap()))
        .unwrap();
    lp.run(Mode::Default).unwrap();
    let text = text.borrow();
    let lines: Vec<&str> = text.lines().collect();
    let [line, input, out, err, four] = lines[..] else { panic!("{lines:?}") };
    assert_eq!((line, input), ("[package]", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
    assert!(out.starts_with("socket:") && err == "/dev/null" && four.starts_with("socket:") && four != out);
}

#[test]
fn a_child_that_cannot_be_made_changes_nothing() {
    let lp = Loop::new().unwrap();
    let pipe = Pipe::new(&lp).unwrap();
    let never = |_: &Process, _: Result<ExitStatus>| panic!("there is no child");
    let mut command = Command::new("/no/such/program");
    assert_eq!(command.stdin(Stdio::pipe(&pipe)).spawn(&lp, never), Err(Errno::ENOENT));
    assert_eq!(Command::new("true").current_dir("/no/such").spawn(&lp, never), Err(Errno::ENOENT));
    assert_eq!(Command::new("tr\0ue").spawn(&lp, never), Err(Errno::EINVAL));
    assert_eq!(Command::new("true").stdin(Stdio::handle(&pipe)).spawn(&lp, never), Err(Errno::EINVAL));
    let other = Loop::new().unwrap();
    assert_eq!(Command::new("true").stdin(Stdio::pipe(&pipe)).spawn(&other, never), Err(Errno::EINVAL));
    assert_eq!(lp.handles(), [Handle::clone(&pipe)]);
    // The pipe is as it was.
    Command::new("cat").stdin(Stdio::pipe(&pipe)).spawn(&lp, |_, status| assert!(status.unwrap().success())).unwrap();
    assert_eq!(Command::new("cat").stdin(Stdio::pipe(&pipe)).spawn(&lp, never), Err(Errno::EBUSY));
    pipe.close().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    if is_not_root() {
        assert_eq!(Command::new("true").uid(0).spawn(&lp, never), Err(Errno::EPERM));
    }
}

fn is_not_root() -> bool {
    output(Command::new("id").arg("-u")) != "0\n"
}

#[test]
fn the_callback_may_make_the_next_child() {
    fn again(lp: &oxuv::LoopRef, left: u32, count: Rc<Cell<u32>>) {
        Command::new("true")
            .spawn(lp, move |process, status| {
                assert!(status.unwrap().success());
                count.set(count.get() + 1);
                process.close().unwrap();
                if left > 1 {
                    again(process.owner(), left - 1, count);
                }
            })
            .unwrap();
    }
    let lp = Loop::new().unwrap();
    let count = Rc::new(Cell::new(0));
    again(&lp, 5, Rc::clone(&count));
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!((count.get(), lp.check_closable()), (5, Ok(())));
}

#[test]
fn a_closed_handle_hears_nothing_and_its_child_is_no_zombie() {
    let lp = Loop::new().unwrap();
    let (ends, on_exit) = told();
    let process = Command::new("true").spawn(&lp, on_exit).unwrap();
    let id = process.id().unwrap();
    process.close().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    // Until the next child of the loop is closed, it may be one.
    let timer = Timer::new(&lp).unwrap();
    let gone = move || !std::path::Path::new(&format!("/proc/{id}")).exists();
    timer
        .start_repeating(ms(0), ms(5), move |timer| {
            let next = Command::new("true").spawn(timer.owner(), |_, _| {}).unwrap();
            next.close().unwrap();
            if gone() {
                timer.close().unwrap();
            }
        })
        .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert!(ends.borrow().is_empty());
}

#[test]
fn an_unreferenced_child_does_not_keep_the_loop() {
    let lp = Loop::new().unwrap();
    let process = Command::new("sleep").arg("100").detached(true).spawn(&lp, |_, _| {}).unwrap();
    process.unref().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    process.kill(9).unwrap();
    process.r#ref().unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    let stderr = std::io::stderr();
    let copy = stderr.as_fd().try_clone_to_owned().unwrap();
    assert_eq!(format!("{:?}", Command::new("x").stdout(Stdio::null()).stderr(copy)).matches("OwnedFd").count(), 1);
}

#[test]
fn a_child_may_be_told_another_name_and_have_what_is_known_by_number() {
    let file = File::open("/proc/self/comm").unwrap();
    let mut command = Command::new("sh");
    command.arg0("by-another-name").args(["-c", "echo $0; cat <&5"]);
    command.descriptor(5, Stdio::number(std::os::fd::AsRawFd::as_raw_fd(&file)));
    let text = output(&mut command);
    assert!(text.starts_with("by-another-name\n") && text.lines().count() == 2, "{text}");
    let lp = Loop::new().unwrap();
    let refused = Command::new("true").stdin(Stdio::number(1 << 20)).spawn(&lp, |_, _| {});
    assert_eq!(refused.unwrap_err(), Errno::EBADF);
}

#[test]
fn a_standard_stream_may_be_read_and_written_by_both() {
    let lp = Loop::new().unwrap();
    let pipe = Pipe::new(&lp).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "read line; echo back: $line >&0"]).stdin(Stdio::duplex(&pipe));
    command.spawn(&lp, |_, status| assert!(status.unwrap().success())).unwrap();
    pipe.write("there\n", |_, written| written.unwrap()).unwrap();
    let text = Rc::new(RefCell::new(Vec::new()));
    let read = Rc::clone(&text);
    pipe.read_start(move |_, bytes| match bytes {
        Ok(bytes) => read.borrow_mut().extend_from_slice(bytes),
        Err(error) => assert_eq!(error, Errno::EOF),
    })
    .unwrap();
    assert_eq!(lp.run(Mode::Default), Ok(false));
    assert_eq!(text.take(), b"back: there\n");
}

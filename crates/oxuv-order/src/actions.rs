//! The verbs of the scripts.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::Duration;

use oxuv::Signal;

use crate::driver::{Callback, Driver, Kind, Mode, Operation, Outcome};
use crate::outside::{ANY_PORT, ANY_SIXTH, ELSEWHERE, EVERYBODY, SIXTH, UNREACHABLE, pair};
use crate::runner::Runner;

impl<D: Driver> Runner<D> {
    /// Does what these words say, and returns what came of it: `ok`, an error's name, a number, `yes` or `no`.
    pub(crate) fn act(&self, words: &[&str]) -> String {
        let driver = &self.driver;
        match *words {
            ["run", mode] => driver.run(mode_of(mode)).map(usize::from).text(),
            ["stop_loop"] => ok(|| driver.stop_loop()),
            ["update_time"] => ok(|| driver.update_time()),
            ["sleep", milliseconds] => ok(|| sleep(Duration::from_millis(parse(milliseconds)))),
            [count, "times", ref rest @ ..] => (0..parse(count)).map(|_| self.act(rest)).last().unwrap_or_default(),
            ["say", word] => ok(|| self.say(word.to_owned())),
            ["loop", number] => ok(|| driver.use_loop(parse(number) as usize)),
            ["loop_close"] => driver.loop_close().text(),
            ["alive?"] => driver.is_alive().text(),
            ["walk?"] => driver.walk().join(" "),
            ["timeout?"] => match driver.backend_timeout() {
                None => "forever".to_owned(),
                Some(0) => "0".to_owned(),
                Some(_) => "some".to_owned(),
            },
            [verb, ref rest @ ..] => match Kind::named(verb) {
                Some(kind) => all(rest, |name| self.init(kind, verb, name)),
                None => self.act_on(verb, rest),
            },
            [] => String::new(),
        }
    }

    /// Verbs with a handle.
    fn act_on(&self, verb: &str, words: &[&str]) -> String {
        let driver = &self.driver;
        match (verb, words) {
            ("poll", names) => all(names, |name| {
                self.set_kind(name, verb);
                self.outside.polled(name, |descriptor| driver.poll_init(name, descriptor))
            }),
            ("stream", names) => all(names, |name| {
                self.init(Kind::Tcp, verb, name).and_then(|()| driver.open(name, self.outside.socket(name)))
            }),
            ("mailbox", names) => all(names, |name| {
                self.init(Kind::Udp, verb, name).and_then(|()| driver.open(name, self.outside.mailbox(name)))
            }),
            ("tty", names) => all(names, |name| {
                self.set_kind(name, verb);
                driver.tty_init(name, self.outside.terminal(name))
            }),
            ("close", names) => all(names, |name| driver.close(name)),
            ("stop", names) => all(names, |name| driver.stop(name)),
            ("ref", names) => all(names, |name| driver.set_ref(name, true)),
            ("unref", names) => all(names, |name| driver.set_ref(name, false)),
            ("send", names) => all(names, |name| driver.async_send(name)),
            ("arm", names) => all(names, |name| self.arm(name)),
            ("active?", [name]) => driver.is_active(name).text(),
            ("closing?", [name]) => driver.is_closing(name).text(),
            ("ref?", [name]) => driver.has_ref(name).text(),
            ("start", [name, file, interval]) if self.kind(&callback(name).name) == "fs_poll" => {
                let path = self.outside.directory().join(file);
                driver.fs_poll_start(&callback(name), &path, parse(interval) as u32).text()
            }
            ("start", [name, timeout, repeat]) => {
                driver.timer_start(&callback(name), parse(timeout), parse(repeat)).text()
            }
            ("start", [name, how]) if self.kind(&callback(name).name) == "poll" => {
                driver.poll_start(&callback(name), how).text()
            }
            ("start" | "start_once", [name, signal]) if self.kind(&callback(name).name) == "signal" => {
                driver.signal_start(&callback(name), self.signal(signal), verb == "start_once").text()
            }
            ("raise", [signal]) => ok(|| Signal::raise(self.signal(signal)).unwrap()),
            ("start", [name, "missing"]) => {
                driver.fs_event_start(&callback(name), &self.outside.directory().join("missing")).text()
            }
            ("start", [name, "files"]) => driver.fs_event_start(&callback(name), self.outside.directory()).text(),
            ("make", names) => ok(|| names.iter().for_each(|name| self.outside.make_file(name))),
            ("start", [name, timeout]) => driver.timer_start(&callback(name), parse(timeout), 0).text(),
            ("start", [name]) => driver.watcher_start(&callback(name)).text(),
            ("again", [name]) => driver.timer_again(name).text(),
            ("set_repeat", [name, repeat]) => driver.timer_set_repeat(name, parse(repeat)).text(),
            ("repeat?", [name]) => driver.timer_repeat(name).text(),
            ("due_in?", [name]) => driver.timer_due_in(name).text(),
            ("hear_alloc", [name]) => ok(|| driver.hear_alloc(name)),
            ("work" | "hold", [name]) => {
                self.set_kind(name, "job");
                self.outside.job(verb == "hold", |work| driver.work(name, work)).text()
            }
            ("release", []) => ok(|| self.outside.release()),
            ("cancel", [name]) => {
                let cancelled = driver.cancel(name);
                if cancelled.is_ok() && self.kind(name) == "job" {
                    self.outside.cancelled();
                }
                cancelled.text()
            }
            ("fs", [name, words @ ..]) => {
                self.set_kind(name, verb);
                self.operate(name, words)
            }
            ("look_up", [name, host]) => {
                self.set_kind(name, verb);
                driver.look_up(name, host).text()
            }
            ("spawn", [name]) => {
                self.set_kind(name, verb);
                self.outside.child(name, |words, input| driver.spawn(name, words, input)).text()
            }
            ("spawn", [name, how, pipes @ ..]) => {
                self.set_kind(name, verb);
                self.spawn_of(name, how, pipes)
            }
            ("poll_on", [name, what]) => {
                self.set_kind(name, "poll");
                self.descriptor(what).and_then(|number| driver.poll_init_of(name, number)).text()
            }
            ("open_on", [name, what]) => self.descriptor(what).and_then(|number| driver.open_of(name, number)).text(),
            ("call", [name, call, words @ ..]) => {
                self.set_kind(name, "fs");
                self.file_call(Some(name), call, words)
            }
            ("call_now", [call, words @ ..]) => self.file_call(None, call, words),
            ("name_of", [name, host]) => {
                self.set_kind(name, "look_up");
                let host = host.parse().unwrap_or_else(|_| panic!("no address: {host}"));
                driver.name_of(name, SocketAddr::new(host, 80), true).text()
            }
            ("random", [name, count, flags]) => {
                self.set_kind(name, "look_up");
                driver.random(name, parse(count) as usize, parse(flags) as u32).text()
            }
            ("ask", [name, what]) => driver.ask(name, what).text(),
            ("end", [name, code]) => ok(|| self.outside.end_child(name, code)),
            ("kill", [name, signal]) => {
                let sent = driver.kill(name, parse(signal) as i32);
                if sent.is_ok() && *signal != "0" {
                    self.outside.wait_for_child(name);
                }
                sent.text()
            }
            ("receive" | "send_to" | "try_send" | "fill_network", _) => self.act_on_udp(verb, words),
            _ => self.act_on_stream(verb, words),
        }
    }

    /// Verbs with a stream, and with what is outside of the loop.
    fn act_on_stream(&self, verb: &str, words: &[&str]) -> String {
        let (driver, outside) = (&self.driver, &self.outside);
        match (verb, words) {
            ("open", [name]) => driver.open(name, outside.socket(name)).text(),
            ("pair", [one, other]) => {
                let (first, second) = pair(self.is_pipe(one));
                driver.open(one, first).and_then(|()| driver.open(other, second)).text()
            }
            ("bind", [name]) if self.is_pipe(name) => driver.pipe_bind(name, &outside.place(name)).text(),
            ("bind", [name]) => driver.bind(name, ANY_PORT).text(),
            ("bind", [name, "elsewhere"]) => driver.bind(name, ELSEWHERE).text(),
            ("bind", [name, "sixth"]) => driver.bind(name, ANY_SIXTH).text(),
            ("bind", [name, other]) => driver.address(other).and_then(|address| driver.bind(name, address)).text(),
            ("listen", [name]) => driver.listen(&callback(name)).text(),
            ("accept", [pipe, new]) if self.kind(pipe) == "ipc" => {
                self.set_kind(new, "pipe");
                let kind = driver.take_handle(pipe, new);
                match kind {
                    Ok(Kind::Tcp) => self.set_kind(new, "tcp"),
                    Ok(Kind::Udp) => self.set_kind(new, "udp"),
                    _ => {}
                }
                kind.map(|_| ()).text()
            }
            ("accept", [server, client]) => {
                self.set_kind(client, &self.kind(server));
                driver.accept(server, client).text()
            }
            ("connect", [name, server]) if self.is_pipe(name) => {
                driver.pipe_connect(name, &outside.place(server)).text()
            }
            ("connect", [name, "sixth"]) => driver.connect(name, SIXTH).text(),
            ("connect", [name, "unreachable"]) => driver.connect(name, UNREACHABLE).text(),
            ("connect", [name, "nowhere"]) => driver.connect(name, self.nowhere(name)).text(),
            ("connect", [name, server]) => {
                driver.address(server).and_then(|address| driver.connect(name, address)).text()
            }
            ("read", [name]) => driver.read_start(&callback(name)).text(),
            ("write", [name, count]) => {
                driver.write(name, self.count(&format!("writes of {name}")), vec![b'x'; parse(count) as usize]).text()
            }
            ("write", [name, count, handle]) => {
                let number = self.count(&format!("writes of {name}"));
                driver.write_handle(name, number, vec![b'x'; parse(count) as usize], handle).text()
            }
            ("try_write", [name, count, handle]) => {
                driver.try_write_handle(name, &vec![b'x'; parse(count) as usize], handle).text()
            }
            ("write_parts", [name, count]) => {
                let number = self.count(&format!("writes of {name}"));
                driver.write_parts(name, number, vec![b'x'; parse(count) as usize]).text()
            }
            ("handles?", [name]) => driver.pending_handles(name).to_string(),
            ("try_write", [name, count]) => driver.try_write(name, &vec![b'x'; parse(count) as usize]).text(),
            ("fill", [name]) => ok(|| while driver.try_write(name, &[b'x'; 1 << 16]).is_ok() {}),
            ("shutdown", [name]) => driver.shutdown(name).text(),
            ("close_reset", [name]) => driver.close_reset(name).text(),
            ("getsockname", [name]) => driver.address(name).map(|_| ()).text(),
            ("queued?", [name]) => driver.write_queue_size(name).to_string(),
            ("readable?", [name]) => driver.is_readable(name).text(),
            ("writable?", [name]) => driver.is_writable(name).text(),
            ("feed", [name, count]) => ok(|| outside.feed(name, parse(count) as usize)),
            ("take", [name]) => outside.take(name).to_string(),
            ("hang_up", [name]) => ok(|| outside.hang_up(name)),
            ("drain", [name]) => outside.drain(name).to_string(),
            ("spill", [name, count]) => ok(|| outside.spill(name, parse(count) as usize)),
            _ => format!("no action: {verb} {}", words.join(" ")),
        }
    }

    fn is_pipe(&self, name: &str) -> bool {
        matches!(self.kind(name).as_str(), "pipe" | "ipc")
    }

    /// An operation on a file, by the name of a request.
    fn operate(&self, name: &str, words: &[&str]) -> String {
        let (outside, path) = (&self.outside, |file: &&str| self.outside.place(file));
        let paths: Vec<_> = words.iter().skip(1).map(path).collect();
        let is_open = matches!(words, ["read" | "write", ..]);
        let file = words.get(1).filter(|_| is_open).and_then(|file| outside.file(file));
        let operation = match (words, &paths[..], &file) {
            (["open", _], [path], _) => Operation::Open(path),
            (["make", _], [path], _) => Operation::Make(path),
            (["stat", _], [path], _) => Operation::Stat(path),
            (["read", _, count], _, Some(file)) => Operation::Read(file.as_fd(), parse(count) as usize),
            (["write", _, count], _, Some(file)) => Operation::Write(file.as_fd(), parse(count) as usize),
            (["unlink", _], [path], _) => Operation::Unlink(path),
            (["mkdir", _], [path], _) => Operation::MakeDirectory(path),
            (["rmdir", _], [path], _) => Operation::RemoveDirectory(path),
            (["rename", ..], [path, new], _) => Operation::Rename(path, new),
            (["scandir", _], [path], _) => Operation::Scan(path),
            _ => return format!("no action: fs {name} {}", words.join(" ")),
        };
        self.driver.operate(name, &operation).text()
    }

    /// Verbs with a UDP handle.
    fn act_on_udp(&self, verb: &str, words: &[&str]) -> String {
        let driver = &self.driver;
        let address = |name: &str, to: &str| match to {
            "peer" => Ok(None),
            "nowhere" => Ok(Some(self.nowhere(name))),
            "unreachable" => Ok(Some(UNREACHABLE)),
            "sixth" => Ok(Some(SIXTH)),
            "everybody" => Ok(Some(EVERYBODY)),
            _ => driver.address(to).map(Some),
        };
        let bytes = |count: &str| vec![b'x'; parse(count) as usize];
        match *words {
            [name] if verb == "receive" => driver.receive_start(&callback(name)).text(),
            [name] if verb == "fill_network" => ok(|| while driver.try_send_datagram(name, b"x", None).is_ok() {}),
            [name, to, count] if verb == "send_to" => address(name, to)
                .and_then(|to| driver.send_datagram(name, self.count(&format!("sends of {name}")), bytes(count), to))
                .text(),
            [name, to, count] if verb == "try_send" => {
                address(name, to).and_then(|to| driver.try_send_datagram(name, &bytes(count), to)).text()
            }
            _ => format!("no action: {verb} {}", words.join(" ")),
        }
    }

    /// An address that refuses what a handle of this kind sends there.
    fn nowhere(&self, name: &str) -> SocketAddr {
        if self.kind(name) == "tcp" { self.outside.refusing() } else { self.outside.refusing_datagrams() }
    }

    /// The number of a signal. All scripts share the process and its signals, so one that has any has them for itself.
    fn signal(&self, word: &str) -> i32 {
        self.hold_signals();
        match word {
            "one" => Signal::USR1,
            "two" => Signal::USR2,
            _ => parse(word) as i32,
        }
    }

    fn init(&self, kind: Kind, verb: &str, name: &str) -> Outcome {
        self.set_kind(name, verb);
        self.driver.init(kind, name)
    }

    /// Makes a handle due in this turn or the next, whatever that takes for its kind.
    fn arm(&self, name: &str) -> Outcome {
        let (driver, by) = (&self.driver, callback(name));
        match self.kind(&by.name).as_str() {
            "timer" => driver.timer_start(&by, 0, 0),
            "async" => driver.async_send(&by.name),
            "poll" => {
                self.outside.feed(&by.name, 1);
                driver.poll_start(&by, "r")
            }
            "stream" => {
                self.outside.feed(&by.name, 1);
                driver.read_start(&by)
            }
            "mailbox" => {
                self.outside.feed(&by.name, 1);
                driver.receive_start(&by)
            }
            _ => driver.watcher_start(&by),
        }
    }
}

impl Kind {
    /// The kind that a script names so.
    pub(crate) fn named(word: &str) -> Option<Kind> {
        Some(match word {
            "timer" => Kind::Timer,
            "idle" => Kind::Idle,
            "prepare" => Kind::Prepare,
            "check" => Kind::Check,
            "async" => Kind::Async,
            "tcp" => Kind::Tcp,
            "udp" => Kind::Udp,
            "udp_several" => Kind::UdpSeveral,
            "pipe" => Kind::Pipe,
            "ipc" => Kind::Ipc,
            "signal" => Kind::Signal,
            "fs_event" => Kind::FsEvent,
            "fs_poll" => Kind::FsPoll,
            _ => return None,
        })
    }
}

fn mode_of(word: &str) -> Mode {
    match word {
        "default" => Mode::Default,
        "once" => Mode::Once,
        "nowait" => Mode::NoWait,
        _ => panic!("no mode of running: {word}"),
    }
}

/// `a` or `a'`.
fn callback(word: &str) -> Callback {
    let name = word.trim_end_matches('\'');
    Callback { name: name.to_owned(), other: name != word }
}

fn parse(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| panic!("no number: {word}"))
}

/// Does the same to several handles. The first error counts.
fn all(names: &[&str], act: impl FnMut(&str) -> Outcome) -> String {
    names.iter().copied().try_for_each(act).text()
}

/// Does something that cannot fail.
fn ok(act: impl FnOnce()) -> String {
    act();
    "ok".to_owned()
}

/// What came of an action, as scripts say it.
trait Text {
    fn text(self) -> String;
}

impl Text for () {
    fn text(self) -> String {
        ok(|| ())
    }
}

impl Text for bool {
    fn text(self) -> String {
        if self { "yes" } else { "no" }.to_owned()
    }
}

impl Text for usize {
    fn text(self) -> String {
        self.to_string()
    }
}

impl Text for u64 {
    fn text(self) -> String {
        self.to_string()
    }
}

impl<T: Text> Text for Outcome<T> {
    fn text(self) -> String {
        self.map_or_else(|error| error, T::text)
    }
}

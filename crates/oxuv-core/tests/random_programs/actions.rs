//! The actions on handles: the core's answer is compared with the model's.

use std::fmt::Debug;

use oxuv_core::{Errno, Kind};
use oxuv_os::tty::TtyMode;

use crate::Check;
use crate::program::{Action, Place};
use crate::run::Machine;

pub(crate) fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Check {
    ensure!(got == expected, "{what} is {got:?} where {expected:?} was to be expected");
    Ok(())
}

pub(crate) fn is_stream(kind: Kind) -> bool {
    matches!(kind, Kind::Tcp | Kind::Pipe)
}

/// At the descriptor limit.
pub(crate) fn is_limit(error: Errno) -> bool {
    matches!(error, Errno::EMFILE | Errno::ENFILE)
}

impl Machine<'_> {
    pub(crate) fn act_on_handle(&mut self, action: Action) -> Check {
        let time = self.core.time();
        let keys: Vec<_> = self.model.handles.iter().map(|handle| handle.key).collect();
        let (core, model) = (&mut self.core, &mut self.model);
        match action {
            Action::Init(place) => self.init(place),
            Action::Spawn(place, other, bits) => self.spawn_with(place, other, bits),
            Action::StartTimer(place, timeout, repeat) => {
                let expected = model.start_timer(place, time, timeout, repeat);
                same("timer_start", core.timer_start(keys[place], timeout, repeat), expected)
            }
            Action::Again(place) => same("again", core.timer_again(keys[place]), model.again(place, time)),
            Action::SetRepeat(place, repeat) => {
                same("set_repeat", core.timer_set_repeat(keys[place], repeat), model.set_repeat(place, repeat))
            }
            Action::Start(place) => match model.handles[place].kind {
                Kind::Udp => self.start_receiving(place),
                Kind::Signal | Kind::Process | Kind::FsEvent | Kind::FsPoll => Ok(()),
                Kind::Tcp | Kind::Pipe | Kind::Tty => {
                    same("read_start", core.read_start(keys[place]), model.start_reading(place))
                }
                _ => same("start", core.watcher_start(keys[place]), model.start_watcher(place)),
            },
            Action::Stop(place) => match model.handles[place].kind {
                Kind::Timer => same("timer_stop", core.timer_stop(keys[place]), model.stop_timer(place)),
                Kind::Tcp | Kind::Pipe | Kind::Tty => {
                    same("read_stop", core.read_stop(keys[place]), model.stop_reading(place))
                }
                Kind::Poll => same("poll_stop", core.poll_stop(keys[place]), model.stop_poll(place)),
                Kind::Udp => same("receive_stop", core.udp_receive_stop(keys[place]), model.stop_receiving(place)),
                Kind::Signal => self.stop_signal(place),
                Kind::FsEvent | Kind::FsPoll => self.stop_watching(place),
                Kind::Process => self.kill(place),
                Kind::Async => Ok(()),
                _ => same("stop", core.watcher_stop(keys[place]), model.stop_watcher(place)),
            },
            Action::Close(place) => {
                let was_open = model.open(place).is_ok();
                same("close", core.close(keys[place]), model.close(place))?;
                if was_open {
                    self.forget(place);
                }
                Ok(())
            }
            Action::Reference(place) => {
                same("reference", core.reference(keys[place]), model.set_referenced(place, true))
            }
            Action::Unreference(place) => {
                same("unreference", core.unreference(keys[place]), model.set_referenced(place, false))
            }
            Action::StartSignal(place, number, once) => self.start_signal(place, number, once),
            Action::Fork => self.fork(),
            Action::Await(place, interest) => self.await_ready(place, interest),
            Action::TryRead(place) => self.try_read(place),
            Action::SetMode(place) => {
                let expected = model.open(place);
                same("set_mode", core.tty_set_mode(keys[place], TtyMode::Raw), expected)?;
                same("window_size", core.tty_window_size(keys[place]).map(|size| size.columns), expected.map(|()| 80))
            }
            Action::Submit(place, lane) => self.submit(place, lane),
            Action::Cancel(nth) => self.cancel(nth),
            Action::Watch(place, path, is_recursive) => self.watch(place, path, is_recursive),
            Action::Look(place, path, interval) => self.look(place, path, interval),
            Action::Observe(on) => self.observe(on),
            Action::StartPoll(place, interest) => self.start_poll(place, interest),
            Action::Open(place) => self.open(place),
            Action::Pair(one, other) => self.pair(one, other),
            Action::Connect(place, target) => match model.handles[place].kind {
                Kind::Pipe => self.connect_pipe(place, target),
                Kind::Udp => self.connect_udp(place, target),
                _ => self.connect(place, target),
            },
            Action::CloseReset(place) => self.close_reset(place),
            Action::Bind(place, port) => match model.handles[place].kind {
                Kind::Udp => self.bind_udp(place, port),
                Kind::Pipe => self.bind_pipe(place, port),
                _ => self.bind(place, port),
            },
            Action::Listen(place) => match model.handles[place].kind {
                Kind::Pipe => self.listen_on_pipe(place),
                _ => self.listen(place),
            },
            Action::Accept(listener, client) => self.accept(listener, client),
            Action::Write(place, length) => match model.handles[place].kind {
                Kind::Udp => self.send(place, length),
                _ => self.write(place, length),
            },
            Action::TryWrite(place, length) => match model.handles[place].kind {
                Kind::Udp => self.try_send(place, length),
                _ => self.try_write(place, length),
            },
            Action::WriteHandle(place, length, handle) => self.write_handle(place, length, handle),
            Action::TryWriteHandle(place, length, handle) => self.try_write_handle(place, length, handle),
            Action::Shutdown(place) => {
                self.requests += 1;
                let user = user_of_request(self.requests, place);
                same("shutdown", core.shutdown(keys[place], user), model.shut_down(place, user))
            }
            Action::StopLoop => {
                core.stop();
                model.stop = true;
                Ok(())
            }
            Action::UpdateTime => {
                core.update_time();
                model.note_time(core.time())
            }
            Action::Walk => {
                let mut walk = core.walk_begin();
                let walked: Vec<u64> = std::iter::from_fn(|| core.walk_next(&mut walk)).map(|(_, user)| user).collect();
                let expected: Vec<u64> = model.order.iter().map(|&place| model.handles[place].user).collect();
                same("the walk", walked, expected)
            }
            Action::Work(time) => {
                self.sim.advance(time);
                self.worked += time;
                Ok(())
            }
            Action::Leave | Action::Run(_) | Action::Now(_) | Action::Later(..) => Ok(()),
        }
    }

    /// A handle on a terminal, before which somebody sits.
    fn init_terminal(&mut self, place: Place, user: u64) -> Check {
        let (fd, peer) = self.sim.terminal().map_err(|error| format!("a terminal: {error}"))?;
        let new = self.core.tty_init(user, fd, false).map_err(|refused| format!("tty_init: {:?}", refused.error))?;
        ensure!(!new.is_blocking, "a terminal that blocks");
        self.coverage.note("kinds", Kind::Tty.name());
        self.model.init(place, new.key);
        let stream = &mut self.model.handles[place].stream;
        stream.connect();
        stream.connection = Some(self.outside.borrow_mut().add(peer));
        Ok(())
    }

    fn init(&mut self, place: Place) -> Check {
        let kind = self.model.handles[place].kind;
        if self.model.known(place).is_ok() || kind == Kind::None {
            return Ok(());
        }
        let user = self.model.next_user(place);
        let key = match kind {
            Kind::Timer => self.core.timer_init(user),
            Kind::Idle => self.core.idle_init(user),
            Kind::Prepare => self.core.prepare_init(user),
            Kind::Check => self.core.check_init(user),
            Kind::Async => self.core.async_init(user),
            Kind::Tcp => self.core.tcp_init(user),
            Kind::Pipe => self.core.pipe_init(user, self.model.passes_handles(place)),
            Kind::Udp => self.core.udp_init(user, Self::receives_several(place)),
            Kind::Poll => self.init_poll(place, user),
            Kind::Signal => self.core.signal_init(user),
            Kind::Tty => return self.init_terminal(place, user),
            Kind::FsEvent => self.core.fs_event_init(user),
            Kind::FsPoll => self.core.fs_poll_init(user),
            Kind::Process => match self.spawn(user, &[]) {
                Ok(None) => return Ok(()),
                spawned => spawned.map(Option::unwrap),
            },
            Kind::None => return Ok(()),
        };
        let key = key.map_err(|error| format!("init: {error}"))?;
        self.coverage.note("kinds", kind.name());
        self.model.init(place, key);
        self.outside.borrow_mut().senders[place] = self.core.async_sender(key).ok();
        Ok(())
    }
}

pub(crate) fn user_of_request(number: u64, place: Place) -> u64 {
    1 << 63 | number << 8 | place as u64
}

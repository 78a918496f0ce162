//! An async handle sent to from a signal handler. (Here, since installing a handler is unsafe, and the Rust front's own
//! tests are safe.)

// Miri knows neither signals nor our system calls.
#![cfg(not(miri))]

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use oxuv::{Async, Loop, Mode, Sender, Timer};

static SENDER: OnceLock<Sender> = OnceLock::new();

extern "C" fn on_signal(_number: libc::c_int) {
    if let Some(sender) = SENDER.get() {
        // A closed handle is not heard any more.
        let _ = sender.send();
    }
}

#[test]
fn a_send_from_a_signal_handler_is_heard_and_keeps_errno() {
    let lp = Loop::new().unwrap();
    let heard = Rc::new(Cell::new(0));
    let count = Rc::clone(&heard);
    let wake_up = Async::new(&lp, move |wake_up| {
        count.set(count.get() + 1);
        if count.get() == 2 {
            wake_up.close().unwrap();
        }
    })
    .unwrap();
    SENDER.set(wake_up.sender().unwrap()).unwrap();
    // SAFETY: the handler does nothing but `send`, which a signal handler may.
    let before = unsafe { libc::signal(libc::SIGUSR1, on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    assert_ne!(before, libc::SIG_ERR);

    let raise = |_: &Timer| {
        // Some error, to be there still after the handler has run.
        assert!(std::fs::File::open("/nonexistent").is_err());
        // SAFETY: the signal has a handler.
        assert_eq!(unsafe { libc::raise(libc::SIGUSR1) }, 0);
        assert_eq!(io::Error::last_os_error().raw_os_error(), Some(libc::ENOENT));
    };
    let pause = Duration::from_millis(1);
    Timer::new(&lp)
        .unwrap()
        .start(pause, move |timer| {
            raise(timer);
            raise(timer)
        })
        .unwrap();
    // Two in a row are one; another one later is heard again.
    Timer::new(&lp).unwrap().start(50 * pause, raise).unwrap();
    lp.run(Mode::Default).unwrap();
    assert_eq!(heard.get(), 2);
}

//! Our loop in calloop's.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use calloop::generic::Generic;
use calloop::timer::{TimeoutAction, Timer};
use calloop::{EventLoop, Interest, Mode, PostAction};
use oxuv::{Guest, Loop, task, time};

#[test]
fn our_loop_is_a_guest_of_calloops() {
    let guest = Guest::new(Loop::new().unwrap()).unwrap();
    let ours = Rc::new(Cell::new(0));
    let counts = ours.clone();
    guest.spawn_local(async move {
        for _ in 0..5 {
            time::sleep(Duration::from_millis(2)).await;
            task::yield_now().await;
            counts.set(counts.get() + 1);
        }
    });
    guest.rearm().unwrap();

    let mut host: EventLoop<'_, u32> = EventLoop::try_new().unwrap();
    let signal = host.get_signal();
    let source = Generic::new(guest, Interest::READ, Mode::Level);
    host.handle()
        .insert_source(source, move |_, guest, _| {
            if !guest.turn()? {
                signal.stop();
            }
            Ok(PostAction::Continue)
        })
        .unwrap();
    let tick = Duration::from_millis(1);
    host.handle()
        .insert_source(Timer::from_duration(tick), move |_, _, ticks| {
            *ticks += 1;
            TimeoutAction::ToDuration(tick)
        })
        .unwrap();
    let mut theirs = 0;
    host.run(None, &mut theirs, |_| ()).unwrap();
    assert_eq!(ours.get(), 5);
    assert!(theirs > 0);
}

//! An event system made by hand: a queue, something that wakes the loop, and an event that ends it.
//!
//! Another thread puts 1 and 2 into the queue, and after a second 3 and the end. Everything that is queued before the
//! end is handled before the loop stops.
//!
//! `cargo run --example event_queue`

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use oxuv::{Async, Loop, Mode, Result, Sender};

enum Event {
    Number(u32),
    Stop,
}

/// The side that events are put in at; any thread may have one.
#[derive(Clone)]
struct Queue {
    events: Arc<Mutex<VecDeque<Event>>>,
    wake_up: Sender,
}

impl Queue {
    fn push(&self, event: Event) {
        self.events.lock().expect("no holder panics").push_back(event);
        // Several events may come with one wake-up: whoever is woken empties the queue.
        self.wake_up.send().expect("the loop runs until Stop");
    }
}

fn main() -> Result<()> {
    let lp = Loop::new()?;
    let events = Arc::new(Mutex::new(VecDeque::new()));

    let queued = Arc::clone(&events);
    let wake_up = Async::new(&lp, move |wake_up| {
        let batch = std::mem::take(&mut *queued.lock().expect("no holder panics"));
        for event in batch {
            match event {
                Event::Number(number) => println!("{number}"),
                Event::Stop => wake_up.close().expect("it is stopped once"),
            }
        }
    })?;

    let queue = Queue { events, wake_up: wake_up.sender()? };
    let producer = thread::spawn(move || {
        queue.push(Event::Number(1));
        queue.push(Event::Number(2));
        thread::sleep(Duration::from_secs(1));
        queue.push(Event::Number(3));
        queue.push(Event::Stop);
    });

    lp.run(Mode::Default)?;
    producer.join().expect("the producer does not panic");
    println!("end");
    Ok(())
}

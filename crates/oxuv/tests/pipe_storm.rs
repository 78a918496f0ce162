//! A server on a pipe outlives its clients. Alone in its file: it counts the descriptors of the process.

mod common;

use std::cell::Cell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use common::{Place, new_loop, open_descriptors, run, run_until};
use oxuv::Pipe;

#[test]
fn a_thousand_clients_that_die_in_the_middle_of_a_message_leave_nothing_behind() {
    const CLIENTS: usize = 1000;
    let (lp, place) = (new_loop(), Place::new("storm"));
    let path = place.path("socket");
    let server = Pipe::new(&lp).unwrap();
    server.bind(&path).unwrap();
    let ended = Rc::new(Cell::new(0));
    let count = ended.clone();
    server
        .listen(128, move |server, connection| {
            connection.unwrap();
            let (client, count) = (server.accept().unwrap(), count.clone());
            let mut got = 0;
            client
                .read_start(move |client, read| match read {
                    // Half a message: an answer to it meets nobody any more.
                    Ok(bytes) => {
                        got += bytes.len();
                        let _ = client.write(vec![0; 100_000], |_, _| {});
                    }
                    Err(_) => {
                        assert!(got <= 4);
                        count.set(count.get() + 1);
                        client.close().unwrap();
                    }
                })
                .unwrap();
        })
        .unwrap();
    let (handles, before) = (lp.handles().len(), open_descriptors("self"));
    let clients = std::thread::spawn({
        let path = path.clone();
        move || {
            for nth in 0..CLIENTS {
                let mut client = UnixStream::connect(&path).unwrap();
                client.write_all(b"half").unwrap();
                if nth % 2 == 0 {
                    // With the answer unread, closing is a reset.
                    let _ = client.read(&mut [0; 1]);
                }
            }
        }
    });
    run_until(&lp, || ended.get() == CLIENTS);
    clients.join().unwrap();
    run_until(&lp, || lp.handles().len() == handles);
    assert_eq!(open_descriptors("self"), before);
    // And it goes on serving.
    let mut last = UnixStream::connect(&path).unwrap();
    last.write_all(b"half").unwrap();
    last.shutdown(std::net::Shutdown::Write).unwrap();
    run_until(&lp, || ended.get() == CLIENTS + 1);
    server.close().unwrap();
    run(&lp);
}

//! What else is done with the handles of sockets that tasks use.

mod common;

use std::io::Write;

use common::new_loop;
use oxuv::net::{TcpListener, TcpStream, UdpSocket, UnixListener};
use oxuv::task::{spawn_local, yield_now};
use oxuv::{Errno, Mode, PipeName, Tcp, Udp};

const ANY: &str = "127.0.0.1:0";

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// How the future ends if it waits when `meanwhile` happens.
async fn waiting<T: 'static>(future: impl Future<Output = T> + 'static, meanwhile: impl FnOnce()) -> T {
    let task = spawn_local(future);
    yield_now().await;
    assert!(!task.is_finished());
    meanwhile();
    task.await.unwrap()
}

fn is_closed<T>(result: std::io::Result<T>) -> bool {
    result.is_err_and(|error| error.raw_os_error() == Some(Errno::EINVAL.raw()))
}

#[test]
fn who_waits_for_a_handle_hears_that_it_is_closed() {
    new_loop().block_on(async {
        let (stream, _other) = pair().await;
        let tcp = stream.as_handle().clone();
        let end = waiting(async move { stream.read(&mut [0; 8]).await }, || tcp.close().unwrap()).await;
        assert!(is_closed(end), "reading");

        let (stream, _other) = pair().await;
        let tcp = stream.as_handle().clone();
        let write = async move { stream.write_all(&vec![0; 1 << 24]).await };
        assert!(is_closed(waiting(write, || tcp.close().unwrap()).await), "writing");

        let listener = TcpListener::bind(ANY).await.unwrap();
        let tcp = listener.as_handle().clone();
        assert!(is_closed(waiting(async move { listener.accept().await }, || tcp.close().unwrap()).await), "accepting");

        let name = format!("oxuv-closed-while-waited-for-{}", std::process::id());
        let listener = UnixListener::bind(PipeName::Abstract(name.into())).unwrap();
        let pipe = listener.as_handle().clone();
        assert!(
            is_closed(waiting(async move { listener.accept().await }, || pipe.close().unwrap()).await),
            "accepting"
        );

        let socket = UdpSocket::bind(ANY).await.unwrap();
        let udp = socket.as_handle().clone();
        let end = waiting(async move { socket.recv(&mut [0; 8]).await }, || udp.close().unwrap()).await;
        assert!(is_closed(end), "receiving");
    });
}

#[test]
fn a_handle_that_tasks_have_is_given_no_closure_in_their_place() {
    new_loop().block_on(async {
        let (ours, theirs) = pair().await;
        assert_eq!(ours.as_handle().read_start(|_, _| unreachable!()), Err(Errno::EALREADY));
        theirs.write_all(b"read").await.unwrap();
        assert_eq!(ours.read(&mut [0; 8]).await.unwrap(), 4);

        let listener = TcpListener::bind(ANY).await.unwrap();
        assert_eq!(listener.as_handle().listen(1, |_, _| unreachable!()), Err(Errno::EALREADY));
        assert!(TcpListener::from_handle(listener.as_handle()).is_err());
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        listener.accept().await.unwrap();

        let socket = UdpSocket::bind(ANY).await.unwrap();
        assert_eq!(socket.as_handle().receive_start(|_, _| unreachable!()), Err(Errno::EALREADY));
        socket.send_to(b"come", socket.local_addr().unwrap()).await.unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 4);
        // Of one that is closed, that is said first.
        let (tcp, udp) = (ours.as_handle().clone(), socket.as_handle().clone());
        drop((ours, socket));
        assert_eq!(tcp.read_start(|_, _| unreachable!()), Err(Errno::EINVAL));
        assert_eq!(udp.receive_start(|_, _| unreachable!()), Err(Errno::EINVAL));
    });
}

#[test]
fn a_handle_whose_closure_hears_of_what_comes_is_taken_over_by_tasks() {
    let lp = new_loop();
    let listener = std::net::TcpListener::bind(ANY).unwrap();
    let tcp = Tcp::new(&lp).unwrap();
    tcp.connect(listener.local_addr().unwrap(), |tcp, _| tcp.read_start(|_, _| unreachable!()).unwrap()).unwrap();
    let (mut other, _) = listener.accept().unwrap();
    lp.run(Mode::Once).unwrap();
    assert!(tcp.is_active());
    let udp = Udp::new(&lp).unwrap();
    udp.bind(ANY.parse().unwrap()).unwrap();
    udp.receive_start(|_, _| unreachable!()).unwrap();
    lp.block_on(async {
        let (stream, socket) = (TcpStream::from_handle(tcp), UdpSocket::from_handle(udp));
        other.write_all(b"come").unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 4);
        socket.send_to(b"come", socket.local_addr().unwrap()).await.unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 4);
    });
}

//! HTTP by hyper.

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use oxuv::net::{TcpListener, TcpStream};
use oxuv::task::spawn_local;
use oxuv::{Loop, time};

#[test]
fn a_server_answers_a_client_many_times_by_one_connection() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // The state is neither Send nor behind a lock.
        let served = Rc::new(Cell::new(0));
        let counts = served.clone();
        spawn_local(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = service_fn(move |request: Request<Incoming>| {
                let counts = counts.clone();
                async move {
                    counts.set(counts.get() + 1);
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    Ok::<_, Infallible>(Response::new(Full::new(body)))
                }
            });
            hyper::server::conn::http1::Builder::new().serve_connection(stream, answer).await.unwrap();
        });
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        let connection = spawn_local(connection);
        for length in [0, 1, 1000, 1_000_000] {
            let sent = Bytes::from(vec![b'x'; length]);
            let request = Request::post("/").header("host", "here").body(Full::new(sent.clone())).unwrap();
            let answer = sender.send_request(request).await.unwrap();
            assert_eq!(answer.status(), 200);
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(body == sent);
        }
        drop(sender);
        connection.await.unwrap().unwrap();
        assert_eq!(served.get(), 4);
    });
}

#[test]
fn a_client_that_says_nothing_is_given_up_by_the_loops_clock() {
    let lp = Loop::builder().test_clock().build().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let begin = time::Instant::now();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let answer =
            service_fn(async |_: Request<Incoming>| Ok::<_, Infallible>(Response::new(Full::<Bytes>::default())));
        let mut server = hyper::server::conn::http1::Builder::new();
        server.timer(time::HyperTimer::new()).header_read_timeout(Duration::from_secs(3600));
        let error = server.serve_connection(stream, answer).await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        assert_eq!(begin.elapsed(), Duration::from_secs(3600));
    });
}

#[test]
fn a_timer_is_reset_and_stays_on_its_thread() {
    use hyper::rt::Timer;
    let lp = Loop::builder().test_clock().build().unwrap();
    lp.block_on(async {
        let timer = time::HyperTimer::new();
        let (begin, hour) = (timer.now(), Duration::from_secs(3600));
        let mut sleep = timer.sleep(hour);
        timer.reset(&mut sleep, begin + 2 * hour);
        sleep.as_mut().await;
        assert_eq!(timer.now() - begin, 2 * hour);
        timer.reset(&mut sleep, begin);
        sleep.await;
        assert_eq!(timer.now() - begin, 2 * hour);
        let elsewhere = timer.sleep(hour);
        let polled = std::thread::spawn(move || Loop::new().unwrap().block_on(elsewhere));
        assert!(polled.join().is_err());
    });
}

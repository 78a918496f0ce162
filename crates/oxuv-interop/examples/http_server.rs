//! An HTTP server by hyper, which numbers its requests: `http_server [ADDRESS]`. Ctrl+C ends it.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use oxuv::net::{TcpListener, TcpStream};
use oxuv::task::spawn_local;
use oxuv::time::HyperTimer;
use oxuv::{Loop, signal};

/// What all connections share: neither `Send` nor behind a lock, since they are all on one thread.
#[derive(Clone, Default)]
struct Counter(Rc<Cell<u64>>);

impl Counter {
    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        self.0.set(self.0.get() + 1);
        let text = format!("{} {} is request {}\n", request.method(), request.uri().path(), self.0.get());
        Response::new(Full::new(text.into()))
    }
}

async fn serve(stream: TcpStream, counter: Counter) {
    let service = service_fn(move |request| {
        let answer = counter.answer(&request);
        async { Ok::<_, Infallible>(answer) }
    });
    // Who says nothing for ten seconds is not waited for any longer.
    let mut server = http1::Builder::new();
    server.timer(HyperTimer::new()).header_read_timeout(Duration::from_secs(10));
    if let Err(error) = server.serve_connection(stream, service).await {
        eprintln!("{error}");
    }
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    Loop::new()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        println!("http://{}/; Ctrl+C ends it", listener.local_addr()?);
        spawn_local(async move {
            let counter = Counter::default();
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => drop(spawn_local(serve(stream, counter.clone()))),
                    Err(error) => eprintln!("{error}"),
                }
            }
        });
        signal::ctrl_c().await
    })
}

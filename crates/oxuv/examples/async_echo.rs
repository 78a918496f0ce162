//! An echo server by tasks, one for each connection: `async_echo [ADDRESS]`. Ctrl+C ends it.

use std::io;
use std::net::SocketAddr;

use oxuv::net::{BufReader, TcpListener, TcpStream};
use oxuv::task::spawn_local;
use oxuv::{Loop, signal};

async fn echo(stream: TcpStream) -> io::Result<u64> {
    // Its buffer is the loop's, and only lent while something is in it: a connection that waits has none.
    let mut reader = BufReader::new(&stream);
    let mut total = 0;
    loop {
        let bytes = reader.fill_buf().await?;
        let count = bytes.len();
        if count == 0 {
            return Ok(total);
        }
        // While the peer does not read, this waits, and so nothing more is read.
        stream.write_all(bytes).await?;
        reader.consume(count);
        total += count as u64;
    }
}

async fn serve(address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("echo server on {}; Ctrl+C ends it", listener.local_addr()?);
    spawn_local(async move {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    spawn_local(async move {
                        match echo(stream).await {
                            Ok(total) => println!("{peer} sent {total} bytes"),
                            Err(error) => println!("{peer}: {error}"),
                        }
                    });
                }
                Err(error) => println!("{error}"),
            }
        }
    });
    signal::ctrl_c().await?;
    println!("done");
    Ok(())
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).map_or(Ok(([127, 0, 0, 1], 0).into()), |text| text.parse());
    Loop::new()?.block_on(serve(address.map_err(io::Error::other)?))
}

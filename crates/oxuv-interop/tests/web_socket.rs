//! WebSockets by async-tungstenite, which was written for the futures-io traits and runs as it is.

use async_tungstenite::tungstenite::Message;
use async_tungstenite::{accept_async, client_async};
use futures::StreamExt;
use oxuv::Loop;
use oxuv::net::{TcpListener, TcpStream};
use oxuv::task::spawn_local;

#[test]
fn messages_go_there_and_back() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn_local(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = accept_async(stream).await.unwrap();
            let mut count = 0;
            while let Some(Ok(message)) = socket.next().await {
                if message.is_close() {
                    break;
                }
                count += 1;
                socket.send(message).await.unwrap();
            }
            count
        });
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut socket, _) = client_async("ws://localhost/", stream).await.unwrap();
        for nth in 0..100 {
            let sent = Message::text(format!("message {nth}"));
            socket.send(sent.clone()).await.unwrap();
            assert_eq!(socket.next().await.unwrap().unwrap(), sent);
        }
        socket.close(None).await.unwrap();
        assert_eq!(server.await.unwrap(), 100);
    });
}

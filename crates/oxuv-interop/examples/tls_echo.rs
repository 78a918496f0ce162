//! An echo server with TLS, by futures-rustls: `tls_echo CERTIFICATE [ADDRESS]`. It signs a certificate for `localhost` and writes it to
//! that file, for clients to trust: `openssl s_client -CAfile CERTIFICATE -connect ADDRESS`. Ctrl+C ends it.

use std::io;
use std::sync::Arc;

use futures::{AsyncReadExt, AsyncWriteExt};
use futures_rustls::TlsAcceptor;
use futures_rustls::rustls::ServerConfig;
use futures_rustls::rustls::crypto::ring::default_provider;
use futures_rustls::rustls::pki_types::PrivateKeyDer;
use oxuv::net::{TcpListener, TcpStream};
use oxuv::task::spawn_local;
use oxuv::{Loop, fs, signal};

/// What accepts connections, and the certificate that it shows, as text.
fn acceptor() -> io::Result<(TlsAcceptor, String)> {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(io::Error::other)?;
    let key = PrivateKeyDer::try_from(own.key_pair.serialize_der()).map_err(io::Error::other)?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key))
        .map_err(io::Error::other)?;
    Ok((TlsAcceptor::from(Arc::new(config)), own.cert.pem()))
}

async fn echo(acceptor: TlsAcceptor, stream: TcpStream) -> io::Result<u64> {
    let (reader, mut writer) = acceptor.accept(stream).await?.split();
    let count = futures::io::copy(reader, &mut writer).await?;
    writer.close().await?;
    Ok(count)
}

async fn serve(certificate: String, address: String) -> io::Result<()> {
    let (acceptor, text) = acceptor()?;
    fs::task::write(certificate, text).await?;
    let listener = TcpListener::bind(address).await?;
    println!("{}; Ctrl+C ends it", listener.local_addr()?);
    spawn_local(async move {
        loop {
            let (stream, peer) = listener.accept().await?;
            let acceptor = acceptor.clone();
            spawn_local(async move {
                match echo(acceptor, stream).await {
                    Ok(count) => println!("{peer} sent {count} bytes"),
                    Err(error) => println!("{peer}: {error}"),
                }
            });
        }
        #[expect(unreachable_code)]
        io::Result::Ok(())
    });
    signal::ctrl_c().await
}

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let certificate = args.next().ok_or(io::Error::other("tls_echo CERTIFICATE [ADDRESS]"))?;
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    Loop::new()?.block_on(serve(certificate, address))
}

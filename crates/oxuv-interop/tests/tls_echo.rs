//! TLS by futures-rustls, on the futures-io traits.

use std::sync::Arc;

use futures::{AsyncReadExt, AsyncWriteExt};
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, crypto::ring};
use futures_rustls::{TlsAcceptor, TlsConnector};
use oxuv::Loop;
use oxuv::net::{TcpListener, TcpStream};
use oxuv::task::spawn_local;

fn configurations() -> (TlsAcceptor, TlsConnector) {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = own.cert.der().clone();
    let key = PrivateKeyDer::try_from(own.key_pair.serialize_der()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), TlsConnector::from(Arc::new(client)))
}

#[test]
fn what_is_sent_comes_back() {
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let (acceptor, connector) = configurations();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn_local(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let (reader, mut writer) = acceptor.accept(stream).await.unwrap().split();
            let count = futures::io::copy(reader, &mut writer).await.unwrap();
            writer.close().await.unwrap();
            count
        });
        let stream = TcpStream::connect(address).await.unwrap();
        let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|nth| (nth % 251) as u8).collect();
        let (mut reader, mut writer) = stream.split();
        let bytes = sent.clone();
        let writes = spawn_local(async move {
            writer.write_all(&bytes).await.unwrap();
            writer.close().await.unwrap();
        });
        let mut all = Vec::new();
        reader.read_to_end(&mut all).await.unwrap();
        writes.await.unwrap();
        assert!(all == sent);
        assert_eq!(server.await.unwrap(), 1_000_000);
    });
}

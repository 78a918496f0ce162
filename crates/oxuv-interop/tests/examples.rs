//! Each program of `examples/` does what it says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream as StdStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use futures::{AsyncReadExt, AsyncWriteExt};
use futures_rustls::TlsConnector;
use futures_rustls::rustls::pki_types::pem::PemObject;
use futures_rustls::rustls::pki_types::{CertificateDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};
use oxuv::Loop;
use oxuv::net::TcpStream;
use oxuv::task::spawn_local;

const EXAMPLES: [&str; 5] = ["host_calloop", "http_server", "in_calloop", "in_tokio", "tls_echo"];

#[test]
fn all_examples_are_tested_here_and_fit_on_a_page() {
    let mut found = Vec::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let path = file.unwrap().path();
        assert!(std::fs::read_to_string(&path).unwrap().lines().count() < 80, "{}", path.display());
        found.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
    }
    found.sort();
    assert_eq!(found, EXAMPLES);
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert!(EXAMPLES.iter().all(|name| readme.contains(&format!("\n| `{name}` | "))));
}

/// `cargo test` has built it; `cargo test --test ...` alone does not.
fn program(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.extend(["examples", name]);
    assert!(path.exists(), "{} is missing: cargo build --examples makes it", path.display());
    path
}

/// What a program prints that ends by itself.
fn lines(name: &str) -> Vec<String> {
    let output = Command::new(program(name)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A server that is running. It is ended with this value.
struct Server(Child, BufReader<ChildStdout>);

impl Server {
    fn start(name: &str, arguments: &[&str]) -> Server {
        let mut child = Command::new(program(name)).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Server(child, stdout)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn http_server_numbers_its_requests() {
    let mut server = Server::start("http_server", &["127.0.0.1:0"]);
    let line = server.line();
    let address = line.strip_prefix("http://").and_then(|line| line.split('/').next()).expect(&line);
    for nth in 1..=3 {
        let mut stream = StdStream::connect(address).unwrap();
        stream.write_all(b"GET /page HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\nGET /page is request {nth}\n")), "{answer}");
    }
}

#[test]
fn tls_echo_sends_back_what_comes_to_who_trusts_it() {
    let certificate = std::env::temp_dir().join(format!("oxuv-tls-{}.pem", std::process::id()));
    let mut server = Server::start("tls_echo", &[certificate.to_str().unwrap(), "127.0.0.1:0"]);
    let address = server.line().split(';').next().unwrap().to_owned();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&certificate).unwrap()).unwrap();
    std::fs::remove_file(&certificate).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let sent: Vec<u8> = (0..1_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    Loop::new().unwrap().block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let (mut reader, mut writer) =
            TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap().split();
        let bytes = sent.clone();
        let writes = spawn_local(async move {
            writer.write_all(&bytes).await.unwrap();
            writer.close().await.unwrap();
        });
        let mut all = Vec::new();
        reader.read_to_end(&mut all).await.unwrap();
        writes.await.unwrap();
        assert!(all == sent);
    });
    assert!(server.line().ends_with(" sent 1000000 bytes\n"));
}

#[test]
fn in_calloop_both_loops_go_on() {
    let lines = lines("in_calloop");
    let [steps @ .., theirs] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(steps, [1, 2, 3, 4, 5].map(|step| format!("our task: step {step}")));
    let ticks = theirs.strip_prefix("calloop's timer: ").and_then(|rest| rest.strip_suffix(" ticks")).expect(theirs);
    assert!(ticks.parse::<u32>().unwrap() > 0);
}

#[test]
fn in_tokio_tasks_of_both_talk() {
    assert_eq!(lines("in_tokio"), [1, 2, 3, 4, 5].map(|step| format!("step {step} of our task, received by tokio's")));
}

#[test]
fn host_calloop_hears_of_messages_and_ticks() {
    let mut lines = lines("host_calloop");
    lines.sort();
    assert_eq!(lines, ["calloop: message 1", "calloop: message 2", "calloop: message 3", "our task: 10 ticks"]);
}

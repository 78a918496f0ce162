//! Pipes on sockets of the Unix domain: names, listening, connecting, and what is left behind.

mod common;

use std::cell::RefCell;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::rc::Rc;

use common::{Place, Trace, new_loop, run, run_until, turn};
use oxuv::{Errno, Pipe, PipeName};

#[test]
fn a_server_sends_back_what_a_client_writes() {
    let (lp, place) = (new_loop(), Place::new("echo"));
    let server = Pipe::new(&lp).unwrap();
    server.bind(place.path("socket")).unwrap();
    server
        .listen(16, |server, connection| {
            connection.unwrap();
            let client = server.accept().unwrap();
            client
                .read_start(|client, read| match read {
                    Ok(bytes) => client.write_copy(bytes, |_, sent| sent.unwrap()).unwrap(),
                    Err(error) => {
                        assert_eq!(error, Errno::EOF);
                        client.close().unwrap();
                    }
                })
                .unwrap();
            server.close().unwrap();
        })
        .unwrap();
    let client = Pipe::new(&lp).unwrap();
    let got = Rc::new(RefCell::new(Vec::new()));
    client.connect(place.path("socket"), |_, connected| connected.unwrap()).unwrap();
    client.write("hello", |_, sent| sent.unwrap()).unwrap();
    let gets = got.clone();
    client
        .read_start(move |client, read| match read {
            Ok(bytes) => {
                gets.borrow_mut().extend_from_slice(bytes);
                client.shutdown(|_, done| done.unwrap()).unwrap();
            }
            Err(_) => client.close().unwrap(),
        })
        .unwrap();
    run(&lp);
    assert_eq!(*got.borrow(), b"hello");
}

#[test]
fn the_file_is_there_from_bind_to_close_and_belongs_to_who_bound_it() {
    let (lp, place) = (new_loop(), Place::new("file"));
    let path = place.path("socket");
    let (server, client) = (Pipe::new(&lp).unwrap(), Pipe::new(&lp).unwrap());
    server.bind(&path).unwrap();
    assert!(std::fs::metadata(&path).unwrap().file_type().is_socket());
    server.listen(1, |_, _| {}).unwrap();
    client.connect(&path, |client, connected| connected.and_then(|()| client.close()).unwrap()).unwrap();
    run_until(&lp, || client.is_closing());
    assert!(path.exists());
    server.close().unwrap();
    assert!(!path.exists());
    run(&lp);
}

#[test]
fn names_come_back_as_they_were_given() {
    let (lp, place) = (new_loop(), Place::new("names"));
    let mut long = place.path("").into_os_string();
    long.push("x".repeat(108 - long.len()));
    for name in [
        PipeName::Path(place.path("short")),
        PipeName::Path(long.into()),
        PipeName::Abstract(format!("oxuv\0{}\0", std::process::id()).into_bytes()),
    ] {
        let (server, client) = (Pipe::new(&lp).unwrap(), Pipe::new(&lp).unwrap());
        assert_eq!(server.local_name(), Err(Errno::EBADF));
        server.bind(name.clone()).unwrap();
        server.listen(1, |_, _| {}).unwrap();
        client.connect(name.clone(), |_, connected| connected.unwrap()).unwrap();
        turn(&lp);
        assert_eq!(server.local_name().unwrap(), name);
        assert_eq!(server.peer_name(), Err(Errno::ENOTCONN));
        assert_eq!(client.peer_name().unwrap(), name);
        assert_eq!(client.local_name().unwrap(), PipeName::Unnamed);
        server.close().unwrap();
        client.close().unwrap();
    }
    let chosen = Pipe::new(&lp).unwrap();
    chosen.bind(PipeName::Unnamed).unwrap();
    assert!(matches!(chosen.local_name().unwrap(), PipeName::Abstract(name) if !name.is_empty()));
}

#[test]
fn whatever_is_a_path_is_a_name() {
    let (lp, place) = (new_loop(), Place::new("paths"));
    let path = place.path("socket");
    let text = path.to_str().unwrap();
    let names: [PipeName; 6] = [
        path.clone().into(),
        (&path).into(),
        path.as_path().into(),
        text.into(),
        text.to_owned().into(),
        path.clone().into_os_string().into(),
    ];
    assert!(names.iter().all(|name| *name == PipeName::Path(path.clone())));
    let (server, client) = (Pipe::new(&lp).unwrap(), Pipe::new(&lp).unwrap());
    server.bind(text.to_owned()).unwrap();
    server.listen(1, |_, _| {}).unwrap();
    client.connect(text.to_owned(), |_, connected| connected.unwrap()).unwrap();
    turn(&lp);
}

#[test]
fn names_that_cannot_be_are_refused_at_once() {
    let (lp, place) = (new_loop(), Place::new("bad"));
    let pipe = Pipe::new(&lp).unwrap();
    let long = PipeName::Path("x".repeat(109).into());
    assert_eq!(pipe.bind(long.clone()), Err(Errno::ENAMETOOLONG));
    assert_eq!(pipe.connect(long, |_, _| unreachable!()), Err(Errno::ENAMETOOLONG));
    assert_eq!(pipe.bind(PipeName::Path("a\0b".into())), Err(Errno::EINVAL));
    assert_eq!(pipe.bind(PipeName::Path("".into())), Err(Errno::EINVAL));
    assert_eq!(pipe.connect(PipeName::Unnamed, |_, _| unreachable!()), Err(Errno::EINVAL));
    assert_eq!(pipe.bind(place.path("no/such/directory")), Err(Errno::EACCES));
    let taken = UnixListener::bind(place.path("taken")).unwrap();
    assert_eq!(pipe.bind(place.path("taken")), Err(Errno::EADDRINUSE));
    drop(taken);
    pipe.bind(place.path("socket")).unwrap();
    assert_eq!(pipe.bind(place.path("another")), Err(Errno::EINVAL));
    pipe.close().unwrap();
    assert_eq!(pipe.bind(place.path("socket")), Err(Errno::EINVAL));
    assert!(!place.path("another").exists());
}

#[test]
fn a_connect_that_fails_is_told_in_pending_and_can_be_tried_again() {
    let (lp, place, trace) = (new_loop(), Place::new("refused"), Trace::new());
    let pipe = Pipe::new(&lp).unwrap();
    pipe.connect(place.path("socket"), trace.tells("connect")).unwrap();
    assert_eq!(pipe.connect(place.path("socket"), |_, _| unreachable!()), Err(Errno::EALREADY));
    assert_eq!(pipe.write("lost", |_, _| unreachable!()), Err(Errno::EPIPE));
    assert!(trace.take().is_empty());
    run(&lp);
    assert_eq!(trace.take(), ["connect ENOENT"]);
    drop(UnixListener::bind(place.path("socket")).unwrap());
    pipe.connect(place.path("socket"), trace.tells("connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECONNREFUSED"]);
    let _listener = UnixListener::bind(place.path("other")).unwrap();
    pipe.connect(place.path("other"), trace.tells("connect")).unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ok"]);
    assert!(pipe.is_readable() && pipe.is_writable());
    pipe.connect(place.path("other"), trace.tells("connect")).unwrap();
    pipe.close().unwrap();
    run(&lp);
    assert_eq!(trace.take(), ["connect ECANCELED"]);
}

#[test]
fn only_bound_pipes_for_connections_listen() {
    let lp = new_loop();
    let pipe = Pipe::new(&lp).unwrap();
    assert_eq!(pipe.listen(1, |_, _| {}), Err(Errno::EINVAL));
    let pipe = Pipe::for_handles(&lp).unwrap();
    pipe.bind(PipeName::Unnamed).unwrap();
    assert_eq!(pipe.listen(1, |_, _| {}), Err(Errno::EINVAL));
    let (pipe, _other) = Pipe::pair(&lp).unwrap();
    assert_eq!(pipe.listen(1, |_, _| {}), Err(Errno::EINVAL));
}

/// libuv#2040: chmod follows no link that somebody has put in the file's place.
#[test]
fn permissions_are_set_on_the_socket_and_on_nothing_else() {
    let (lp, place) = (new_loop(), Place::new("chmod"));
    let path = place.path("socket");
    let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let server = Pipe::new(&lp).unwrap();
    assert_eq!(server.chmod(true, true), Err(Errno::EBADF));
    server.bind(&path).unwrap();
    for (readable, writable, expected) in [(true, false, 0o444), (false, true, 0o222), (true, true, 0o666)] {
        server.chmod(readable, writable).unwrap();
        assert_eq!(mode(&path), expected);
    }
    let other = place.path("other");
    std::fs::write(&other, "").unwrap();
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(server.chmod(true, true), Err(Errno::ENOENT));
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert_eq!(server.chmod(true, true), Err(Errno::ENOTSOCK));
    assert_eq!(mode(&other), 0o600);
    let unnamed = Pipe::new(&lp).unwrap();
    unnamed.bind(PipeName::Unnamed).unwrap();
    assert_eq!(unnamed.chmod(true, true), Err(Errno::ENOENT));
}

//! Files, and work on threads, for tasks.

mod common;

use std::io::{ErrorKind, SeekFrom};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::task::Poll;

use common::poll_once;
use futures::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use oxuv::fs::task::{self as fs, File};
use oxuv::fs::{CopyFlags, OpenOptions};
use oxuv::task::spawn_blocking;
use oxuv::{Loop, Pool};

/// A directory of this test's own, which is gone with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("oxuv-fs-tasks-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Place(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn whole_files_and_what_is_done_to_paths() {
    let place = Place::new("paths");
    let (one, two) = (place.at("one"), place.at("two"));
    Loop::new().unwrap().block_on(async {
        fs::write(&one, "some text").await.unwrap();
        assert_eq!(fs::read_to_string(&one).await.unwrap(), "some text");
        assert_eq!(fs::metadata(&one).await.unwrap().size, 9);
        fs::copy(&one, &two, CopyFlags::default()).await.unwrap();
        let names = fs::read_dir(&place.0).await.unwrap();
        assert_eq!(names.iter().map(|entry| entry.file_name()).collect::<Vec<_>>(), ["one", "two"]);
        fs::rename(&two, place.at("three")).await.unwrap();
        fs::symlink("three", place.at("link")).await.unwrap();
        assert_eq!(fs::read_link(place.at("link")).await.unwrap(), PathBuf::from("three"));
        fs::create_dir(place.at("inside")).await.unwrap();
        fs::remove_dir(place.at("inside")).await.unwrap();
        fs::remove_file(&one).await.unwrap();
        assert_eq!(fs::read(&one).await.unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&one, [0xff]).await.unwrap();
        assert_eq!(fs::read_to_string(&one).await.unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(fs::read("a\0b").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_file_is_a_stream() {
    let place = Place::new("stream");
    Loop::new().unwrap().block_on(async {
        let path = place.at("file");
        let mut file = OpenOptions::new().read(true).write(true).create(true).open_async(&path).await.unwrap();
        let bytes: Vec<u8> = (0..300_000_u32).map(|nth| (nth % 251) as u8).collect();
        file.write_all(&bytes).await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(file.seek(SeekFrom::End(-100_000)).await.unwrap(), 200_000);
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).await.unwrap();
        assert!(rest == bytes[200_000..]);
        file.seek(SeekFrom::Start(10)).await.unwrap();
        file.write_all(b"changed").await.unwrap();
        let mut next = [0; 3];
        file.read_exact(&mut next).await.unwrap();
        assert_eq!(next, bytes[17..20]);
        assert_eq!(file.read_at(Vec::with_capacity(7), 10).await.unwrap(), b"changed");
        assert_eq!(file.seek(SeekFrom::Current(-20)).await.unwrap(), 0);
        assert!(file.seek(SeekFrom::Current(-1)).await.is_err());
        file.set_len(5).await.unwrap();
        assert_eq!(file.metadata().await.unwrap().size, 5);
        file.sync_all().await.unwrap();
        file.close().await.unwrap();
    });
}

#[test]
fn a_read_of_a_stream_that_is_dropped_loses_nothing() {
    let place = Place::new("dropped");
    std::fs::write(place.at("file"), "0123456789").unwrap();
    Loop::new().unwrap().block_on(async {
        let mut file = File::open(place.at("file")).await.unwrap();
        let mut buf = [0; 4];
        let mut all = Vec::new();
        while all.len() < 10 {
            let polled = poll_once(file.read(&mut buf)).await;
            if let Poll::Ready(count) = polled {
                all.extend_from_slice(&buf[..count.unwrap()]);
            }
            oxuv::task::yield_now().await;
        }
        assert_eq!(all, b"0123456789");
    });
}

#[test]
fn what_was_said_to_be_written_is_written_though_the_file_is_dropped() {
    let place = Place::new("written");
    let lp = Loop::new().unwrap();
    lp.block_on(async {
        let mut file = File::create(place.at("file")).await.unwrap();
        assert_eq!(file.write(b"all of it").await.unwrap(), 9);
    });
    lp.run(oxuv::Mode::Default).unwrap();
    assert_eq!(std::fs::read(place.at("file")).unwrap(), b"all of it");
}

#[test]
fn work_runs_on_another_thread_and_its_panic_is_a_result() {
    Loop::new().unwrap().block_on(async {
        let here = std::thread::current().id();
        let there = spawn_blocking(|| std::thread::current().id()).await.unwrap();
        assert_ne!(here, there);
        let error = spawn_blocking(|| panic!("on a thread")).await.unwrap_err();
        assert_eq!(error.to_string(), "the task has panicked: on a thread");
    });
}

#[test]
fn work_that_has_not_begun_is_taken_back_by_abort_alone() {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let lp = Loop::with_pool(&pool).unwrap();
    let (begin, wait) = channel::<()>();
    let dropped_has_run = Arc::new(AtomicBool::new(false));
    let ran = dropped_has_run.clone();
    lp.block_on(async {
        let first = spawn_blocking(move || wait.recv().unwrap());
        let second = spawn_blocking(|| unreachable!("it was taken back"));
        drop(spawn_blocking(move || ran.store(true, SeqCst)));
        second.abort();
        begin.send(()).unwrap();
        assert!(second.await.unwrap_err().is_cancelled());
        first.await.unwrap();
    });
    lp.run(oxuv::Mode::Default).unwrap();
    assert!(dropped_has_run.load(SeqCst));
}

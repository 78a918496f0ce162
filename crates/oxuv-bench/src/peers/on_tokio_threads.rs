//! Work, files and children on tokio.

use std::fs::File as StdFile;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::fs;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::runtime::Builder;
use tokio::task::spawn_blocking;

use crate::pool::{LARGE, PIECE, large_offset, path};
use crate::program::{Spent, timed_section};

/// Has `depth` tasks do the requests with these numbers, each the next that nobody has done.
fn pool<F: Future<Output = io::Result<()>> + Send + 'static>(
    depth: usize,
    operations: usize,
    request: impl Fn(usize) -> F + Clone + Send + 'static,
) -> io::Result<Spent> {
    let threads = std::env::var("UV_THREADPOOL_SIZE").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()?;
    // Has a thread started, and the paths made.
    runtime.block_on(request(0))?;
    let left = Arc::new(AtomicUsize::new(operations));
    timed_section(|| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..depth).map(|_| tokio::spawn(work(Arc::clone(&left), request.clone()))).collect();
            for task in tasks {
                task.await??;
            }
            Ok(())
        })
    })
}

async fn work<F: Future<Output = io::Result<()>>>(
    left: Arc<AtomicUsize>,
    request: impl Fn(usize) -> F,
) -> io::Result<()> {
    while let Ok(nth) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
        request(nth).await?;
    }
    Ok(())
}

pub(super) fn work_of_nothing(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(depth, operations, |_| async { Ok(spawn_blocking(|| {}).await?) })
}

pub(super) fn stat(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(depth, operations, |nth| async move { fs::metadata(path(nth)).await.map(drop) })
}

/// Its files have a place of their own, and read nowhere else: this is how one reads somewhere.
pub(super) fn read(depth: usize, operations: usize) -> io::Result<Spent> {
    let file = Arc::new(StdFile::open(LARGE)?);
    pool(depth, operations, move |nth| {
        let file = Arc::clone(&file);
        async move {
            spawn_blocking(move || {
                let mut bytes = vec![0; PIECE];
                file.read_exact_at(&mut bytes, large_offset(nth))?;
                io::Result::Ok(bytes)
            })
            .await?
            .map(drop)
        }
    })
}

pub(super) fn open(depth: usize, operations: usize) -> io::Result<Spent> {
    pool(depth, operations, |nth| async move {
        let mut file = fs::File::open(path(nth)).await?;
        let mut bytes = vec![0; PIECE];
        file.read_exact(&mut bytes).await.map(drop)
    })
}

pub(super) fn spawn(megabytes: usize, operations: usize) -> io::Result<Spent> {
    let memory = vec![1_u8; megabytes << 20];
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let spent = timed_section(|| {
        runtime.block_on(async {
            for _ in 0..operations {
                let mut command = Command::new("/bin/true");
                let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await?;
                assert!(status.success());
            }
            Ok(())
        })
    });
    black_box(memory);
    spent
}

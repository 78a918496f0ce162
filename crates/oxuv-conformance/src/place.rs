//! The folder where the tests run: each in a folder of its own with libuv's fixtures, which belong to the test's user.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::about;

/// A folder under the system's folder for temporary files, which every user may enter. It is removed in the end.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
    fixtures: PathBuf,
}

/// The process and a number follow.
const NAME: &str = "oxuv-conformance-";
/// Names for addresses where a test has a network of its own.
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";
/// Nobody answers there: other names are unknown at once.
const RESOLVER: &str = "nameserver 127.0.0.1\n";

impl Place {
    /// Makes the folder. `fixtures` is copied for each test.
    pub fn new(fixtures: PathBuf) -> Result<Place, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        remove_abandoned();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("{NAME}{}-{number}", std::process::id()));
        fs::create_dir(&root).map_err(about(root.display()))?;
        let place = Place { root, fixtures };
        let inner = ["work", "output", "leaks"].map(|name| place.root.join(name));
        for folder in inner.into_iter().chain([place.root.clone(), place.programs(), place.names()]) {
            fs::create_dir_all(&folder).map_err(about(folder.display()))?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).map_err(about(folder.display()))?;
        }
        for (name, content) in [("hosts", HOSTS), ("resolv.conf", RESOLVER)] {
            let file = place.names().join(name);
            fs::write(&file, content).map_err(about(file.display()))?;
        }
        Ok(place)
    }

    /// Where the files lie in which names of hosts are looked up.
    pub fn names(&self) -> PathBuf {
        self.root.join("etc")
    }

    /// Where the test program and its libraries lie.
    pub fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The file that gets what a test prints.
    pub fn output(&self, test: &str) -> PathBuf {
        self.root.join("output").join(test)
    }

    /// Makes the folder into which a test writes what it leaves behind.
    pub fn leaks(&self, test: &str, owner: (u32, u32)) -> Result<PathBuf, String> {
        let folder = self.root.join("leaks").join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(about(folder.display()))?;
        own(&folder, owner)?;
        Ok(folder)
    }

    /// Makes the folder in which a test runs.
    pub fn work(&self, test: &str, owner: (u32, u32)) -> Result<Work, String> {
        let work = Work(self.root.join("work").join(test));
        let folder = work.0.join("test");
        fs::create_dir_all(&folder).map_err(about(folder.display()))?;
        own(&work.0, owner)?;
        own(&folder, owner)?;
        copy(&self.fixtures, &folder.join("fixtures"), owner)?;
        Ok(work)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The folder of a test. In the end it is removed, and processes that are still in it are killed.
#[derive(Debug)]
pub struct Work(pub PathBuf);

impl Drop for Work {
    fn drop(&mut self) {
        kill_processes_in(&self.0);
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the folders of processes that were killed.
fn remove_abandoned() {
    let Ok(folders) = fs::read_dir(std::env::temp_dir()) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        if id.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path, owner: (u32, u32)) -> Result<(), String> {
    if from.is_dir() {
        fs::create_dir(to).map_err(about(to.display()))?;
        for entry in fs::read_dir(from).map_err(about(from.display()))? {
            let entry = entry.map_err(about(from.display()))?;
            copy(&entry.path(), &to.join(entry.file_name()), owner)?;
        }
    } else {
        fs::copy(from, to).map_err(about(to.display()))?;
    }
    own(to, owner)
}

fn own(path: &Path, (user, group): (u32, u32)) -> Result<(), String> {
    chown(path, Some(user), Some(group)).map_err(about(path.display()))
}

/// Kills the processes whose working directory is below the folder.
fn kill_processes_in(folder: &Path) {
    let Ok(processes) = fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let id = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let directory = fs::read_link(process.path().join("cwd"));
        if let (Some(id), Ok(directory)) = (id, directory)
            && directory.starts_with(folder)
        {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

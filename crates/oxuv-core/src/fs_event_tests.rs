//! Watching files on the simulated kernel.

use std::collections::VecDeque;
use std::ffi::CString;

use oxuv_os::Errno;

use crate::sim::{Faults, Random, Sim};
use crate::{Config, Core, Event, FsEvents, Key, Mode, One};

struct Bed {
    sim: Sim,
    core: Core<Sim, u32, One<Vec<u8>>>,
}

impl Bed {
    fn new(directories: &[&str]) -> Bed {
        let sim = Sim::new(3, Faults::none());
        sim.set_wait_limit(100_000);
        directories.iter().for_each(|path| sim.make_directory(path).unwrap());
        Bed { core: Core::new(sim.clone(), Config::default()).unwrap(), sim }
    }

    /// A handle, started.
    fn watch(&mut self, user: u32, path: &str, is_recursive: bool) -> Key {
        let key = self.core.fs_event_init(user).unwrap();
        self.core.fs_event_set_recursive(key, is_recursive).unwrap();
        self.start(key, path).unwrap();
        key
    }

    fn start(&mut self, key: Key, path: &str) -> Result<(), Errno> {
        self.core.fs_event_start(key, &CString::new(path).unwrap())
    }

    /// What a turn tells of; `act` is called back for each.
    fn turn(&mut self, mut act: impl FnMut(&mut Bed, &str)) -> Vec<String> {
        let mut told = Vec::new();
        self.core.begin(Mode::NoWait);
        while let Some(event) = self.core.next() {
            let line = match event {
                Event::FsEvent { user, result: Ok(events), .. } => {
                    let name = self.core.fs_event_name().map_or("-".into(), |name| name.to_string_lossy());
                    let words = [(FsEvents::RENAME, "rename"), (FsEvents::CHANGE, "change"), (FsEvents::LOST, "lost")];
                    let words: Vec<_> =
                        words.iter().filter(|(bit, _)| events.contains(*bit)).map(|(_, word)| *word).collect();
                    format!("{user} {} {name}", words.join("+"))
                }
                Event::FsEvent { user, result: Err(error), .. } => {
                    format!(
                        "{user} {} {}",
                        error.name().unwrap(),
                        self.core.fs_event_name().map_or("-".into(), |name| name.to_string_lossy())
                    )
                }
                other => panic!("{other:?}"),
            };
            act(self, &line);
            told.push(line);
        }
        told
    }

    fn told(&mut self) -> Vec<String> {
        self.turn(|_, _| {})
    }

    /// What is told until nothing is left.
    fn all_told(&mut self) -> Vec<String> {
        let mut told = self.told();
        while self.core.backend_timeout() == Some(0) {
            told.extend(self.told());
        }
        told.extend(self.told());
        told
    }

    /// How much of files a turn tells of.
    fn told_of_files(&mut self) -> usize {
        self.core.begin(Mode::NoWait);
        std::iter::from_fn(|| self.core.next()).filter(|event| matches!(event, Event::FsEvent { .. })).count()
    }

    fn watched(&self) -> Vec<String> {
        self.sim.watched()
    }
}

#[test]
fn files_and_directories_tell_by_what_name_they_have() {
    let mut bed = Bed::new(&["/d"]);
    bed.sim.make_file("/d/f").unwrap();
    bed.watch(1, "/d", false);
    bed.watch(2, "/d/f", false);
    bed.watch(3, "/d/", false);
    assert_eq!(bed.told(), [""; 0]);
    bed.sim.write_file("/d/f").unwrap();
    assert_eq!(bed.told(), ["1 change f", "3 change f", "2 change f"]);
    bed.sim.rename("/d/f", "/d/g").unwrap();
    let renamed = ["1 rename f", "3 rename f", "1 rename g", "3 rename g", "2 rename f"];
    assert_eq!(bed.told(), renamed);
    bed.sim.remove("/d/g").unwrap();
    assert_eq!(bed.told(), ["2 rename f", "2 rename f", "1 rename g", "3 rename g"]);
    bed.sim.remove("/d").unwrap();
    assert_eq!(bed.told(), ["1 rename d", "3 rename ", "1 rename d", "3 rename "]);
    assert_eq!(bed.watched(), [""; 0]);
}

#[test]
fn a_watch_ends_with_the_last_handle_that_hears_of_it() {
    let mut bed = Bed::new(&["/d"]);
    let (a, b) = (bed.watch(1, "/d", false), bed.watch(2, "/d", false));
    assert_eq!(bed.start(a, "/d"), Err(Errno::EINVAL));
    assert_eq!(bed.core.fs_event_path(a).unwrap(), c"/d");
    bed.core.fs_event_stop(a).unwrap();
    bed.core.fs_event_stop(a).unwrap();
    assert_eq!(bed.core.fs_event_path(a), Err(Errno::EINVAL));
    assert_eq!(bed.watched(), ["/d"]);
    bed.sim.make_file("/d/f").unwrap();
    bed.core.close(b).unwrap();
    assert_eq!(bed.watched(), [""; 0]);
    bed.core.begin(Mode::NoWait);
    assert_eq!(bed.core.next(), Some(Event::Closed { key: b, user: 2 }));
    assert_eq!(bed.start(a, "/none"), Err(Errno::ENOENT));
    assert!(!bed.core.is_active(a));
    bed.start(a, "/d").unwrap();
    // What is left of the watch that has ended is nobody's.
    assert_eq!(bed.told(), [""; 0]);
}

#[test]
fn handles_may_be_stopped_and_started_while_they_are_told() {
    let mut bed = Bed::new(&["/d"]);
    let (a, b, c) = (bed.watch(1, "/d", false), bed.watch(2, "/d", false), bed.watch(3, "/d", false));
    bed.sim.make_file("/d/f").unwrap();
    bed.sim.make_file("/d/g").unwrap();
    let told = bed.turn(|bed, line| {
        if line == "1 rename f" {
            // The third is told no more; the first has its turn again behind those that were told.
            bed.core.fs_event_stop(c).unwrap();
            bed.core.fs_event_stop(a).unwrap();
            bed.start(a, "/d").unwrap();
            bed.start(c, "/d").unwrap();
        }
    });
    assert_eq!(told, ["1 rename f", "2 rename f", "1 rename g", "3 rename g", "2 rename g"]);
    bed.sim.write_file("/d/f").unwrap();
    bed.sim.write_file("/d/g").unwrap();
    // All of them stop, and one starts again: the watch has not ended meanwhile.
    let told = bed.turn(|bed, line| {
        if line == "1 change f" {
            [a, b, c].iter().for_each(|&key| bed.core.fs_event_stop(key).unwrap());
            bed.start(b, "/d").unwrap();
        }
    });
    assert_eq!(told, ["1 change f", "2 change g"]);
}

#[test]
fn what_is_left_by_a_run_is_told_by_the_next() {
    let mut bed = Bed::new(&["/d"]);
    (1..=2).for_each(|user| {
        bed.watch(user, "/d", false);
    });
    bed.sim.make_file("/d/f").unwrap();
    bed.sim.make_file("/d/g").unwrap();
    bed.core.begin(Mode::Default);
    assert!(matches!(bed.core.next(), Some(Event::FsEvent { user: 1, .. })));
    assert_eq!(bed.core.backend_timeout(), Some(0));
    bed.core.begin(Mode::Once);
    let mut users = Vec::new();
    while let Some(Event::FsEvent { user, .. }) = bed.core.next() {
        users.push(user);
    }
    assert_eq!(users, [2, 1, 2]);
}

#[test]
fn a_turn_tells_of_so_much_and_no_more() {
    let mut bed = Bed::new(&["/d"]);
    bed.watch(1, "/d", false);
    for nth in 0..5000 {
        bed.sim.make_file(&format!("/d/{nth}")).unwrap();
    }
    let first = bed.told();
    assert!(first.len() > 500 && first.len() < 2100, "{}", first.len());
    let rest = bed.all_told();
    assert_eq!(first.len() + rest.len(), 5000);
    assert_eq!(rest.last().unwrap(), "1 rename 4999");
}

#[test]
fn all_handles_hear_that_something_was_lost() {
    let mut bed = Bed::new(&["/d", "/e", "/e/sub"]);
    let (_, second) = (bed.watch(1, "/d", false), bed.watch(2, "/e", true));
    bed.watch(3, "/d", false);
    bed.sim.set_watch_limits(100, 1);
    bed.sim.make_file("/d/f").unwrap();
    bed.sim.make_directory("/e/new").unwrap();
    bed.sim.make_directory("/e/new/deep").unwrap();
    bed.sim.remove("/e/sub").unwrap();
    bed.sim.set_watch_limits(100, 100);
    assert_eq!(bed.all_told(), ["1 rename f", "3 rename f", "1 lost -", "2 lost -", "3 lost -"]);
    assert_eq!(bed.watched(), ["/d", "/e", "/e/new", "/e/new/deep"]);
    bed.sim.make_file("/e/new/deep/f").unwrap();
    assert_eq!(bed.told(), ["2 rename new/deep/f"]);
    bed.core.close(second).unwrap();
    assert_eq!(bed.watched(), ["/d"]);
}

#[test]
fn a_tree_grows_and_shrinks() {
    let mut bed = Bed::new(&["/d", "/d/a", "/d/a/b", "/e", "/e/in"]);
    let key = bed.watch(1, "/d", true);
    assert_eq!(bed.watched(), ["/d", "/d/a", "/d/a/b"]);
    bed.sim.make_file("/d/a/b/f").unwrap();
    assert_eq!(bed.told(), ["1 rename a/b/f"]);
    // What is in a new directory before it is watched.
    bed.sim.make_directory("/d/a/c").unwrap();
    bed.sim.make_directory("/d/a/c/x").unwrap();
    bed.sim.make_file("/d/a/c/x/f").unwrap();
    assert_eq!(bed.all_told(), ["1 rename a/c", "1 rename a/c/x", "1 rename a/c/x/f"]);
    // Moved in, within, out.
    bed.sim.make_file("/e/in/f").unwrap();
    bed.sim.rename("/e/in", "/d/in").unwrap();
    assert_eq!(bed.all_told(), ["1 rename in", "1 rename in/f"]);
    bed.sim.rename("/d/in", "/d/a/in").unwrap();
    assert_eq!(bed.all_told(), ["1 rename in", "1 rename a/in", "1 rename a/in/f"]);
    bed.sim.rename("/d/a", "/e/a").unwrap();
    assert_eq!(bed.all_told(), ["1 rename a"]);
    bed.sim.make_file("/e/a/b/g").unwrap();
    assert_eq!(bed.told(), [""; 0]);
    assert_eq!(bed.watched(), ["/d"]);
    // One event, and no neighbour's.
    for name in ["foo", "foo_"] {
        bed.sim.make_directory(&format!("/d/{name}")).unwrap();
    }
    assert_eq!(bed.all_told(), ["1 rename foo", "1 rename foo_"]);
    bed.sim.remove("/d/foo").unwrap();
    assert_eq!(bed.all_told(), ["1 rename foo"]);
    bed.core.fs_event_stop(key).unwrap();
    assert_eq!(bed.watched(), [""; 0]);
}

#[test]
fn a_tree_and_a_handle_may_watch_the_same() {
    let mut bed = Bed::new(&["/d", "/d/a"]);
    let tree = bed.watch(1, "/d", true);
    bed.watch(2, "/d/a", false);
    bed.sim.make_file("/d/a/f").unwrap();
    assert_eq!(bed.told(), ["1 rename a/f", "2 rename f"]);
    bed.core.fs_event_stop(tree).unwrap();
    assert_eq!(bed.watched(), ["/d/a"]);
    // Of a file there is nothing beneath.
    bed.watch(3, "/d/a/f", true);
    bed.sim.write_file("/d/a/f").unwrap();
    assert_eq!(bed.told(), ["2 change f", "3 change f"]);
}

#[test]
fn a_root_that_was_moved_looks_at_nobody_elses_directories() {
    let mut bed = Bed::new(&["/d", "/d/a"]);
    bed.watch(1, "/d", true);
    bed.sim.rename("/d", "/old").unwrap();
    assert_eq!(bed.told(), ["1 rename d"]);
    for path in ["/d", "/d/new", "/old/new"] {
        bed.sim.make_directory(path).unwrap();
    }
    assert_eq!(bed.all_told(), ["1 rename new"]);
    bed.sim.make_file("/d/new/f").unwrap();
    assert_eq!(bed.told(), [""; 0]);
    bed.sim.make_file("/old/a/f").unwrap();
    assert_eq!(bed.told(), ["1 rename a/f"]);
}

#[test]
fn the_limit_of_watches_is_an_error() {
    let mut bed = Bed::new(&["/d", "/d/a", "/d/b"]);
    bed.sim.set_watch_limits(2, 100);
    let key = bed.core.fs_event_init(1).unwrap();
    bed.core.fs_event_set_recursive(key, true).unwrap();
    assert_eq!(bed.start(key, "/d"), Err(Errno::ENOSPC));
    assert!(!bed.core.is_active(key) && bed.watched().is_empty());
    bed.sim.set_watch_limits(3, 100);
    bed.start(key, "/d").unwrap();
    bed.sim.make_directory("/d/c").unwrap();
    bed.sim.make_file("/d/f").unwrap();
    assert_eq!(bed.told(), ["1 ENOSPC c", "1 rename f"]);
    assert!(bed.core.is_active(key));
}

#[test]
fn after_a_fork_everything_is_watched_anew() {
    let mut bed = Bed::new(&["/d", "/d/a", "/e"]);
    let (a, b) = (bed.watch(1, "/d", true), bed.watch(2, "/e", false));
    bed.sim.make_file("/d/f").unwrap();
    bed.sim.remove("/e").unwrap();
    assert_eq!(bed.core.after_fork(), Ok(true));
    assert_eq!(bed.watched(), ["/d", "/d/a"]);
    bed.sim.make_file("/d/a/f").unwrap();
    assert_eq!(bed.core.backend_timeout(), Some(0));
    assert_eq!(bed.told(), ["2 ENOENT -", "1 rename a/f"]);
    assert!(bed.core.is_active(a) && !bed.core.is_active(b));
    bed.sim.make_directory("/e").unwrap();
    bed.start(b, "/e").unwrap();
    bed.sim.remove("/e").unwrap();
    assert_eq!(bed.core.after_fork(), Ok(true));
    // It does not wait to be told.
    bed.core.fs_event_stop(b).unwrap();
    bed.start(b, "/d").unwrap();
    assert_eq!(bed.told(), [""; 0]);
}

/// A path of up to three names, of four each.
fn random_path(random: &mut Random) -> String {
    (0..1 + random.below(3)).fold("/r".into(), |path, _| format!("{path}/{}", ["a", "b", "c", "d"][random.below(4)]))
}

#[test]
fn a_tree_is_what_is_there_whatever_has_happened() {
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let mut bed = Bed::new(&["/r", "/o"]);
        bed.watch(1, "/r", true);
        for _ in 0..60 {
            let (path, other) = (random_path(&mut random), random_path(&mut random));
            match random.below(10) {
                0..4 => drop(bed.sim.make_directory(&path)),
                4 => drop(bed.sim.make_file(&path)),
                5 => drop(bed.sim.remove(&path)),
                6 | 7 => drop(bed.sim.rename(&path, &other)),
                8 => drop(bed.sim.rename(&path, "/o/x").or_else(|_| bed.sim.rename("/o/x", &path))),
                _ if random.chance(200) => bed.sim.set_watch_limits(1000, random.below(4)),
                _ => {
                    bed.sim.set_watch_limits(1000, 1000);
                    drop(bed.told());
                }
            }
        }
        bed.sim.set_watch_limits(1000, 1000);
        bed.all_told();
        let mut there = bed.sim.directories();
        there.retain(|path| path.starts_with("/r"));
        assert_eq!(bed.watched(), there, "seed {seed}");
        // All of it can be told by its name.
        for directory in bed.watched() {
            bed.sim.make_file(&format!("{directory}/new")).unwrap();
            let name = format!("1 rename {}", format!("{directory}/new").strip_prefix("/r/").unwrap());
            assert_eq!(bed.told(), [name], "seed {seed}");
        }
    }
}

/// What is told, in its order, by simple lists: of each watch its listeners, and of all watches what has happened.
#[derive(Default)]
struct Model {
    /// By directory: which watch of it this is, and who listens.
    watches: [Option<(u32, Vec<u32>)>; 3],
    made: u32,
    happened: VecDeque<(usize, u32, String)>,
    /// What is being told, and to whom still.
    current: Option<(usize, String, Vec<u32>)>,
}

impl Model {
    fn happen(&mut self, directory: usize, name: &str) {
        if let Some((watch, _)) = self.watches[directory] {
            self.happened.push_back((directory, watch, name.into()));
        }
    }

    fn start(&mut self, user: u32, directory: usize) {
        self.made += 1;
        let (_, listeners) = self.watches[directory].get_or_insert((self.made, Vec::new()));
        listeners.push(user);
    }

    fn stop(&mut self, user: u32) {
        let told = self.current.as_mut().map(|(directory, _, rest)| {
            rest.retain(|&other| other != user);
            *directory
        });
        for (directory, watch) in self.watches.iter_mut().enumerate() {
            let Some((_, listeners)) = watch else { continue };
            listeners.retain(|&other| other != user);
            if listeners.is_empty() && told != Some(directory) {
                *watch = None;
            }
        }
    }

    /// Nobody is left to be told of what is being told.
    fn settle(&mut self) {
        if let Some((directory, ..)) = self.current.take_if(|(_, _, rest)| rest.is_empty())
            && self.watches[directory].as_ref().is_some_and(|(_, listeners)| listeners.is_empty())
        {
            self.watches[directory] = None;
        }
    }

    fn next(&mut self) -> Option<(u32, String)> {
        loop {
            if let Some((directory, name, rest)) = &mut self.current
                && !rest.is_empty()
            {
                let user = rest.remove(0);
                let told = (user, name.clone());
                // It goes behind those that were told, and those that came since.
                let (_, listeners) = self.watches[*directory].as_mut().unwrap();
                listeners.push(user);
                return Some(told);
            }
            self.settle();
            let (directory, number, name) = self.happened.pop_front()?;
            if let Some((watch, listeners)) = &mut self.watches[directory]
                && *watch == number
            {
                self.current = Some((directory, name, std::mem::take(listeners)));
            }
        }
    }
}

struct Machine {
    bed: Bed,
    model: Model,
    random: Random,
    keys: Vec<(u32, Key)>,
    names: u32,
}

impl Machine {
    fn act(&mut self) {
        let directory = self.random.below(3);
        let path = format!("/{directory}");
        let Some(&(user, key)) = self.random.pick(&self.keys) else {
            return self.add();
        };
        match self.random.below(10) {
            0..4 => {
                self.names += 1;
                let name = self.names.to_string();
                self.bed.sim.make_file(&format!("{path}/{name}")).unwrap();
                self.model.happen(directory, &name);
            }
            4..6 => match self.bed.start(key, &path) {
                Ok(()) => self.model.start(user, directory),
                Err(error) => assert!(error == Errno::EINVAL && self.bed.core.is_active(key)),
            },
            6..8 => {
                self.bed.core.fs_event_stop(key).unwrap();
                self.model.stop(user);
            }
            8 => self.add(),
            _ => {
                self.bed.core.close(key).unwrap();
                self.model.stop(user);
                self.keys.retain(|&(_, other)| other != key);
            }
        }
    }

    fn add(&mut self) {
        self.names += 1;
        self.keys.push((self.names, self.bed.core.fs_event_init(self.names).unwrap()));
    }

    fn run(&mut self, depth: u32) {
        self.bed.core.begin(Mode::NoWait);
        while let Some(event) = self.bed.core.next() {
            let Event::FsEvent { user, result, .. } = event else { continue };
            assert_eq!(result, Ok(FsEvents::RENAME));
            let name = self.bed.core.fs_event_name().unwrap().to_str().unwrap().to_string();
            assert_eq!(Some((user, name)), self.model.next());
            (0..self.random.below(3)).for_each(|_| self.act());
            if depth < 2 && self.random.chance(100) {
                let outer = self.bed.core.suspend();
                self.run(depth + 1);
                self.bed.core.resume(outer);
            } else if depth == 0 && self.random.chance(50) {
                // The run is left.
                return;
            }
        }
        self.model.settle();
    }
}

#[test]
fn whatever_callbacks_do_the_order_is_that_of_simple_lists() {
    for seed in 0..300 {
        let mut bed = Bed::new(&["/0", "/1", "/2"]);
        // It never comes, and keeps the loop turning.
        let timer = bed.core.timer_init(0).unwrap();
        bed.core.timer_start(timer, u64::MAX, 0).unwrap();
        let (model, random) = (Model::default(), Random::new(seed));
        let mut machine = Machine { bed, model, random, keys: Vec::new(), names: 0 };
        for _ in 0..100 {
            (0..machine.random.below(4)).for_each(|_| machine.act());
            machine.run(0);
        }
        // What is left is told when nothing more is done.
        for (user, name) in std::iter::from_fn(|| machine.model.next()).collect::<Vec<_>>() {
            machine.bed.core.begin(Mode::NoWait);
            let told =
                std::iter::from_fn(|| machine.bed.core.next()).find(|event| matches!(event, Event::FsEvent { .. }));
            assert!(matches!(told, Some(Event::FsEvent { user: told, .. }) if told == user), "seed {seed}");
            assert_eq!(machine.bed.core.fs_event_name().unwrap().to_str(), Ok(&*name));
        }
        assert_eq!(machine.bed.told_of_files(), 0);
    }
}

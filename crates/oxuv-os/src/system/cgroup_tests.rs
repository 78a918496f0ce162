//! Control groups of other machines, as trees of files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;

const GIB: u64 = 1 << 30;

/// A directory of its own for each test.
struct Tree(PathBuf);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("oxuv-cgroup-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let tree = Tree(std::env::temp_dir().join(name));
        fs::create_dir_all(&tree.0).unwrap();
        for (file, text) in files {
            let file = tree.0.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        tree
    }

    fn groups(&self, membership: &str) -> Cgroups<'_> {
        Cgroups::new(&self.0, membership.into())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn version_2_in_its_own_namespace() {
    let tree = Tree::new(&[
        ("cgroup.controllers", "cpu memory\n"),
        ("memory.max", "2147483648\n"),
        ("memory.high", "max\n"),
        ("memory.current", "1073741824\n"),
        ("cpu.max", "250000 100000\n"),
    ]);
    let groups = tree.groups("0::/\n");
    assert_eq!(groups.memory_limit(), Some(2 * GIB));
    assert_eq!(groups.memory_left(8 * GIB), Some(GIB));
    assert_eq!(groups.memory_left(GIB), None, "beyond what the machine has");
    assert_eq!(groups.cpu_limit(), Some(2));
}

#[test]
fn the_tightest_of_nested_groups_counts() {
    let tree = Tree::new(&[
        ("outer.slice/memory.max", "4294967296\n"),
        ("outer.slice/memory.high", "3221225472\n"),
        ("outer.slice/memory.current", "3000000000\n"),
        ("outer.slice/cpu.max", "150000 100000\n"),
        ("outer.slice/middle/memory.max", "max\n"),
        ("outer.slice/middle/memory.high", "max\n"),
        ("outer.slice/middle/memory.current", "2000\n"),
        ("outer.slice/middle/cpu.max", "max 100000\n"),
        ("outer.slice/middle/inner/memory.max", "8589934592\n"),
        ("outer.slice/middle/inner/memory.high", "max\n"),
        ("outer.slice/middle/inner/memory.current", "1000\n"),
        ("outer.slice/middle/inner/cpu.max", "800000 100000\n"),
    ]);
    let groups = tree.groups("0::/outer.slice/middle/inner\n");
    assert_eq!(groups.memory_limit(), Some(3 * GIB));
    assert_eq!(groups.memory_left(64 * GIB), Some(3 * GIB - 3_000_000_000));
    assert_eq!(groups.cpu_limit(), Some(1));
    let groups = tree.groups("0::/outer.slice/middle/other\n");
    assert_eq!(groups.memory_limit(), Some(3 * GIB), "a group that is gone has those around it");
}

#[test]
fn no_limit_is_told_from_no_answer() {
    let tree = Tree::new(&[("a/memory.max", "max\n"), ("a/memory.high", "max\n"), ("a/cpu.max", "max 100000\n")]);
    assert_eq!(tree.groups("0::/a\n").memory_limit(), Some(u64::MAX));
    assert_eq!(tree.groups("0::/a\n").memory_left(64 * GIB), None);
    assert_eq!(tree.groups("0::/a\n").cpu_limit(), None);
    for membership in ["0::/\n", "0::/b\n", "", "\n", "nonsense\n", "0::\n", "0:\n", "0::/../a\n", "0::a\n"] {
        let groups = tree.groups(membership);
        assert_eq!((groups.memory_limit(), groups.cpu_limit()), (None, None), "{membership:?}");
    }
}

#[test]
fn a_group_over_its_limit_has_nothing_left() {
    let tree = Tree::new(&[("memory.max", "1000\n"), ("memory.high", "max\n"), ("memory.current", "1001\n")]);
    assert_eq!(tree.groups("0::/\n").memory_left(GIB), Some(0));
}

#[test]
fn nonsense_is_no_limit() {
    for text in ["", "\n", "0\n", "-1\n", "x\n", "1 2\n", "18446744073709551616\n", "maximum\n"] {
        let tree = Tree::new(&[("memory.max", text), ("memory.high", text), ("memory.current", text)]);
        assert_eq!(tree.groups("0::/\n").memory_limit(), None, "{text:?}");
    }
    for text in ["", "\n", "max\n", "100000\n", "100000 0\n", "x 100000\n", "-1 100000\n"] {
        let tree = Tree::new(&[("cpu.max", text)]);
        assert_eq!(tree.groups("0::/\n").cpu_limit(), None, "{text:?}");
    }
}

#[test]
fn a_fraction_of_a_processor_is_one() {
    for (text, expected) in [("1000 100000\n", 1), ("100000 100000\n", 1), ("199999 100000\n", 1), ("0 100000\n", 1)] {
        let tree = Tree::new(&[("cpu.max", text)]);
        assert_eq!(tree.groups("0::/\n").cpu_limit(), Some(expected), "{text:?}");
    }
}

/// As on a distribution with systemd that has both versions: version 2 is there, but controls nothing.
const HYBRID: &str = "12:memory:/user.slice/user-1000.slice\n11:cpuset:/\n4:cpu,cpuacct:/user.slice\n\
    1:name=systemd:/user.slice/user-1000.slice/session-2.scope\n0::/user.slice/user-1000.slice/session-2.scope\n";

#[test]
fn version_1_nested() {
    let tree = Tree::new(&[
        ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("memory/memory.soft_limit_in_bytes", "9223372036854771712\n"),
        ("memory/memory.usage_in_bytes", "5000000000\n"),
        ("memory/user.slice/memory.limit_in_bytes", "1073741824\n"),
        ("memory/user.slice/memory.soft_limit_in_bytes", "9223372036854771712\n"),
        ("memory/user.slice/memory.usage_in_bytes", "73741824\n"),
        ("memory/user.slice/user-1000.slice/memory.limit_in_bytes", "9223372036854771712\n"),
        ("memory/user.slice/user-1000.slice/memory.soft_limit_in_bytes", "9223372036854771712\n"),
        ("memory/user.slice/user-1000.slice/memory.usage_in_bytes", "1000\n"),
        ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("cpu,cpuacct/user.slice/cpu.cfs_quota_us", "350000\n"),
        ("cpu,cpuacct/user.slice/cpu.cfs_period_us", "100000\n"),
        ("unified/cgroup.controllers", "\n"),
    ]);
    let groups = tree.groups(HYBRID);
    assert_eq!(groups.memory_limit(), Some(GIB));
    assert_eq!(groups.memory_left(8 * GIB), Some(GIB - 73_741_824));
    assert_eq!(groups.cpu_limit(), Some(3));
}

#[test]
fn version_1_in_a_container_that_knows_its_path_on_the_host() {
    let tree = Tree::new(&[
        ("memory/memory.limit_in_bytes", "536870912\n"),
        ("memory/memory.soft_limit_in_bytes", "268435456\n"),
        ("memory/memory.usage_in_bytes", "100000000\n"),
        ("cpu/cpu.cfs_quota_us", "50000\n"),
        ("cpu/cpu.cfs_period_us", "100000\n"),
    ]);
    let groups = tree.groups("9:memory:/docker/0123abcd\n4:cpu,cpuacct:/docker/0123abcd\n");
    assert_eq!(groups.memory_limit(), Some(268_435_456));
    assert_eq!(groups.memory_left(GIB), Some(168_435_456));
    assert_eq!(groups.cpu_limit(), Some(1));
}

#[test]
fn version_1_without_hierarchy() {
    let tree = Tree::new(&[
        ("memory/outer/memory.limit_in_bytes", "4096\n"),
        ("memory/outer/memory.use_hierarchy", "0\n"),
        ("memory/outer/inner/memory.limit_in_bytes", "8192\n"),
        ("memory/outer/inner/memory.use_hierarchy", "0\n"),
    ]);
    assert_eq!(tree.groups("4:memory:/outer/inner\n").memory_limit(), Some(8192));
    assert_eq!(tree.groups("4:memory:/outer\n").memory_limit(), Some(4096));
}

#[test]
fn version_1_without_limits() {
    // The second is that of a machine with pages of 64 KiB, the third that of an old kernel.
    for none in ["9223372036854771712\n", "9223372036854710272\n", "9223372036854775807\n"] {
        let tree = Tree::new(&[
            ("memory/memory.limit_in_bytes", none),
            ("memory/memory.soft_limit_in_bytes", none),
            ("cpu/cpu.cfs_quota_us", "-1\n"),
            ("cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let groups = tree.groups("4:memory:/\n1:cpu:/\n0::/\n");
        assert_eq!(groups.memory_limit(), Some(u64::MAX));
        assert_eq!(groups.memory_left(GIB), None);
        assert_eq!(groups.cpu_limit(), None);
    }
}

#[test]
fn version_1_for_names_only_leaves_the_limits_to_version_2() {
    let tree = Tree::new(&[("a/memory.max", "4096\n"), ("a/memory.high", "max\n"), ("a/cpu.max", "400000 100000\n")]);
    let groups = tree.groups("1:name=systemd:/a\n0::/a\n");
    assert_eq!((groups.memory_limit(), groups.cpu_limit()), (Some(4096), Some(4)));
}

#[test]
fn odd_names_are_names() {
    let tree = Tree::new(&[("a:b c/memory.max", "4096\n"), ("a:b c/memory.high", "max\n")]);
    assert_eq!(tree.groups("0::/a:b c\n").memory_limit(), Some(4096));
    let tree = Tree::new(&[("memory/cpu/memory.limit_in_bytes", "4096\n")]);
    assert_eq!(tree.groups("1:name=memory:/x\n2:memory:/cpu\n").memory_limit(), Some(4096));
}

#[test]
fn this_process_can_be_asked() {
    if let Ok(groups) = Cgroups::of_this_process() {
        assert_ne!(groups.memory_limit(), Some(0));
        assert_ne!(groups.cpu_limit(), Some(0));
    }
}

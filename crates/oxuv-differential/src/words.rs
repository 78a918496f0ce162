//! Words that programs are drawn from.

/// How children fare that are more than one that waits.
pub(crate) const HOW: [&str; 13] = [
    "talking",
    "talking",
    "talking",
    "user",
    "missing",
    "unknown",
    "forbidden",
    "folder",
    "beneath",
    "empty",
    "nowhere",
    "closed",
    "below",
];

/// What pipes to children are.
pub(crate) const PIPES: [&str; 2] = ["pipe", "ipc"];

/// Kinds of which there may be some in another loop.
pub(crate) const IN_TWO: [&str; 7] = ["signal", "spawn", "timer", "idle", "prepare", "check", "async"];

/// As scripts call them.
pub(crate) const DESCRIPTORS: [&str; 8] = ["reading", "writing", "both", "both", "adding", "path", "bad", "below"];
pub(crate) const PATHS: [&str; 10] = ["x", "x", "y", "y", "z", "x/y", "x/", ".", "nothing", "long"];
pub(crate) const ON_DESCRIPTORS: [&str; 18] = [
    "close",
    "fstat",
    "fsync",
    "fdatasync",
    "ftruncate",
    "ftruncate_below",
    "fchmod",
    "fchown",
    "futime",
    "futime_before",
    "read",
    "read_on",
    "write",
    "write_on",
    "read_nothing",
    "write_nothing",
    "sendfile",
    "sendfile",
];
pub(crate) const ON_PATHS: [&str; 33] = [
    "stat",
    "lstat",
    "statfs",
    "access",
    "access_oddly",
    "chmod",
    "chown",
    "lchown",
    "utime",
    "lutime",
    "readlink",
    "realpath",
    "mkdtemp",
    "mkstemp",
    "opendir",
    "scandir",
    "unlink",
    "rmdir",
    "mkdir",
    "open",
    "open_write",
    "open_anew",
    "open_directory",
    "open_itself",
    "open_cut",
    "link",
    "symlink",
    "symlink",
    "rename",
    "copyfile",
    "copyfile",
    "copyfile_anew",
    "copyfile_oddly",
];

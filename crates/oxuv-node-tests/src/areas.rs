//! Which of Node's tests belong to which area.

/// Tests about one thing.
pub(crate) struct Area {
    pub(crate) name: &'static str,
    /// What their names begin with.
    prefixes: &'static [&'static str],
}

impl Area {
    pub(crate) fn has(&self, test: &str) -> bool {
        let file = test.rsplit('/').next().unwrap_or(test);
        self.prefixes.iter().any(|prefix| file.strip_prefix("test-").is_some_and(|name| name.starts_with(prefix)))
    }
}

/// The areas, in the order in which they are reported.
pub(crate) const AREAS: &[Area] = &[
    Area { name: "timers", prefixes: &["timer", "set-interval", "set-timeout"] },
    Area { name: "next-tick", prefixes: &["next-tick", "process-next-tick"] },
    Area { name: "microtasks", prefixes: &["microtask", "queue-microtask"] },
    Area {
        name: "promises",
        prefixes: &[
            "promise-unhandled",
            "promise-handled",
            "promise-reject",
            "promise-swallowed",
            "promises-",
            "unhandled-",
        ],
    },
    Area { name: "immediates", prefixes: &["immediate", "set-immediate", "timers-immediate", "timer-immediate"] },
    Area {
        name: "exit",
        prefixes: &["beforeexit", "process-beforeexit", "process-exit", "process-really-exit", "exit-"],
    },
    Area {
        name: "events",
        prefixes: &[
            "event-emitter",
            "event-capture",
            "events-",
            "eventtarget",
            "whatwg-events",
            "abortcontroller",
            "global-customevent",
        ],
    },
    Area {
        name: "exceptions",
        prefixes: &[
            "domexception",
            "emit-after-uncaught",
            "exception-handler",
            "global-domexception",
            "process-emitwarning",
            "process-exception-capture",
            "process-uncaught",
            "process-warning",
        ],
    },
    Area { name: "fs", prefixes: &["fs-", "file-", "filehandle-", "stream2-fs"] },
    Area { name: "net", prefixes: &["net-", "blocklist", "socketaddress"] },
];

/// Tests that are not run, with the reason.
pub(crate) const SKIPPED: &[(&str, &str)] = &[
    ("domain", "the module `domain` is deprecated and not part of oxuv"),
    ("-als", "AsyncLocalStorage is not part of oxuv yet"),
    ("timers-linked-list", "it is about a class of Node's own JavaScript"),
    ("queue-microtask.js", "it compares the engine's words for a class called without `new`"),
    ("promise-swallowed-event", "the event `multipleResolves` is deprecated, and the engine does not tell"),
    ("fs-open-flags", "it is about a function of Node's own JavaScript"),
    ("fs-util-validateoffsetlength", "it is about functions of Node's own JavaScript"),
    ("fs-utils-get-dirents", "it is about functions of Node's own JavaScript"),
    ("fs-syncwritestream", "it is about a class of Node's own JavaScript"),
    ("fs-filehandle.js", "it makes a FileHandle by a function of Node's own C++"),
    ("fs-readdir-types", "it replaces a function of Node's own C++"),
    ("fs-sync-fd-leak", "it replaces a function of Node's own C++"),
    ("fs-promises-readfile.js", "it replaces a function of Node's own C++"),
    ("file-handle-aggregate-errors", "it replaces a property that Node's own JavaScript looks at"),
    ("file-handle-close-errors", "it replaces a property that Node's own JavaScript looks at"),
    ("file-handle-op-errors", "it replaces a property that Node's own JavaScript looks at"),
    ("filehandle-readablestream", "web streams are not part of oxuv"),
    ("fs-read.js", "it compares the engine's words for a property of null"),
    ("fs-rmdir-recursive.js", "it looks at how Node's own JavaScript calls `rmdirSync`"),
    ("fs-write-buffer-large", "a buffer of the engine's has 2 GiB at most"),
    ("fs-watch-recursive", "it says that recursive watching does not work on Linux, as it does here"),
    ("net-connect-options-fd", "it is about a binding of Node's own"),
    ("net-end-close", "it is about a binding of Node's own"),
    ("net-normalize-args", "it is about Node's own JavaScript"),
    ("net-persistent-", "it is about a binding of Node's own"),
    ("net-server-listen-handle", "it is about a binding of Node's own"),
    ("socketaddress", "it is about Node's own JavaScript"),
    ("eventtarget-memoryleakwarning", "MessageChannel is not part of oxuv"),
];

/// Modules of Node's. A test that requires one that the program has not is not run.
pub(crate) const MODULES: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "net",
    "os",
    "path",
    "perf_hooks",
    "querystring",
    "readline",
    "repl",
    "stream",
    "stream/promises",
    "string_decoder",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

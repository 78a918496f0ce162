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
    Area { name: "events", prefixes: &["event-emitter", "events-", "eventtarget", "whatwg-events", "abortcontroller"] },
];

/// Tests that are not run, with the reason.
pub(crate) const SKIPPED: &[(&str, &str)] = &[
    ("domain", "the module `domain` is deprecated and not part of oxuv"),
    ("-als", "AsyncLocalStorage is not part of oxuv yet"),
    ("asynchooks", "the module `async_hooks` is not part of oxuv yet"),
];

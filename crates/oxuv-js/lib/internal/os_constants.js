// `os.constants`, as Linux has them.
'use strict';

const frozen = (values) => Object.freeze(Object.assign(Object.create(null), values));

// Numbers of errors, by name: those that the library knows.
const errno = {};
for (const number of binding('util').systemErrors()) {
  const [name] = binding('util').systemError(number);
  if (number > -1000) errno[name] = -number;
}

const signals = frozen({
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9,
  SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGCHLD: 17, SIGSTKFLT: 16, SIGCONT: 18,
  SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27,
  SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
});

module.exports = frozen({
  UV_UDP_REUSEADDR: 4,
  dlopen: frozen({ RTLD_LAZY: 1, RTLD_NOW: 2, RTLD_GLOBAL: 256, RTLD_LOCAL: 0, RTLD_DEEPBIND: 8 }),
  errno: frozen(errno),
  signals,
  priority: frozen({
    PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14,
    PRIORITY_HIGHEST: -20,
  }),
});

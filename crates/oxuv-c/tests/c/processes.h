/* What the programs about child processes share.
 *
 * not under TSan: it knows nothing of a child that shares its parent's memory until it runs its program, and gives up */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "net.h"

#include <sys/syscall.h>
#include <sys/wait.h>

static char output[65536];
static size_t output_size;
static int exits, ends;
static int64_t last_status;
static int last_signal;

static inline void on_exit_(uv_process_t* process, int64_t status, int signal) {
  CHECK(!uv_is_active((uv_handle_t*) process) && !uv_is_closing((uv_handle_t*) process));
  last_status = status;
  last_signal = signal;
  exits++;
}

static inline void give_room(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(output + output_size, (unsigned) (sizeof(output) - 1 - output_size));
}

static inline void collect(uv_stream_t* stream, ssize_t size, const uv_buf_t* buf) {
  (void) buf;
  if (size >= 0) {
    output_size += (size_t) size;
    return;
  }
  CHECK(size == UV_EOF);
  ends++;
  uv_close((uv_handle_t*) stream, free_handle);
}

/* The options for these arguments, which end with NULL; everything else is zero. */
#define COMMAND(options, ...)                                                                      \
  char* options##_args[] = {__VA_ARGS__, NULL};                                                    \
  uv_process_options_t options = {0};                                                              \
  options.file = options##_args[0];                                                                \
  options.args = options##_args;                                                                   \
  options.exit_cb = on_exit_

static inline uv_pipe_t* reader(void) {
  uv_pipe_t* pipe = (uv_pipe_t*) dirty(sizeof(*pipe));
  CHECK(uv_pipe_init(&loop, pipe, 0) == 0);
  return pipe;
}

/* Runs a command until it has ended, and gives what it has printed. */
static inline const char* printed_by(uv_process_options_t* options) {
  uv_process_t* process = (uv_process_t*) dirty(sizeof(*process));
  uv_pipe_t* pipe = reader();
  uv_stdio_container_t own[3] = {{0}}, *stdio = options->stdio != NULL ? options->stdio : own;
  if (options->stdio == NULL) options->stdio_count = 3;
  options->stdio = stdio;
  stdio[1].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[1].data.stream = (uv_stream_t*) pipe;
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  output_size = 0;
  exits = ends = 0;
  CHECK(uv_spawn(&loop, process, options) == 0);
  if (stdio == own) {
    options->stdio = NULL;
    options->stdio_count = 0;
  }
  CHECK(process->pid > 0 && uv_process_get_pid(process) == process->pid);
  CHECK(uv_read_start((uv_stream_t*) pipe, give_room, collect) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(exits == 1 && ends == 1);
  uv_close((uv_handle_t*) process, free_handle);
  run_dry();
  output[output_size] = '\0';
  return output;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Whether children have descriptors: not before Linux 5.3, nor under valgrind. Without, SIGCHLD tells, and a child that ends
 * at once may have been waited for by uv_spawn. */
static inline int have_descriptors(void) {
  long fd = syscall(SYS_pidfd_open, getpid(), 0);
  if (fd < 0) return 0;
  close((int) fd);
  return 1;
}

/* Until a child has ended; the loop does not know it yet. */
static inline void await_end(int pid) {
  siginfo_t info;
  CHECK(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT) == 0 || (errno == ECHILD && !have_descriptors()));
}

/* No child is left, not even a dead one. */
static inline void no_children(void) { CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); }

#endif

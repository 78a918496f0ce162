/* Child processes: how they are made, and how they end. */
#define _GNU_SOURCE
#include "processes.h"

#include <limits.h>
#include <sys/stat.h>

static void a_program_runs_and_ends(void) {
  uv_process_t* process = (uv_process_t*) dirty(sizeof(*process));
  COMMAND(options, "sh", "-c", "exit 42");
  process->data = process;
  CHECK(uv_spawn(&loop, process, &options) == 0);
  CHECK(process->type == UV_PROCESS && process->loop == &loop && process->data == process);
  CHECK(process->exit_cb == on_exit_ && process->status == 0);
  CHECK(uv_is_active((uv_handle_t*) process) && uv_has_ref((uv_handle_t*) process));
  CHECK(uv_fileno((uv_handle_t*) process, &(int){0}) == UV_EINVAL);
  exits = 0;
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(exits == 1 && last_status == 42 && last_signal == 0);
  CHECK(WIFEXITED(process->status) && WEXITSTATUS(process->status) == 42);
  CHECK(uv_process_kill(process, SIGTERM) == UV_ESRCH && uv_process_kill(process, 0) == UV_ESRCH);
  CHECK(uv_process_get_pid(process) > 0);
  uv_close((uv_handle_t*) process, free_handle);
  run_dry();
  no_children();
}

static void a_signal_ends_it(void) {
  static uv_process_t process;
  COMMAND(options, "cat");
  int fds[2];
  uv_stdio_container_t input = {0};
  CHECK(uv_pipe(fds, 0, 0) == 0);
  input.flags = UV_INHERIT_FD;
  input.data.fd = fds[0];
  options.stdio = &input;
  options.stdio_count = 1;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(uv_process_kill(&process, 0) == 0 && uv_process_kill(&process, 12345) == UV_EINVAL);
  CHECK(uv_kill(process.pid, 0) == 0 && uv_kill(process.pid, -1) == UV_EINVAL);
  CHECK(uv_process_kill(&process, SIGTERM) == 0);
  exits = 0;
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(exits == 1 && last_status == 0 && last_signal == SIGTERM);
  CHECK(WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGTERM);
  CHECK(uv_kill(process.pid, 0) == UV_ESRCH);
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
  close(fds[0]);
  close(fds[1]);
}

static void its_end_is_told_after_its_last_words(void) {
  /* Both are there before the loop looks. */
  int i;
  for (i = 0; i < 20; i++) {
    static uv_process_t process;
    COMMAND(options, "echo", "last words");
    uv_pipe_t* pipe = reader();
    uv_stdio_container_t stdio[2] = {{0}};
    stdio[1].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_WRITABLE_PIPE);
    stdio[1].data.stream = (uv_stream_t*) pipe;
    options.stdio = stdio;
    options.stdio_count = 2;
    CHECK(uv_spawn(&loop, &process, &options) == 0);
    CHECK(uv_read_start((uv_stream_t*) pipe, give_room, collect) == 0);
    await_end(process.pid);
    exits = 0;
    output_size = 0;
    while (exits == 0) CHECK(uv_run(&loop, UV_RUN_ONCE) != 2);
    CHECK(output_size == 11 && memcmp(output, "last words\n", 11) == 0);
    uv_close((uv_handle_t*) &process, NULL);
    run_dry();
  }
}

static uv_process_t several[8];
static int order[8], told;

static void note_order(uv_process_t* process, int64_t status, int signal) {
  CHECK(status == 0 && signal == 0);
  order[told++] = (int) (process - several);
  /* Who is closed now hears nothing of his end. */
  if (told == 3) uv_close((uv_handle_t*) &several[5], NULL);
}

static void several_ends_come_in_the_order_of_birth(void) {
  COMMAND(options, "true");
  int i;
  options.exit_cb = note_order;
  for (i = 0; i < 8; i++) CHECK(uv_spawn(&loop, &several[i], &options) == 0);
  for (i = 7; i >= 0; i--) await_end(several[i].pid);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(told == 7);
  for (i = 0; i < 7; i++) CHECK(order[i] == (i < 5 ? i : i + 1));
  for (i = 0; i < 8; i++) {
    if (i != 5) uv_close((uv_handle_t*) &several[i], NULL);
  }
  run_dry();
  no_children();
}

static void fail_on_the_stack(const char* file, int expected) {
  uv_process_t process;
  char* args[] = {(char*) file, NULL};
  uv_process_options_t options = {0};
  options.file = file;
  options.args = args;
  options.exit_cb = on_exit_;
  CHECK(uv_spawn(&loop, &process, &options) == expected);
  CHECK(process.pid == 0 && !uv_is_active((uv_handle_t*) &process));
  CHECK(uv_process_kill(&process, 0) == UV_ESRCH);
  memset(&process, 0xdb, sizeof(process));
}

static int walked, closed;

static void count_walked(uv_handle_t* handle, void* arg) {
  (void) handle;
  (void) arg;
  walked++;
}

static void count_closed(uv_handle_t* handle) {
  CHECK(handle->type == UV_PROCESS);
  closed++;
}

static void one_that_cannot_be_made_is_forgotten(void) {
  /* libuv#1933 */
  fail_on_the_stack("no such program", UV_ENOENT);
  fail_on_the_stack("/no/such/program", UV_ENOENT);
  fail_on_the_stack("/", UV_EACCES);
  fail_on_the_stack("/dev/null", UV_EACCES);
  fail_on_the_stack("/dev/null/x", UV_ENOTDIR);
  uv_walk(&loop, count_walked, NULL);
  CHECK(walked == 0);
  CHECK(uv_loop_close(&loop) == 0 && uv_loop_init(&loop) == 0);
  no_children();
}

static void one_that_cannot_be_made_can_be_closed(void) {
  static uv_process_t process;
  uv_pipe_t* pipe = reader();
  uv_stdio_container_t input = {0};
  COMMAND(options, "no such program");
  input.flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_READABLE_PIPE);
  input.data.stream = (uv_stream_t*) pipe;
  options.stdio = &input;
  options.stdio_count = 1;
  CHECK(uv_spawn(&loop, &process, &options) == UV_ENOENT);
  /* Node.js counts on it that the pipe is there all the same. */
  CHECK(uv_is_writable((uv_stream_t*) pipe) && pipe->io_watcher.fd >= 0);
  CHECK(uv_is_closing((uv_handle_t*) &process) == 0);
  uv_close((uv_handle_t*) &process, count_closed);
  CHECK(uv_is_closing((uv_handle_t*) &process));
  uv_close((uv_handle_t*) pipe, free_handle);
  closed = 0;
  run_dry();
  CHECK(closed == 1);
}

static void bad_options(void) {
  static uv_process_t process;
  static uv_pipe_t pipe;
  static uv_tcp_t tcp;
  static uv_timer_t timer;
  uv_stdio_container_t stdio[2] = {{0}};
  COMMAND(options, "true");
  CHECK(uv_pipe_init(&loop, &pipe, 0) == 0 && uv_tcp_init(&loop, &tcp) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_spawn(&loop, &process, NULL) == UV_EINVAL);
  options.file = NULL;
  CHECK(uv_spawn(&loop, &process, &options) == UV_EINVAL);
  options.file = "true";
  options.args = NULL;
  CHECK(uv_spawn(&loop, &process, &options) == UV_EINVAL);
  options.args = options_args;
  options.flags = 1 << 8;
  CHECK(uv_spawn(&loop, &process, &options) == UV_EINVAL);
  options.flags = 0;
  options.stdio_count = 2;
  CHECK(uv_spawn(&loop, &process, &options) == UV_EINVAL);
  options.stdio = stdio;
#define REFUSED(flags_, member, value, error)                                                      \
  stdio[0].flags = (uv_stdio_flags) (flags_);                                                      \
  stdio[0].data.member = (value);                                                                  \
  CHECK(uv_spawn(&loop, &process, &options) == (error))
  REFUSED(UV_CREATE_PIPE, stream, NULL, UV_EINVAL);
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &tcp, UV_EINVAL);
  REFUSED(UV_CREATE_PIPE | UV_INHERIT_FD, stream, (uv_stream_t*) &pipe, UV_EINVAL);
  REFUSED(UV_INHERIT_FD, fd, -1, UV_EINVAL);
  REFUSED(UV_INHERIT_FD, fd, 987, UV_EBADF);
  REFUSED(UV_INHERIT_STREAM, stream, NULL, UV_EINVAL);
  REFUSED(UV_INHERIT_STREAM, stream, (uv_stream_t*) &pipe, UV_EINVAL);
  REFUSED(UV_INHERIT_STREAM, stream, (uv_stream_t*) &tcp, UV_EINVAL);
  REFUSED(UV_INHERIT_STREAM, stream, (uv_stream_t*) &timer, UV_EINVAL);
  /* One pipe twice, one that is open, one that is closing. */
  stdio[1].flags = UV_CREATE_PIPE;
  stdio[1].data.stream = (uv_stream_t*) &pipe;
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &pipe, UV_EBUSY);
  CHECK(pipe.io_watcher.fd == -1);
  options.stdio_count = 1;
  options.cwd = "/no/such/directory";
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &pipe, UV_ENOENT);
  options.cwd = NULL;
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &pipe, UV_EBUSY);
  uv_close((uv_handle_t*) &pipe, NULL);
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &pipe, UV_EINVAL);
  run_dry();
  REFUSED(UV_CREATE_PIPE, stream, (uv_stream_t*) &pipe, UV_EINVAL);
  uv_close((uv_handle_t*) &tcp, NULL);
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
  no_children();
}

static void it_may_outlive_its_handle(void) {
  static uv_process_t process;
  int fds[2], pid, status;
  uv_stdio_container_t input = {0};
  COMMAND(options, "cat");
  CHECK(uv_pipe(fds, 0, 0) == 0);
  input.flags = UV_INHERIT_FD;
  input.data.fd = fds[0];
  options.stdio = &input;
  options.stdio_count = 1;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  pid = process.pid;
  exits = 0;
  uv_close((uv_handle_t*) &process, NULL);
  CHECK(uv_process_kill(&process, 0) == 0);
  run_dry();
  CHECK(uv_kill(pid, 0) == 0);
  close(fds[0]);
  close(fds[1]);
  /* The program waits for it, as with libuv. */
  CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && exits == 0);
}

static void an_unreferenced_one_lets_the_loop_end(void) {
  static uv_process_t process;
  COMMAND(options, "sleep", "100");
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  uv_unref((uv_handle_t*) &process);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_process_kill(&process, SIGKILL) == 0);
  uv_ref((uv_handle_t*) &process);
  exits = 0;
  run_dry();
  CHECK(exits == 1 && last_signal == SIGKILL);
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

static void a_callback_is_not_needed(void) {
  static uv_process_t process;
  COMMAND(options, "true");
  options.exit_cb = NULL;
  options.flags = UV_PROCESS_WINDOWS_HIDE | UV_PROCESS_WINDOWS_VERBATIM_ARGUMENTS | UV_PROCESS_WINDOWS_FILE_PATH_EXACT_NAME;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  run_dry();
  CHECK(!uv_is_active((uv_handle_t*) &process));
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

static void the_environment_and_its_path(void) {
  char directory[] = "/tmp/oxuv-path-XXXXXX", file[64], path[128], long_name[300];
  char *env[] = {"A=1", path, NULL}, *without_path[] = {"A=2", NULL};
  FILE* script;
  static uv_process_t process;
  COMMAND(options, "oxuv-says-a");
  COMMAND(shell, "sh", "-c", "echo $A");
  CHECK(mkdtemp(directory) != NULL);
  snprintf(file, sizeof(file), "%s/oxuv-says-a", directory);
  snprintf(path, sizeof(path), "PATH=/nowhere:%s:/usr/bin:/bin", directory);
  script = fopen(file, "w");
  CHECK(script != NULL && fputs("#!/bin/sh\necho $A $0\n", script) > 0 && fclose(script) == 0);
  CHECK(uv_spawn(&loop, &process, &options) == UV_ENOENT);
  options.env = env;
  /* It is there, and may not be run. */
  CHECK(chmod(file, 0600) == 0);
  CHECK(uv_spawn(&loop, &process, &options) == UV_EACCES);
  CHECK(chmod(file, 0700) == 0);
  CHECK(strncmp(printed_by(&options), "1 ", 2) == 0 && strstr(output, file) != NULL);
  /* Without PATH there are /usr/bin and /bin. */
  shell.env = without_path;
  CHECK(strcmp(printed_by(&shell), "2\n") == 0);
  /* An empty part is the directory to work in, and a relative path begins there. */
  snprintf(path, sizeof(path), "PATH=:/usr/bin:/bin");
  options.cwd = directory;
  CHECK(strncmp(printed_by(&options), "1 ", 2) == 0);
  options.file = "./oxuv-says-a";
  CHECK(strcmp(printed_by(&options), "1 ./oxuv-says-a\n") == 0);
  memset(long_name, 'x', sizeof(long_name));
  long_name[sizeof(long_name) - 1] = '\0';
  options.file = long_name;
  CHECK(uv_spawn(&loop, &process, &options) == UV_ENAMETOOLONG);
  /* Ours is the one that is there when it is made. */
  shell.env = NULL;
  CHECK(uv_os_setenv("A", "3") == 0);
  CHECK(strcmp(printed_by(&shell), "3\n") == 0);
  unlink(file);
  rmdir(directory);
}

static void the_directory_to_work_in(void) {
  COMMAND(options, "pwd");
  options.cwd = "/usr";
  CHECK(strcmp(printed_by(&options), "/usr\n") == 0);
}

static void a_session_of_its_own(void) {
  static uv_process_t process;
  COMMAND(options, "sleep", "100");
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(getsid(process.pid) == getsid(0) && getpgid(process.pid) == getpgid(0));
  CHECK(uv_process_kill(&process, SIGKILL) == 0);
  run_dry();
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
  options.flags = UV_PROCESS_DETACHED;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(getsid(process.pid) == process.pid && getpgid(process.pid) == process.pid);
  CHECK(uv_kill(-process.pid, SIGKILL) == 0);
  run_dry();
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

static void another_user(void) {
  static uv_process_t process;
  COMMAND(options, "sh", "-c", "id -u; id -g; grep Groups /proc/self/status");
  options.flags = UV_PROCESS_SETUID | UV_PROCESS_SETGID;
  options.uid = 12345;
  options.gid = 12346;
  if (getuid() != 0) {
    CHECK(uv_spawn(&loop, &process, &options) == UV_EPERM);
    options.flags = UV_PROCESS_SETUID;
    CHECK(uv_spawn(&loop, &process, &options) == UV_EPERM);
    return;
  }
  CHECK(strncmp(printed_by(&options), "12345\n12346\nGroups:", 19) == 0);
  /* None of ours is left. */
  CHECK(strpbrk(output + 19, "0123456789") == NULL);
  CHECK(getuid() == 0 && geteuid() == 0 && getgid() == 0);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  /* Not the directories of whoever runs this, which other users may not look into. */
  CHECK(uv_os_setenv("PATH", "/usr/local/bin:/usr/bin:/bin") == 0);
  a_program_runs_and_ends();
  a_signal_ends_it();
  its_end_is_told_after_its_last_words();
  several_ends_come_in_the_order_of_birth();
  one_that_cannot_be_made_is_forgotten();
  one_that_cannot_be_made_can_be_closed();
  bad_options();
  it_may_outlive_its_handle();
  an_unreferenced_one_lets_the_loop_end();
  a_callback_is_not_needed();
  the_environment_and_its_path();
  the_directory_to_work_in();
  a_session_of_its_own();
  another_user();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

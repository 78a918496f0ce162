/* Child processes and signals: what a child inherits of ours, and what of SIGCHLD is left to the program. */
#define _GNU_SOURCE
#include "processes.h"

#include <sys/ioctl.h>

static void let_pass(int signal) { (void) signal; }

static uv_sem_t started, done;

static void wait_in_a_thread(void* arg) {
  (void) arg;
  uv_sem_post(&started);
  uv_sem_wait(&done);
}

static void a_child_has_default_actions_and_an_empty_mask(void) {
  /* libuv#5085 */
  sigset_t blocked, before;
  uv_thread_t thread;
  struct sigaction action;
  COMMAND(options, "cat", "/proc/self/status");
  CHECK(uv_sem_init(&started, 0) == 0 && uv_sem_init(&done, 0) == 0);
  CHECK(uv_thread_create(&thread, wait_in_a_thread, NULL) == 0);
  uv_sem_wait(&started);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  signal(SIGRTMIN + 2, SIG_IGN);
  signal(SIGUSR2, let_pass);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGRTMIN + 1);
  CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  printed_by(&options);
  CHECK(strstr(output, "SigIgn:\t0000000000000000\n") != NULL);
  CHECK(strstr(output, "SigBlk:\t0000000000000000\n") != NULL);
  CHECK(strstr(output, "SigCgt:\t0000000000000000\n") != NULL);
  /* Ours are as they were. */
  CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
  CHECK(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == let_pass);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, &blocked) == 0);
  CHECK(sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGRTMIN + 1) == 1);
  CHECK(sigismember(&blocked, SIGHUP) == 0 && sigismember(&blocked, SIGSEGV) == 0);
  uv_sem_post(&done);
  CHECK(uv_thread_join(&thread) == 0);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGUSR1, SIG_DFL);
  signal(SIGUSR2, SIG_DFL);
  signal(SIGRTMIN + 2, SIG_DFL);
}

static volatile sig_atomic_t caught;

static void on_sigchld(int signal) {
  (void) signal;
  caught++;
}

static void the_programs_own_sigchld_is_left_alone(void) {
  struct sigaction own, found;
  COMMAND(options, "true");
  memset(&own, 0, sizeof(own));
  own.sa_handler = on_sigchld;
  own.sa_flags = SA_NOCLDSTOP;
  CHECK(sigaction(SIGCHLD, &own, NULL) == 0);
  printed_by(&options);
  CHECK(last_status == 0 && caught >= 1);
  CHECK(sigaction(SIGCHLD, NULL, &found) == 0);
  CHECK(found.sa_handler == on_sigchld && (found.sa_flags & SA_NOCLDSTOP));
  signal(SIGCHLD, SIG_DFL);
}

/* Whether the kernel keeps how a child has ended that was waited for (Linux 6.15), for who has a descriptor of it. */
static int ends_are_kept(void) {
  unsigned long long info[8] = {1 << 3};
  pid_t child = fork();
  int fd, kept;
  if (child == 0) _exit(3);
  fd = (int) syscall(SYS_pidfd_open, child, 0);
  CHECK(waitpid(child, NULL, 0) == child);
  kept = fd >= 0 && ioctl(fd, _IOWR(0xff, 11, info), info) == 0 && (info[0] & (1 << 3)) != 0;
  if (fd >= 0) close(fd);
  return kept;
}

static void with_sigchld_ignored_its_end_is_told(void) {
  static uv_process_t process;
  int i;
  COMMAND(options, "true");
  COMMAND(nothing, "no such program");
  signal(SIGCHLD, SIG_IGN);
  for (i = 0; i < 20; i++) {
    CHECK(uv_spawn(&loop, &process, &options) == 0);
    exits = 0;
    if (i % 2 == 0 && have_descriptors()) while (kill(process.pid, 0) == 0) usleep(1000);
    run_dry();
    CHECK(exits == 1 && last_signal == 0);
    /* It may be gone before there is a descriptor for it. Without descriptors the loop catches SIGCHLD, which is not ignored
     * from then on. */
    CHECK(last_status == -ECHILD || last_status == 0);
    CHECK(uv_process_kill(&process, 0) == UV_ESRCH);
    uv_close((uv_handle_t*) &process, NULL);
    run_dry();
    CHECK(uv_spawn(&loop, &process, &nothing) == UV_ENOENT);
  }
  signal(SIGCHLD, SIG_DFL);
}

static void with_sigchld_ignored_its_code_is_known_if_the_kernel_keeps_it(int is_kept) {
  int i;
  COMMAND(options, "sh", "-c", "read line; exit 3");
  signal(SIGCHLD, SIG_IGN);
  for (i = 0; i < 20; i++) {
    static uv_process_t process;
    uv_pipe_t* input = reader();
    uv_stdio_container_t stdio[1];
    int by_signal = i % 2;
    stdio[0].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_READABLE_PIPE);
    stdio[0].data.stream = (uv_stream_t*) input;
    options.stdio = stdio;
    options.stdio_count = 1;
    CHECK(uv_spawn(&loop, &process, &options) == 0);
    exits = 0;
    if (by_signal) CHECK(uv_process_kill(&process, SIGKILL) == 0);
    /* The end of its input is what it waits for. */
    uv_close((uv_handle_t*) input, free_handle);
    run_dry();
    CHECK(exits == 1);
    if (is_kept) CHECK(last_status == (by_signal ? 0 : 3) && last_signal == (by_signal ? SIGKILL : 0));
    else CHECK(last_status == -ECHILD && last_signal == 0);
    uv_close((uv_handle_t*) &process, NULL);
    run_dry();
  }
  signal(SIGCHLD, SIG_DFL);
}

static void an_end_that_others_have_waited_for_is_told(int is_kept) {
  static uv_process_t process;
  COMMAND(options, "sh", "-c", "exit 4");
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(waitpid(process.pid, NULL, 0) == process.pid);
  exits = 0;
  run_dry();
  CHECK(exits == 1 && last_status == (is_kept ? 4 : -ECHILD));
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

/* Waits until the child has stopped, or goes on. SIGCHLD may break in: not everywhere does `signal` mean that calls go on. */
static void wait_for_change(uv_pid_t pid, int change) {
  siginfo_t info;
  int code;
  do code = waitid(P_PID, (id_t) pid, &info, change);
  while (code == -1 && errno == EINTR);
  CHECK(code == 0 && info.si_pid == pid);
}

static void stops_are_no_ends(void) {
  static uv_process_t process;
  int i;
  COMMAND(options, "sleep", "100");
  signal(SIGCHLD, on_sigchld);
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  exits = 0;
  for (i = 0; i < 5; i++) {
    CHECK(uv_process_kill(&process, SIGSTOP) == 0);
    wait_for_change(process.pid, WSTOPPED);
    turn();
    CHECK(uv_process_kill(&process, SIGCONT) == 0);
    wait_for_change(process.pid, WCONTINUED);
    turn();
  }
  CHECK(exits == 0);
  CHECK(uv_process_kill(&process, SIGINT) == 0);
  run_dry();
  CHECK(exits == 1 && last_signal == SIGINT);
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
  signal(SIGCHLD, SIG_DFL);
}

static void loops_of_many_threads(void* arg) {
  int i;
  (void) arg;
  for (i = 0; i < 20; i++) {
    uv_loop_t own;
    uv_process_t processes[3];
    int nth;
    COMMAND(options, "sh", "-c", "exit 3");
    options.exit_cb = NULL;
    CHECK(uv_loop_init(&own) == 0);
    for (nth = 0; nth < 3; nth++) CHECK(uv_spawn(&own, &processes[nth], &options) == 0);
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
    for (nth = 0; nth < 3; nth++) {
      CHECK(WIFEXITED(processes[nth].status) && WEXITSTATUS(processes[nth].status) == 3);
      uv_close((uv_handle_t*) &processes[nth], NULL);
    }
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0 && uv_loop_close(&own) == 0);
  }
}

int main(void) {
  uv_thread_t threads[4];
  int i;
  CHECK(uv_loop_init(&loop) == 0);
  a_child_has_default_actions_and_an_empty_mask();
  if (have_descriptors()) {
    int is_kept = ends_are_kept();
    if (!is_kept) fprintf(stderr, "not run: this kernel does not keep how children have ended, so their codes are not seen\n");
    the_programs_own_sigchld_is_left_alone();
    an_end_that_others_have_waited_for_is_told(is_kept);
    with_sigchld_ignored_its_code_is_known_if_the_kernel_keeps_it(is_kept);
  }
  with_sigchld_ignored_its_end_is_told();
  stops_are_no_ends();
  for (i = 0; i < 4; i++) CHECK(uv_thread_create(&threads[i], loops_of_many_threads, NULL) == 0);
  for (i = 0; i < 4; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  no_children();
  puts("ok");
  return 0;
}

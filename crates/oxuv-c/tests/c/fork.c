/* Children of a fork: those that go on with their parent's loop, and those that just end.
 *
 * leaks are not looked for under valgrind: a child leaves alone what threads of its parent's have had, and that is lost there */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Calls `child` in a child, which ends by `_exit`, and waits for it. */
static void in_a_child(void (*child)(void)) {
  int status;
  pid_t pid;
  fflush(NULL);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    alarm(20);
    child();
    _exit(7);
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) fprintf(stderr, "the child's status is %x\n", status);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static int calls;
static int timer_calls;

static void count_timer(uv_timer_t* timer) {
  (void) timer;
  timer_calls++;
}

static void count_async(uv_async_t* async) {
  (void) async;
  calls++;
}

static void count_signal(uv_signal_t* handle, int signum) {
  (void) handle, (void) signum;
  calls++;
}

static void read_byte(uv_poll_t* poll, int status, int events) {
  char byte;
  CHECK(status == 0 && (events & UV_READABLE));
  CHECK(read(poll->io_watcher.fd, &byte, 1) == 1);
  calls++;
}

static uv_timer_t timer;
static uv_async_t async;
static uv_signal_t handle;
static uv_poll_t poll_handle;
static int fds[2], idle_fds[2];
static uv_tcp_t* tcp;
static int peer;

static void alloc(uv_handle_t* of, size_t size, uv_buf_t* buf) {
  static char room[100];
  (void) of, (void) size;
  *buf = uv_buf_init(room, sizeof(room));
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream, (void) buf;
  CHECK(nread == 5);
  calls++;
}

static void make_handles(void) {
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, count_timer, 50, 0) == 0);
  CHECK(uv_async_init(&loop, &async, count_async) == 0);
  CHECK(uv_signal_init(&loop, &handle) == 0 && uv_signal_start(&handle, count_signal, SIGUSR1) == 0);
  CHECK(pipe(fds) == 0 && pipe(idle_fds) == 0);
  CHECK(uv_poll_init(&loop, &poll_handle, fds[0]) == 0);
  CHECK(uv_poll_start(&poll_handle, UV_READABLE, read_byte) == 0);
  tcp = new_pair(&peer);
  CHECK(uv_read_start((uv_stream_t*) tcp, alloc, on_read) == 0);
  /* The kernel learns of them. */
  turn();
}

static void close_handles(void) {
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &async, NULL);
  uv_close((uv_handle_t*) &handle, NULL);
  uv_close((uv_handle_t*) &poll_handle, NULL);
  close_tcp(tcp);
  run_dry();
  CHECK(close(fds[0]) == 0 && close(fds[1]) == 0 && close(idle_fds[0]) == 0 && close(idle_fds[1]) == 0);
  CHECK(close(peer) == 0);
}

static void all_that_was_started(void) {
  int backend = uv_backend_fd(&loop);
  CHECK(uv_loop_fork(&loop) == 0);
  CHECK(uv_backend_fd(&loop) == backend && loop.backend_fd == backend);
  CHECK((fcntl(backend, F_GETFD) & FD_CLOEXEC) != 0);
  /* What was on its way is its parent's. */
  turn();
  CHECK(calls == 0);
  CHECK(uv_async_send(&async) == 0);
  turn();
  CHECK(calls == 1);
  raise(SIGUSR1);
  turn();
  CHECK(calls == 2);
  CHECK(write(fds[1], "x", 1) == 1);
  UNTIL(calls == 3);
  CHECK(send(peer, "hello", 5, 0) == 5);
  UNTIL(calls == 4);
  UNTIL(timer_calls == 1);
  CHECK(!uv_is_active((uv_handle_t*) &timer));
  close_handles();
  CHECK(uv_loop_close(&loop) == 0);
}

static void a_child_goes_on_with_the_loop(void) {
  make_handles();
  calls = 0;
  CHECK(uv_async_send(&async) == 0);
  raise(SIGUSR1);
  in_a_child(all_that_was_started);
  /* The parent's is as it was. */
  CHECK(calls == 0);
  turn();
  CHECK(calls == 2);
  CHECK(write(fds[1], "x", 1) == 1);
  UNTIL(calls == 3);
  CHECK(send(peer, "hello", 5, 0) == 5);
  UNTIL(calls == 4);
  UNTIL(timer_calls == 1);
  /* In the parent, it does no harm. */
  CHECK(uv_async_send(&async) == 0);
  raise(SIGUSR1);
  CHECK(uv_loop_fork(&loop) == 0);
  CHECK(write(fds[1], "x", 1) == 1);
  UNTIL(calls == 7);
  close_handles();
}

static void signal_and_close(void) {
  raise(SIGUSR1);
  /* What a program that ends may do. Its copies of the descriptors are closed. */
  uv_close((uv_handle_t*) &poll_handle, NULL);
  uv_close((uv_handle_t*) &handle, NULL);
  close_tcp(tcp);
}

static void just_signal(void) {
  raise(SIGUSR1);
  raise(SIGUSR1);
}

static void a_child_that_ends_takes_nothing_from_its_parent(void) {
  make_handles();
  uv_timer_stop(&timer);
  calls = 0;
  in_a_child(just_signal);
  turn();
  turn();
  CHECK(calls == 0);
  in_a_child(signal_and_close);
  turn();
  CHECK(calls == 0);
  CHECK(write(fds[1], "x", 1) == 1);
  UNTIL(calls == 1);
  CHECK(send(peer, "hello", 5, 0) == 5);
  UNTIL(calls == 2);
  raise(SIGUSR1);
  turn();
  CHECK(calls == 3);
  close_handles();
}

static void loop_of_its_own(void) {
  uv_loop_t own;
  uv_signal_t signal;
  CHECK(uv_loop_init(&own) == 0);
  CHECK(uv_signal_init(&own, &signal) == 0);
  CHECK(uv_signal_start_oneshot(&signal, count_signal, SIGUSR1) == 0);
  raise(SIGUSR1);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1);
  uv_close((uv_handle_t*) &signal, NULL);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&own) == 0);
}

static void a_child_has_signals_of_its_own(void) {
  make_handles();
  uv_timer_stop(&timer);
  calls = 0;
  in_a_child(loop_of_its_own);
  CHECK(calls == 0);
  close_handles();
}

/* Requests that threads of the parent work on. */

static uv_sem_t go;
static uv_work_t work[6];
static uv_fs_t stat_req;
static int canceled;

static void wait_for_go(uv_work_t* req) {
  (void) req;
  uv_sem_wait(&go);
}

static void after_work(uv_work_t* req, int status) {
  (void) req;
  CHECK(status == 0 || status == UV_ECANCELED);
  canceled += status == UV_ECANCELED;
  calls++;
}

static void after_stat(uv_fs_t* req) {
  CHECK(req->result == 0 || req->result == UV_ECANCELED);
  canceled += req->result == UV_ECANCELED;
  uv_fs_req_cleanup(req);
  calls++;
}

static void nothing(uv_work_t* req) { (void) req; }

static void outstanding(void) {
  uv_work_t more;
  CHECK(uv_loop_fork(&loop) == 0);
  CHECK(uv_cancel((uv_req_t*) &work[5]) == UV_EBUSY);
  CHECK(uv_queue_work(&loop, &more, nothing, after_work) == 0);
  run_dry();
  CHECK(calls == 8 && canceled == 7);
  CHECK(uv_loop_close(&loop) == 0);
}

static void requests_of_the_parent_are_cancelled_in_the_child(void) {
  int i;
  CHECK(uv_sem_init(&go, 0) == 0);
  calls = canceled = 0;
  for (i = 0; i < 6; i++) CHECK(uv_queue_work(&loop, &work[i], wait_for_go, after_work) == 0);
  CHECK(uv_fs_stat(&loop, &stat_req, "/", after_stat) == 0);
  in_a_child(outstanding);
  /* The child's child as well. */
  for (i = 0; i < 6; i++) uv_sem_post(&go);
  run_dry();
  CHECK(calls == 7 && canceled == 0);
  uv_sem_destroy(&go);
}

/* https://github.com/libuv/libuv/issues/4443 */
static void a_child_returns_from_main_while_there_are_threads(void) {
  int status;
  pid_t pid;
  calls = 0;
  CHECK(uv_fs_stat(&loop, &stat_req, "/", after_stat) == 0);
  run_dry();
  CHECK(calls == 1);
  fflush(NULL);
  pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    alarm(20);
    exit(9);
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static volatile int stop_forking;

static void fork_often(void* arg) {
  uv_loop_t own;
  uv_signal_t signal;
  (void) arg;
  CHECK(uv_loop_init(&own) == 0 && uv_signal_init(&own, &signal) == 0);
  while (!stop_forking) {
    CHECK(uv_signal_start(&signal, count_signal, SIGUSR2) == 0);
    CHECK(uv_signal_stop(&signal) == 0);
  }
  uv_close((uv_handle_t*) &signal, NULL);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&own) == 0);
}

/* A fork while another thread changes signal actions: the child can still do so. */
static void a_child_of_a_busy_process_has_signals(void) {
  uv_thread_t thread;
  int i;
  stop_forking = 0;
  CHECK(uv_thread_create(&thread, fork_often, NULL) == 0);
  for (i = 0; i < 50; i++) {
    calls = 0;
    in_a_child(loop_of_its_own);
  }
  stop_forking = 1;
  CHECK(uv_thread_join(&thread) == 0);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  a_child_goes_on_with_the_loop();
  a_child_that_ends_takes_nothing_from_its_parent();
  a_child_has_signals_of_its_own();
  requests_of_the_parent_are_cancelled_in_the_child();
  a_child_returns_from_main_while_there_are_threads();
/* TSan delivers no signal to the child of a process with threads; ASan's allocator is locked in one for good if another thread is in
 * it at the fork. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  a_child_of_a_busy_process_has_signals();
#endif
  CHECK(uv_loop_fork(&loop) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(uv_loop_fork(&loop) == UV_EINVAL);
  puts("ok");
  return 0;
}

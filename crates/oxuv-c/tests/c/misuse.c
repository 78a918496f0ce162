/* Handles that were never initialised, are closing, closed, or closed with their loop; loops that are closed or zero;
 * callbacks that are missing. Nothing of it may do harm, and what has a code says UV_EINVAL, or what libuv says.
 *
 * descriptors are not looked for under valgrind: some loops cannot be closed any more */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <unistd.h>

static uv_loop_t* loop;
static char bytes[8];
static int ends[2]; /* of a pipe */

static void never_timer(uv_timer_t* timer) { (void) timer; CHECK(!"nothing is to be called"); }
static void never_idle(uv_idle_t* idle) { (void) idle; CHECK(!"nothing is to be called"); }
static void never_prepare(uv_prepare_t* prepare) { (void) prepare; CHECK(!"nothing is to be called"); }
static void never_check(uv_check_t* check) { (void) check; CHECK(!"nothing is to be called"); }
static void never_async(uv_async_t* async) { (void) async; CHECK(!"nothing is to be called"); }
static void never_close(uv_handle_t* handle) { (void) handle; CHECK(!"nothing is to be called"); }
static void never_walk(uv_handle_t* handle, void* arg) { (void) handle; (void) arg; CHECK(!"nothing is to be called"); }
static void never_write(uv_write_t* req, int status) { (void) req; (void) status; CHECK(!"nothing is to be called"); }
static void never_shutdown(uv_shutdown_t* req, int status) { (void) req; (void) status; CHECK(!"nothing is to be called"); }
static void never_connection(uv_stream_t* stream, int status) { (void) stream; (void) status; CHECK(!"nothing is to be called"); }
static void never_alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) { (void) handle; (void) size; (void) buf; CHECK(!"nothing is to be called"); }
static void never_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) { (void) stream; (void) nread; (void) buf; CHECK(!"nothing is to be called"); }

static void never_connect(uv_connect_t* req, int status) { (void) req; (void) status; CHECK(!"nothing is to be called"); }
static void never_poll(uv_poll_t* poll, int status, int events) { (void) poll; (void) status; (void) events; CHECK(!"nothing is to be called"); }

static union {
  uv_handle_t handle;
  uv_timer_t timer;
  uv_idle_t idle;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_async_t async;
  uv_poll_t poll;
  uv_stream_t stream;
  uv_tcp_t tcp;
} any, server;

typedef enum { ZERO, CLOSING, CLOSED } state;

/* What goes for every kind. */
static void ask_handle(state is) {
  CHECK(uv_is_active(&any.handle) == 0);
  CHECK(uv_is_closing(&any.handle) == (is != ZERO));
  uv_unref(&any.handle);
  CHECK(uv_has_ref(&any.handle) == 0);
  uv_ref(&any.handle);
  CHECK(uv_has_ref(&any.handle) == (is == CLOSING));
  uv_close(&any.handle, never_close); /* once more, or for nothing */
  CHECK(uv_is_closing(&any.handle) == (is != ZERO));
  CHECK(loop == NULL || loop->active_handles == 0);
}

static void ask_timer(state is) {
  CHECK(uv_timer_start(&any.timer, never_timer, 0, 0) == UV_EINVAL);
  CHECK(uv_timer_start(&any.timer, NULL, 0, 0) == UV_EINVAL);
  CHECK(uv_timer_stop(&any.timer) == (is == ZERO ? UV_EINVAL : 0));
  CHECK(uv_timer_again(&any.timer) == (is == ZERO ? UV_EINVAL : 0));
  CHECK(uv_timer_get_due_in(&any.timer) == 0);
  uv_timer_set_repeat(&any.timer, 7);
  CHECK(uv_timer_get_repeat(&any.timer) == 7);
  CHECK(uv_timer_again(&any.timer) == (is == ZERO ? UV_EINVAL : 0));
}

static void ask_idle(state is) {
  CHECK(uv_idle_start(&any.idle, never_idle) == UV_EINVAL);
  CHECK(uv_idle_start(&any.idle, NULL) == UV_EINVAL);
  CHECK(uv_idle_stop(&any.idle) == (is == ZERO ? UV_EINVAL : 0));
}

static void ask_prepare(state is) {
  CHECK(uv_prepare_start(&any.prepare, never_prepare) == UV_EINVAL);
  CHECK(uv_prepare_start(&any.prepare, NULL) == UV_EINVAL);
  CHECK(uv_prepare_stop(&any.prepare) == (is == ZERO ? UV_EINVAL : 0));
}

static void ask_check(state is) {
  CHECK(uv_check_start(&any.check, never_check) == UV_EINVAL);
  CHECK(uv_check_start(&any.check, NULL) == UV_EINVAL);
  CHECK(uv_check_stop(&any.check) == (is == ZERO ? UV_EINVAL : 0));
}

static void ask_async(state is) { CHECK(uv_async_send(&any.async) == (is == ZERO ? UV_EINVAL : 0)); }

static void ask_tcp(state is) {
  struct sockaddr_in address;
  int length = sizeof(address);
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  uv_write_t write_req;
  uv_shutdown_t shutdown_req;
  uv_connect_t connect_req;
  uv_os_fd_t fd;
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_bind(&any.tcp, (struct sockaddr*) &address, 0) == UV_EINVAL);
  CHECK(uv_tcp_bind(&any.tcp, NULL, 0) == UV_EINVAL);
  CHECK(uv_async_send(&any.async) == UV_EINVAL); /* it is no async handle */
  CHECK(uv_try_write(&any.stream, NULL, 1) == UV_EINVAL);
  CHECK(uv_write(&write_req, &any.stream, NULL, 1, never_write) == UV_EINVAL);
  CHECK(uv_listen(&any.stream, 8, never_connection) == UV_EINVAL);
  CHECK(uv_accept(&any.stream, &any.stream) == (is == ZERO ? UV_EINVAL : UV_EAGAIN)); /* no connection waits */
  CHECK(uv_accept(&server.stream, &any.stream) < 0);
  CHECK(uv_accept(&any.stream, &server.stream) == (is == ZERO ? UV_EINVAL : UV_EAGAIN));
  CHECK(uv_tcp_connect(&connect_req, &any.tcp, (struct sockaddr*) &address, never_connect) == UV_EINVAL);
  CHECK(uv_tcp_open(&any.tcp, 0) == UV_EINVAL);
  CHECK(uv_tcp_nodelay(&any.tcp, 1) == (is == ZERO ? UV_EINVAL : 0)); /* libuv remembers it */
  CHECK(uv_tcp_keepalive(&any.tcp, 1, 1) == (is == ZERO ? UV_EINVAL : 0));
  CHECK(uv_tcp_close_reset(&any.tcp, never_close) == (is == ZERO ? UV_EINVAL : UV_EBADF));
  CHECK(uv_is_readable(&any.stream) == 0 && uv_is_writable(&any.stream) == 0);
  CHECK(uv_stream_get_write_queue_size(&any.stream) == 0);
  CHECK(uv_stream_set_blocking(&any.stream, 1) < 0);
  CHECK(uv_send_buffer_size(&any.handle, &length) < 0 && uv_recv_buffer_size(&any.handle, &length) < 0);
  CHECK(uv_read_start(&any.stream, never_alloc, never_read) == UV_EINVAL);
  CHECK(uv_read_stop(&any.stream) == (is == ZERO ? UV_EINVAL : 0));
  CHECK(uv_write(&write_req, &any.stream, &buf, 1, never_write) == (is == ZERO ? UV_EINVAL : UV_EBADF));
  CHECK(uv_try_write(&any.stream, &buf, 1) < 0);
  CHECK(uv_shutdown(&shutdown_req, &any.stream, never_shutdown) == (is == ZERO ? UV_EINVAL : UV_ENOTCONN));
  CHECK(uv_tcp_getsockname(&any.tcp, (struct sockaddr*) &address, &length) < 0);
  CHECK(uv_fileno(&any.handle, &fd) == (is == ZERO ? UV_EINVAL : UV_EBADF));
  CHECK(loop == NULL || loop->active_reqs.count == 0);
}

static void ask_poll(state is) {
  uv_os_fd_t fd;
  CHECK(uv_poll_start(&any.poll, UV_READABLE, never_poll) == UV_EINVAL);
  CHECK(uv_poll_start(&any.poll, 0, never_poll) == UV_EINVAL);
  CHECK(uv_poll_stop(&any.poll) == (is == ZERO ? UV_EINVAL : 0));
  CHECK(uv_fileno(&any.handle, &fd) == (is == ZERO ? UV_EINVAL : UV_EBADF));
}

/* A handle in each of its states in turn: zero, closing, closed; and closed with a loop that is gone. */
static void ask(uv_handle_type type, void (*ask_kind)(state)) {
  uv_loop_t* gone;
  memset(&any, 0, sizeof(any));
  ask_kind(ZERO);
  ask_handle(ZERO);
  CHECK(uv_handle_get_loop(&any.handle) == NULL && uv_handle_get_type(&any.handle) == UV_UNKNOWN_HANDLE);
  memset(&any, 0xdb, sizeof(any));
  loop = uv_loop_new();
  CHECK(loop != NULL);
  CHECK(uv_tcp_init(loop, &server.tcp) == 0);
  switch (type) {
    case UV_TIMER:
      CHECK(uv_timer_init(loop, &any.timer) == 0 && uv_timer_start(&any.timer, never_timer, 1, 1) == 0);
      break;
    case UV_IDLE: CHECK(uv_idle_init(loop, &any.idle) == 0 && uv_idle_start(&any.idle, never_idle) == 0); break;
    case UV_PREPARE:
      CHECK(uv_prepare_init(loop, &any.prepare) == 0 && uv_prepare_start(&any.prepare, never_prepare) == 0);
      break;
    case UV_CHECK: CHECK(uv_check_init(loop, &any.check) == 0 && uv_check_start(&any.check, never_check) == 0); break;
    case UV_POLL:
      CHECK(uv_poll_init(loop, &any.poll, ends[0]) == 0);
      CHECK(uv_poll_start(&any.poll, UV_READABLE, never_poll) == 0);
      break;
    case UV_ASYNC: CHECK(uv_async_init(loop, &any.async, never_async) == 0); break;
    default: CHECK(uv_tcp_init(loop, &any.tcp) == 0); break;
  }
  uv_close(&any.handle, NULL);
  ask_kind(CLOSING);
  ask_handle(CLOSING);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  ask_kind(CLOSED);
  ask_handle(CLOSED);
  uv_close(&server.handle, NULL);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  gone = loop;
  loop = NULL;
  uv_loop_delete(gone);
  ask_kind(CLOSED);
  ask_handle(CLOSED);
}

/* Loops */

static void ask_closed_loop(uv_loop_t* closed) {
  uv_metrics_t metrics;
  FILE* file = tmpfile();
  CHECK(file != NULL);
  CHECK(uv_run(closed, UV_RUN_DEFAULT) == 0);
  CHECK(uv_run(closed, UV_RUN_ONCE) == 0);
  CHECK(uv_run(closed, UV_RUN_NOWAIT) == 0);
  CHECK(uv_loop_alive(closed) == 0);
  CHECK(uv_now(closed) == 0);
  uv_update_time(closed);
  uv_stop(closed);
  CHECK(uv_backend_fd(closed) == -1);
  CHECK(uv_backend_timeout(closed) == 0);
  CHECK(uv_loop_configure(closed, UV_METRICS_IDLE_TIME) == UV_EINVAL);
  CHECK(uv_metrics_idle_time(closed) == 0);
  CHECK(uv_metrics_info(closed, &metrics) == UV_EINVAL);
  uv_walk(closed, never_walk, NULL);
  uv_walk(closed, NULL, NULL);
  uv_print_all_handles(closed, file);
  uv_print_active_handles(closed, file);
  CHECK(ftell(file) == 0 && fclose(file) == 0);
  CHECK(uv_timer_init(closed, &any.timer) == UV_EINVAL);
  CHECK(uv_idle_init(closed, &any.idle) == UV_EINVAL);
  CHECK(uv_prepare_init(closed, &any.prepare) == UV_EINVAL);
  CHECK(uv_check_init(closed, &any.check) == UV_EINVAL);
  CHECK(uv_async_init(closed, &any.async, never_async) == UV_EINVAL);
  CHECK(uv_tcp_init(closed, &any.tcp) == UV_EINVAL);
  CHECK(uv_tcp_init_ex(closed, &any.tcp, AF_INET) == UV_EINVAL);
  CHECK(uv_poll_init(closed, &any.poll, ends[0]) == UV_EINVAL);
  CHECK(uv_loop_close(closed) == UV_EINVAL);
}

static void closed_loops(void) {
  uv_loop_t its;
  memset(&its, 0, sizeof(its));
  ask_closed_loop(&its);
  memset(&its, 0xdb, sizeof(its));
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_loop_close(&its) == 0);
  ask_closed_loop(&its);
  CHECK(uv_loop_init(&its) == 0); /* and it may begin anew */
  CHECK(uv_loop_close(&its) == 0);
}

static void noop(uv_timer_t* timer) { (void) timer; }

static void an_open_loop(void) {
  uv_loop_t* its = uv_loop_new();
  uv_timer_t timer;
  CHECK(its != NULL);
  CHECK(uv_run(its, (uv_run_mode) 3) == UV_EINVAL);
  CHECK(uv_run(its, (uv_run_mode) -1) == UV_EINVAL);
  CHECK(uv_metrics_info(its, NULL) == UV_EINVAL);
  CHECK(uv_timer_init(its, &timer) == 0 && uv_timer_start(&timer, noop, 0, 0) == 0);
  CHECK(uv_fileno((uv_handle_t*) &timer, NULL) == UV_EINVAL);
  uv_walk(its, NULL, NULL);
  uv_loop_delete(its); /* has a handle: stays as it is */
  CHECK(uv_is_active((uv_handle_t*) &timer));
  CHECK(uv_run(its, UV_RUN_DEFAULT) == 0 && !uv_is_active((uv_handle_t*) &timer));
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(its) == 0);
  uv_loop_delete(its); /* closed before: its memory is freed now */
  uv_loop_delete(NULL);
}

/* A key knows its own loop only: here the closed handle's memory has a key that another handle of the loop had. */
static void a_copy_of_a_handle_is_stale_once_that_is_closed(void) {
  uv_loop_t its;
  uv_timer_t timer, copy, another;
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_timer_init(&its, &timer) == 0 && uv_timer_start(&timer, noop, 0, 1) == 0);
  copy = timer;
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_timer_init(&its, &another) == 0 && uv_timer_start(&another, noop, 10000, 0) == 0); /* where that one was */
  CHECK(uv_timer_start(&copy, never_timer, 0, 0) == UV_EINVAL);
  CHECK(!uv_is_active((uv_handle_t*) &copy) && !uv_has_ref((uv_handle_t*) &copy));
  CHECK(uv_timer_stop(&copy) == UV_EINVAL);
  uv_unref((uv_handle_t*) &copy);
  uv_close((uv_handle_t*) &copy, never_close);
  CHECK(uv_is_active((uv_handle_t*) &another) && !uv_is_closing((uv_handle_t*) &another));
  CHECK(its.active_handles == 1);
  uv_close((uv_handle_t*) &another, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&its) == 0);
}

/* A handle of one kind, given to the functions of another. */
static void handles_of_another_kind(void) {
  uv_loop_t its;
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_tcp_init(&its, &any.tcp) == 0);
  CHECK(uv_timer_start(&any.timer, noop, 0, 0) == UV_EINVAL);
  CHECK(uv_timer_stop(&any.timer) == UV_EINVAL);
  CHECK(uv_idle_start(&any.idle, never_idle) == UV_EINVAL);
  uv_close(&any.handle, NULL);
  CHECK(uv_idle_init(&its, &server.idle) == 0);
  CHECK(uv_listen(&server.stream, 8, never_connection) == UV_EINVAL);
  CHECK(uv_read_start(&server.stream, never_alloc, never_read) == UV_EINVAL);
  CHECK(uv_try_write(&server.stream, &buf, 1) < 0);
  uv_close(&server.handle, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&its) == 0);
}

static void count_visits(uv_handle_t* handle, void* arg) {
  CHECK(handle == &any.handle);
  ++*(int*) arg;
}

static void close_visited(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

/* The memory's first handle cannot be reached any more: the loop keeps it, and says so. Nothing else is harmed. */
static void a_handle_initialised_twice(void) {
  static uv_loop_t its; /* there until the end */
  uv_timer_t other;
  int visits = 0;
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_timer_init(&its, &any.timer) == 0);
  CHECK(uv_timer_init(&its, &any.timer) == 0);
  uv_walk(&its, count_visits, &visits);
  CHECK(visits == 2);
  CHECK(uv_timer_init(&its, &other) == 0 && uv_timer_start(&other, noop, 1, 0) == 0);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  uv_walk(&its, close_visited, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&its) == UV_EBUSY);
}

static void callbacks_are_missing(void) {
  uv_loop_t its;
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_tcp_init(&its, &any.tcp) == 0);
  CHECK(uv_read_start(&any.stream, NULL, never_read) == UV_EINVAL);
  CHECK(uv_read_start(&any.stream, never_alloc, NULL) == UV_EINVAL);
  CHECK(uv_read_start(NULL, never_alloc, never_read) == UV_EINVAL);
  CHECK(uv_timer_init(&its, &server.timer) == 0);
  CHECK(uv_timer_start(&server.timer, NULL, 0, 0) == UV_EINVAL);
  CHECK(!uv_is_active(&server.handle));
  CHECK(uv_timer_start(&server.timer, noop, 100000, 0) == 0);
  CHECK(uv_timer_start(&server.timer, NULL, 0, 0) == UV_EINVAL);
  CHECK(uv_is_active(&server.handle)); /* as before */
  CHECK(uv_timer_get_due_in(&server.timer) == 100000);
  uv_close(&server.handle, NULL);
  uv_close(&any.handle, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&its) == 0);
}

/* The fields are public: a program may write to them. */
static void callbacks_are_taken_away(void) {
  static uv_idle_t idle;
  static uv_prepare_t prepare;
  static uv_check_t check;
  static uv_timer_t timer;
  uv_loop_t its;
  CHECK(uv_loop_init(&its) == 0);
  CHECK(uv_idle_init(&its, &idle) == 0 && uv_idle_start(&idle, never_idle) == 0);
  CHECK(uv_prepare_init(&its, &prepare) == 0 && uv_prepare_start(&prepare, never_prepare) == 0);
  CHECK(uv_check_init(&its, &check) == 0 && uv_check_start(&check, never_check) == 0);
  CHECK(uv_timer_init(&its, &timer) == 0 && uv_timer_start(&timer, never_timer, 0, 0) == 0);
  idle.idle_cb = NULL;
  prepare.prepare_cb = NULL;
  check.check_cb = NULL;
  timer.timer_cb = NULL;
  CHECK(uv_run(&its, UV_RUN_NOWAIT) != 0);
  uv_close((uv_handle_t*) &idle, NULL);
  uv_close((uv_handle_t*) &prepare, NULL);
  uv_close((uv_handle_t*) &check, NULL);
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(&its, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&its) == 0);
}

int main(void) {
  CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  ask(UV_TIMER, ask_timer);
  ask(UV_IDLE, ask_idle);
  ask(UV_PREPARE, ask_prepare);
  ask(UV_CHECK, ask_check);
  ask(UV_ASYNC, ask_async);
  CHECK(pipe(ends) == 0);
  ask(UV_POLL, ask_poll);
  ask(UV_TCP, ask_tcp);
  closed_loops();
  an_open_loop();
  a_copy_of_a_handle_is_stale_once_that_is_closed();
  handles_of_another_kind();
  callbacks_are_missing();
  callbacks_are_taken_away();
  a_handle_initialised_twice();
  puts("ok");
  return 0;
}

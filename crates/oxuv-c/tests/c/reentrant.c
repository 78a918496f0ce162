/* Callbacks that close, stop, restart and free themselves and each other. All memory comes dirty, and is spoiled and
 * freed in the close callback. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static uv_loop_t loop;
static int closed;

static void on_close(uv_handle_t* handle) {
  CHECK(uv_is_closing(handle) && !uv_is_active(handle));
  closed++;
  free_handle(handle);
}

static void run_dry(int expected_closed) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(closed == expected_closed);
  closed = 0;
}

/* Timers */

static uv_timer_t* timers[3];
static int fired;

static void never(uv_timer_t* timer) {
  (void) timer;
  CHECK(!"this timer was stopped or closed");
}

static void close_itself(uv_timer_t* timer) {
  fired++;
  uv_close((uv_handle_t*) timer, on_close);
  CHECK(uv_timer_start(timer, never, 0, 0) == UV_EINVAL);
}

/* All three are due in one pass. */
static void close_stop_and_restart(uv_timer_t* timer) {
  fired++;
  CHECK(timer == timers[0]);
  CHECK(!uv_is_active((uv_handle_t*) timers[1])); /* its turn has not come */
  uv_close((uv_handle_t*) timers[1], on_close);
  CHECK(uv_timer_stop(timers[2]) == 0);
  CHECK(uv_timer_start(timers[2], close_itself, 1, 1) == 0);
  CHECK(uv_timer_start(timer, close_itself, 0, 1) == 0);
}

static uv_timer_t* new_timer(uv_timer_cb cb, uint64_t timeout) {
  uv_timer_t* timer = dirty(sizeof(*timer));
  CHECK(uv_timer_init(&loop, timer) == 0);
  CHECK(uv_timer_start(timer, cb, timeout, 0) == 0);
  return timer;
}

static void timers_in_their_callbacks(void) {
  timers[0] = new_timer(close_stop_and_restart, 0);
  timers[1] = new_timer(never, 0);
  timers[2] = new_timer(never, 0);
  run_dry(3);
  CHECK(fired == 3);
}

/* A close callback that makes another handle of the memory */

static void idle_once(uv_idle_t* idle) {
  uv_close((uv_handle_t*) idle, on_close);
}

static void begin_again(uv_handle_t* handle) {
  closed++;
  memset(handle, 0xdb, sizeof(uv_idle_t));
  CHECK(uv_idle_init(&loop, (uv_idle_t*) handle) == 0);
  CHECK(uv_idle_start((uv_idle_t*) handle, idle_once) == 0);
}

static void memory_is_the_callers_in_the_close_callback(void) {
  uv_timer_t* unheard = new_timer(never, 0);
  uv_close((uv_handle_t*) new_timer(never, 0), begin_again);
  uv_close((uv_handle_t*) unheard, NULL);
  run_dry(2);
  free(unheard);
}

/* Idle, prepare, check */

static uv_idle_t* idles[3];
static uv_check_t* check;

static void on_idle(uv_idle_t* idle) {
  int i;
  for (i = 0; i < 3; i++) { /* whoever comes first, closes the others */
    if (idles[i] != idle) uv_close((uv_handle_t*) idles[i], on_close);
  }
  CHECK(uv_idle_stop(idle) == 0);
  CHECK(uv_idle_start(idle, idle_once) == 0);
}

static void on_check(uv_check_t* self) {
  CHECK(uv_check_stop(self) == 0);
  uv_close((uv_handle_t*) self, on_close);
}

static void on_prepare(uv_prepare_t* prepare) {
  uv_close((uv_handle_t*) prepare, on_close);
  CHECK(uv_check_start(check, on_check) == 0);
}

static void watchers_in_their_callbacks(void) {
  uv_prepare_t* prepare = dirty(sizeof(*prepare));
  int i;
  for (i = 0; i < 3; i++) {
    idles[i] = dirty(sizeof(uv_idle_t));
    CHECK(uv_idle_init(&loop, idles[i]) == 0);
    CHECK(uv_idle_start(idles[i], on_idle) == 0);
  }
  check = dirty(sizeof(*check));
  CHECK(uv_check_init(&loop, check) == 0);
  CHECK(uv_prepare_init(&loop, prepare) == 0);
  CHECK(uv_prepare_start(prepare, on_prepare) == 0);
  run_dry(5);
}

/* A run inside a callback */

static void run_inside(uv_timer_t* timer) {
  uv_close((uv_handle_t*) timer, on_close);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0); /* frees the timer, and fires the other one */
  CHECK(closed == 2);
}

static void a_run_in_a_callback(void) {
  new_timer(run_inside, 0);
  new_timer(close_itself, 0);
  run_dry(2);
}

/* Streams: a listener, and a plain socket at the other end */

static uv_tcp_t* listener;
static struct sockaddr_in address;
static uv_tcp_t* accepted;

static void on_connection(uv_stream_t* server, int status) {
  CHECK(status == 0 && server == (uv_stream_t*) listener);
  accepted = dirty(sizeof(*accepted));
  CHECK(uv_tcp_init(&loop, accepted) == 0);
  CHECK(uv_accept(server, (uv_stream_t*) accepted) == 0);
}

static void listen_somewhere(void) {
  int size = sizeof(address);
  listener = dirty(sizeof(*listener));
  CHECK(uv_tcp_init(&loop, listener) == 0);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_bind(listener, (const struct sockaddr*) &address, 0) == 0);
  CHECK(uv_listen((uv_stream_t*) listener, 8, on_connection) == 0);
  CHECK(uv_tcp_getsockname(listener, (struct sockaddr*) &address, &size) == 0);
}

/* The other end of a new connection, whose this end is `accepted`; with something to read on both. */
static int new_connection(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && connect(fd, (struct sockaddr*) &address, sizeof(address)) == 0);
  CHECK(write(fd, "hello", 5) == 5);
  accepted = NULL;
  while (accepted == NULL) CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
  return fd;
}

static int reads;
static char memory[64];

static void alloc_some(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(memory, sizeof(memory));
}

static void alloc_and_close(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  alloc_some(handle, size, buf);
  uv_close(handle, on_close);
}

static void alloc_and_stop(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  alloc_some(handle, size, buf);
  CHECK(uv_read_stop((uv_stream_t*) handle) == 0);
}

static void alloc_nothing(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  (void) buf;
}

static void get_buffer_back(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream;
  CHECK(nread == 0 && buf->base == memory);
  reads++;
}

static void read_and_close(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  CHECK(nread == 5 && memcmp(buf->base, "hello", 5) == 0);
  reads++;
  uv_close((uv_handle_t*) stream, on_close);
}

static void restart_elsewhere(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  CHECK(nread == 0 && buf->base == memory);
  reads++;
  CHECK(uv_read_start(stream, alloc_some, read_and_close) == 0);
}

static void no_buffers(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  CHECK(nread == UV_ENOBUFS && buf->base == NULL && buf->len == 0);
  CHECK(uv_read_stop(stream) == 0);
  CHECK(uv_read_start(stream, alloc_some, read_and_close) == 0);
}

static void read_until_closed(uv_alloc_cb alloc_cb, uv_read_cb read_cb, int expected_reads) {
  int fd = new_connection();
  CHECK(uv_read_start((uv_stream_t*) accepted, alloc_cb, read_cb) == 0);
  reads = 0;
  while (closed == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK(closed == 1 && reads == expected_reads);
  closed = 0;
  close(fd);
}

static void streams_in_their_read_callbacks(void) {
  read_until_closed(alloc_some, read_and_close, 1);
  read_until_closed(alloc_and_close, get_buffer_back, 1);
  read_until_closed(alloc_and_stop, restart_elsewhere, 2);
  read_until_closed(alloc_nothing, no_buffers, 1);
}

/* alloc runs the loop until the stream's memory is gone. Nothing is heard of the stream after that. */
static void alloc_and_run(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  alloc_some(handle, size, buf);
  uv_close(handle, on_close);
  while (closed == 0) uv_run(&loop, UV_RUN_NOWAIT);
}

static void never_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream;
  (void) nread;
  (void) buf;
  CHECK(!"the stream is closed");
}

/* Writes */

static int canceled;
static int written;
static char big[16 << 20];

static void on_canceled(uv_write_t* req, int status) {
  CHECK(status == UV_ECANCELED);
  CHECK(closed == 0); /* requests come before the handle */
  canceled++;
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static void on_write_close(uv_write_t* req, int status) {
  CHECK(status == 0 && req->handle->write_queue_size == 0);
  written++;
  uv_close((uv_handle_t*) req->handle, on_close);
  free(req);
}

static void on_write_again(uv_write_t* req, int status) {
  uv_stream_t* stream = req->handle;
  uv_buf_t buf = uv_buf_init(memory, 1);
  CHECK(status == 0);
  written++;
  memset(req, 0xff, sizeof(*req)); /* it may be used again */
  CHECK(uv_write(req, stream, &buf, 1, on_write_close) == 0);
}

static void on_shutdown_canceled(uv_shutdown_t* req, int status) {
  CHECK(status == UV_ECANCELED && closed == 0 && canceled == 5);
  free(req);
}

static void writes_in_their_callbacks(void) {
  uv_buf_t bufs[6];
  uv_write_t* req = dirty(sizeof(*req));
  uv_shutdown_t* shutdown = dirty(sizeof(*shutdown));
  uv_stream_t* stream;
  int fd = new_connection();
  int i;
  for (i = 0; i < 6; i++) bufs[i] = uv_buf_init(memory, 8);
  stream = (uv_stream_t*) accepted;
  CHECK(uv_write(req, stream, bufs, 0, on_write_again) == UV_EINVAL);
  CHECK(uv_write(req, stream, bufs, 6, on_write_again) == 0);
  CHECK(stream->write_queue_size == 0); /* all sent, not yet reported */
  CHECK(uv_try_write(stream, bufs, 6) == 48);
  CHECK(written == 0);
  while (closed == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK(written == 2 && closed == 1);
  closed = 0;
  close(fd);

  fd = new_connection();
  stream = (uv_stream_t*) accepted;
  for (i = 0; i < 6; i++) bufs[i] = uv_buf_init(big, sizeof(big));
  for (i = 1; i <= 5; i++) { /* more than the sockets hold */
    CHECK(uv_write(dirty(sizeof(*req)), stream, bufs, i + 1, on_canceled) == 0);
    CHECK(stream->write_queue_size > 0);
  }
  CHECK(uv_try_write(stream, bufs, 1) == UV_EAGAIN);
  CHECK(uv_shutdown(shutdown, stream, on_shutdown_canceled) == 0);
  req = dirty(sizeof(*req));
  CHECK(uv_write(req, stream, bufs, 6, on_canceled) == UV_EPIPE);
  free(req);
  uv_close((uv_handle_t*) stream, on_close);
  CHECK(stream->io_watcher.fd == -1);
  while (closed == 0) uv_run(&loop, UV_RUN_ONCE);
  CHECK(canceled == 5 && closed == 1);
  closed = 0;
  close(fd);
}

static void callbacks_may_be_null(void) {
  uv_write_t* req = dirty(sizeof(*req));
  uv_shutdown_t* shutdown = dirty(sizeof(*shutdown));
  uv_buf_t buf = uv_buf_init(memory, 3);
  char answer[3];
  int fd = new_connection();
  CHECK(uv_write(req, (uv_stream_t*) accepted, &buf, 1, NULL) == 0);
  CHECK(uv_shutdown(shutdown, (uv_stream_t*) accepted, NULL) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0);
  CHECK(read(fd, answer, 3) == 3 && read(fd, answer, 3) == 0);
  CHECK(accepted->loop == &loop && accepted->write_queue_size == 0);
  uv_close((uv_handle_t*) accepted, NULL);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0);
  free(accepted);
  free(req);
  free(shutdown);
  close(fd);
}

/* The loop is closed in its last callback. */
static void close_loop(uv_handle_t* handle) {
  on_close(handle);
  CHECK(uv_loop_close(&loop) == 0);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  memset(&loop, 0xff, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
  timers_in_their_callbacks();
  memory_is_the_callers_in_the_close_callback();
  watchers_in_their_callbacks();
  a_run_in_a_callback();
  listen_somewhere();
  streams_in_their_read_callbacks();
  read_until_closed(alloc_and_run, never_read, 0);
  writes_in_their_callbacks();
  callbacks_may_be_null();
  uv_close((uv_handle_t*) listener, close_loop);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(closed == 1);
  puts("ok");
  return 0;
}

/* Listening, accepting, reading and writing: what is refused, and what handles and requests show. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static int calls;
static ssize_t last_read;
static int last_status;
static char memory[100000];

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  CHECK(handle->loop == &loop && suggested == 65536);
  *buf = uv_buf_init(memory, sizeof(memory));
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  CHECK(stream->loop == &loop && (nread <= 0 || buf->base == memory));
  calls++;
  last_read = nread;
}

static void on_write(uv_write_t* req, int status) {
  CHECK(req->type == UV_WRITE && req->send_handle == NULL);
  calls++;
  last_status = status;
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  CHECK(req->type == UV_SHUTDOWN);
  calls++;
  last_status = status;
}

static void what_is_refused_without_a_connection(void) {
  uv_tcp_t* tcp = new_tcp();
  uv_stream_t* stream = (uv_stream_t*) tcp;
  uv_write_t write;
  uv_shutdown_t shutdown;
  uv_buf_t buf = uv_buf_init("x", 1);
  memset(&write, 0xff, sizeof(write));
  CHECK(uv_read_start(NULL, alloc, on_read) == UV_EINVAL); /* libuv/help#137 */
  CHECK(uv_read_start(stream, NULL, on_read) == UV_EINVAL);
  CHECK(uv_read_start(stream, alloc, NULL) == UV_EINVAL);
  CHECK(uv_read_start(stream, alloc, on_read) == UV_ENOTCONN);
  CHECK(uv_read_stop(stream) == 0);
  CHECK(uv_write(&write, stream, &buf, 1, on_write) == UV_EBADF);
  CHECK(uv_write2(&write, stream, &buf, 1, stream, on_write) == UV_EBADF);
  CHECK(uv_write(&write, stream, &buf, 0, on_write) == UV_EINVAL);
  CHECK(uv_write(&write, stream, &buf, 1024 * 1024 + 1, on_write) == UV_EINVAL);
  CHECK(uv_try_write(stream, &buf, 1) == UV_EBADF);
  CHECK(uv_try_write(stream, &buf, 0) == UV_EINVAL);
  CHECK(uv_try_write2(stream, &buf, 1, stream) == UV_EBADF);
  CHECK(uv_shutdown(&shutdown, stream, on_shutdown) == UV_ENOTCONN);
  CHECK(uv_accept(stream, stream) == UV_EAGAIN);
  CHECK(uv_stream_set_blocking(stream, 1) == UV_EBADF);
  CHECK(uv_stream_get_write_queue_size(stream) == 0);
  close_tcp(tcp);
  run_dry();

  tcp = dirty(sizeof(*tcp));
  CHECK(uv_tcp_init_ex(&loop, tcp, AF_INET) == 0);
  stream = (uv_stream_t*) tcp;
  CHECK(uv_write(&write, stream, &buf, 1, on_write) == UV_EPIPE);
  CHECK(uv_try_write(stream, &buf, 1) == UV_EPIPE);
  CHECK(uv_try_write2(stream, &buf, 1, stream) == UV_EPIPE);
  CHECK(!uv_loop_alive(&loop));
  close_tcp(tcp);
  run_dry();
}

static void what_is_refused_when_closed(void) {
  int other;
  uv_tcp_t tcp;
  uv_stream_t* stream = (uv_stream_t*) &tcp;
  uv_tcp_t* memory_of_pair = new_pair(&other);
  uv_write_t write;
  uv_shutdown_t shutdown;
  uv_buf_t buf = uv_buf_init("x", 1);
  int round;
  close_tcp(memory_of_pair);
  close(other);
  run_dry();
  CHECK(uv_tcp_init(&loop, &tcp) == 0);
  uv_close((uv_handle_t*) &tcp, NULL);
  for (round = 0; round < 2; round++) { /* closing, and closed */
    CHECK(uv_read_start(stream, alloc, on_read) == UV_EINVAL);
    CHECK(uv_read_stop(stream) == 0);
    CHECK(uv_write(&write, stream, &buf, 1, on_write) == UV_EBADF);
    CHECK(uv_write2(&write, stream, &buf, 1, stream, on_write) == UV_EBADF);
    CHECK(uv_write(&write, stream, &buf, 0, on_write) == UV_EINVAL);
    CHECK(uv_try_write(stream, &buf, 1) == UV_EBADF);
    CHECK(uv_try_write(stream, &buf, 0) == UV_EINVAL);
    CHECK(uv_shutdown(&shutdown, stream, on_shutdown) == UV_ENOTCONN);
    CHECK(uv_listen(stream, 1, ignore_connection) == UV_EINVAL);
    CHECK(uv_accept(stream, stream) == UV_EAGAIN);
    CHECK(!uv_is_readable(stream) && !uv_is_writable(stream));
    CHECK(!uv_is_active((uv_handle_t*) stream) && uv_is_closing((uv_handle_t*) stream));
    run_dry();
  }
}

static void reading_starts_and_stops(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_stream_t* stream = (uv_stream_t*) tcp;
  CHECK(uv_read_start(stream, alloc, on_read) == 0);
  CHECK(uv_is_active((uv_handle_t*) tcp));
  CHECK(uv_read_start(stream, alloc, on_read) == UV_EALREADY);
  CHECK(uv_read_stop(stream) == 0 && uv_read_stop(stream) == 0);
  CHECK(!uv_is_active((uv_handle_t*) tcp));
  CHECK(write(other, "hello", 5) == 5);
  calls = 0;
  CHECK(turn() == 0 && calls == 0);
  CHECK(uv_read_start(stream, alloc, on_read) == 0);
  UNTIL(calls > 0);
  CHECK(calls == 1 && last_read == 5 && memcmp(memory, "hello", 5) == 0);
  shutdown(other, SHUT_WR);
  UNTIL(calls > 1);
  CHECK(last_read == UV_EOF && !uv_is_active((uv_handle_t*) tcp));
  CHECK(uv_is_readable(stream)); /* it may be tried again */
  CHECK(uv_read_start(stream, alloc, on_read) == 0);
  UNTIL(calls > 2);
  CHECK(last_read == UV_EOF);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void writing_and_its_fields(void) {
  int other, i;
  uv_tcp_t* tcp = new_pair(&other);
  uv_stream_t* stream = (uv_stream_t*) tcp;
  uv_write_t write;
  uv_buf_t bufs[6];
  char back[16] = {0};
  memset(&write, 0xff, sizeof(write));
  write.data = tcp;
  for (i = 0; i < 6; i++) bufs[i] = uv_buf_init("abcdef" + i, i == 3 ? 0 : 1);
  CHECK(uv_write2(&write, stream, bufs, 6, stream, on_write) == UV_EINVAL); /* that only pipes can */
  CHECK(uv_try_write2(stream, bufs, 6, stream) == UV_EINVAL);
  calls = 0;
  CHECK(uv_write2(&write, stream, bufs, 6, NULL, on_write) == 0);
  CHECK(write.data == tcp && write.handle == stream && write.type == UV_WRITE);
  CHECK(calls == 0 && tcp->write_queue_size == 0);
  CHECK(uv_loop_alive(&loop) && !uv_is_active((uv_handle_t*) tcp));
  CHECK(uv_try_write2(stream, bufs, 2, NULL) == 2);
  CHECK(turn() == 0);
  CHECK(calls == 1 && last_status == 0 && uv_write_nwritten(&write) == 5);
  CHECK(read(other, back, sizeof(back)) == 7 && strcmp(back, "abcefab") == 0);
  /* No bytes are a write, too. Nobody need be called. */
  CHECK(uv_write(&write, stream, &bufs[3], 1, on_write) == 0);
  CHECK(turn() == 0 && calls == 2 && uv_write_nwritten(&write) == 0);
  CHECK(uv_write(&write, stream, bufs, 1, NULL) == 0);
  CHECK(turn() == 0 && calls == 2);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void a_write_that_fails_at_once(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_write_t write;
  uv_buf_t buf = uv_buf_init("hello", 5);
  close(other);
  calls = 0;
  CHECK(uv_write(&write, (uv_stream_t*) tcp, &buf, 1, on_write) == 0);
  CHECK(calls == 0 && tcp->write_queue_size == 5); /* until it is told */
  CHECK(uv_try_write((uv_stream_t*) tcp, &buf, 1) == UV_EAGAIN);
  CHECK(turn() == 0);
  CHECK(calls == 1 && last_status == UV_EPIPE && uv_write_nwritten(&write) == 0);
  CHECK(tcp->write_queue_size == 0);
  CHECK(uv_try_write((uv_stream_t*) tcp, &buf, 1) == UV_EPIPE);
  close_tcp(tcp);
  run_dry();
}

/* Listeners */

static uv_tcp_t* accepted;

static void accept_it(uv_stream_t* server, int status) {
  CHECK(status == 0);
  calls++;
  accepted = new_tcp();
  CHECK(uv_accept(server, (uv_stream_t*) accepted) == 0);
  CHECK(accepted->io_watcher.fd >= 0);
  CHECK(fcntl(accepted->io_watcher.fd, F_GETFL) & O_NONBLOCK);
  CHECK(uv_is_readable((uv_stream_t*) accepted) && uv_is_writable((uv_stream_t*) accepted));
}

static int outside(int port) {
  struct sockaddr_in address = local(port);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(fd, (struct sockaddr*) &address, sizeof(address)) == 0);
  return fd;
}

static void listening_and_accepting(void) {
  int port, other, clients[3];
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* busy = new_pair(&other);
  CHECK(uv_is_active((uv_handle_t*) server));
  CHECK(uv_accept((uv_stream_t*) server, (uv_stream_t*) busy) == UV_EAGAIN);
  CHECK(!uv_is_readable((uv_stream_t*) server) && !uv_is_writable((uv_stream_t*) server));
  /* Again: the callback is another. */
  calls = 0;
  CHECK(uv_listen((uv_stream_t*) server, 16, accept_it) == 0);
  clients[0] = outside(port);
  UNTIL(calls == 1);
  close_tcp(accepted);
  CHECK(uv_listen((uv_stream_t*) server, 16, ignore_connection) == 0);
  clients[1] = outside(port);
  clients[2] = outside(port);
  while (uv_accept((uv_stream_t*) server, (uv_stream_t*) busy) == UV_EAGAIN) turn();
  /* That was UV_EBUSY, and cost a connection. The other one still comes (libuv commit d185607a). */
  CHECK(uv_listen((uv_stream_t*) server, 16, accept_it) == 0);
  UNTIL(calls == 2);
  CHECK(uv_accept((uv_stream_t*) server, (uv_stream_t*) busy) == UV_EAGAIN);
  CHECK(busy->io_watcher.fd >= 0);
  close_tcp(accepted);
  close_tcp(busy);
  close_tcp(server);
  close(other);
  close(clients[0]);
  close(clients[1]);
  close(clients[2]);
  run_dry();
}

#ifndef ON_LIBUV
/* Zeroed memory, and handles of another kind or loop. */
static void misuse_is_an_error(void) {
  uv_tcp_t zero;
  uv_stream_t* stream = (uv_stream_t*) &zero;
  uv_tcp_t* tcp = new_tcp();
  uv_timer_t timer;
  uv_write_t write;
  uv_shutdown_t shutdown;
  uv_buf_t buf = uv_buf_init("x", 1), wrong = uv_buf_init(NULL, 1);
  int other;
  memset(&zero, 0, sizeof(zero));
  CHECK(uv_read_start(stream, alloc, on_read) == UV_EINVAL && uv_read_stop(stream) == UV_EINVAL);
  CHECK(uv_write(&write, stream, &buf, 1, on_write) == UV_EINVAL);
  CHECK(uv_try_write(stream, &buf, 1) == UV_EINVAL);
  CHECK(uv_shutdown(&shutdown, stream, on_shutdown) == UV_EINVAL);
  CHECK(uv_listen(stream, 1, ignore_connection) == UV_EINVAL);
  CHECK(uv_accept((uv_stream_t*) tcp, stream) == UV_EINVAL);
  CHECK(uv_tcp_nodelay(&zero, 1) == UV_EINVAL && uv_tcp_keepalive(&zero, 1, 1) == UV_EINVAL);
  CHECK(uv_tcp_close_reset(&zero, NULL) == UV_EINVAL);
  CHECK(!uv_is_readable(stream) && !uv_is_writable(stream));
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_listen((uv_stream_t*) &timer, 1, ignore_connection) == UV_EINVAL);
  uv_close((uv_handle_t*) &timer, NULL);
  close_tcp(tcp);
  tcp = new_pair(&other);
  CHECK(uv_write(&write, (uv_stream_t*) tcp, &wrong, 1, on_write) == UV_EINVAL);
  CHECK(uv_try_write((uv_stream_t*) tcp, &wrong, 1) == UV_EINVAL);
  close_tcp(tcp);
  close(other);
  run_dry();
}
#endif

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  what_is_refused_without_a_connection();
  what_is_refused_when_closed();
  reading_starts_and_stops();
  writing_and_its_fields();
  a_write_that_fails_at_once();
  listening_and_accepting();
#ifndef ON_LIBUV
  misuse_is_an_error();
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

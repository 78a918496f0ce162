/* Handles that are sent along with bytes. */
#define _DEFAULT_SOURCE
#include "pipes.h"

#include <sys/uio.h>

static int got, written, last_status;

static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buf) {
  (void) stream;
  (void) buf;
  CHECK(size >= 0);
  got += size;
}

static void on_written(uv_write_t* req, int status) {
  (void) req;
  written++;
  last_status = status;
}

/* Two connected pipes for handles, of which the second reads. */
static void new_pipes(uv_pipe_t** one, uv_pipe_t** other) {
  int fd;
  *one = half_of_a_pair(1, &fd);
  *other = new_pipe(1);
  CHECK(uv_pipe_open(*other, fd) == 0);
  CHECK((*one)->ipc == 1);
  CHECK(uv_read_start((uv_stream_t*) *other, alloc_static, on_read) == 0);
  got = written = 0;
}

static void a_listener_is_sent(void) {
  int port;
  uv_pipe_t *one, *other;
  uv_tcp_t *server = new_listener(&port), *taken = new_tcp(), *none = new_tcp();
  static uv_write_t req;
  uv_buf_t buf = uv_buf_init("x", 1);
  new_pipes(&one, &other);
  CHECK(uv_pipe_pending_count(other) == 0 && uv_pipe_pending_type(other) == UV_UNKNOWN_HANDLE);
  CHECK(uv_accept((uv_stream_t*) other, (uv_stream_t*) taken) == UV_EAGAIN);
  CHECK(uv_write2(&req, (uv_stream_t*) one, &buf, 1, (uv_stream_t*) server, on_written) == 0);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) other) == 1);
  UNTIL(got == 2 && written == 1);
  CHECK(last_status == 0 && req.send_handle == NULL);
  close_tcp(server);
  CHECK(uv_pipe_pending_count(other) == 2 && uv_pipe_pending_type(other) == UV_TCP);
  CHECK(uv_accept((uv_stream_t*) other, (uv_stream_t*) taken) == 0);
  CHECK(port_of(taken) == port && taken->io_watcher.fd >= 0);
  CHECK(uv_listen((uv_stream_t*) taken, 8, ignore_connection) == 0);
  CHECK(uv_pipe_pending_count(other) == 1 && uv_pipe_pending_type(other) == UV_NAMED_PIPE);
  /* Whoever has a descriptor already gets no second one, and that is closed. */
  CHECK(uv_accept((uv_stream_t*) other, (uv_stream_t*) taken) == UV_EBUSY);
  CHECK(uv_pipe_pending_count(other) == 0);
  CHECK(uv_accept((uv_stream_t*) other, (uv_stream_t*) none) == UV_EAGAIN);
  close_tcp(taken);
  close_tcp(none);
  close_pipe(one);
  close_pipe(other);
  CHECK(uv_pipe_pending_count(other) == 0 && uv_pipe_pending_type(other) == UV_UNKNOWN_HANDLE);
  run_dry();
}

static void a_udp_handle_is_sent(void) {
  uv_pipe_t *one, *other;
  uv_udp_t *udp = dirty(sizeof(*udp)), *taken = dirty(sizeof(*taken));
  uv_buf_t buf = uv_buf_init("x", 1);
  struct sockaddr_in address = local(0);
  new_pipes(&one, &other);
  CHECK(uv_udp_init(&loop, udp) == 0 && uv_udp_init(&loop, taken) == 0);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) udp) == UV_EBADF);
  CHECK(uv_udp_bind(udp, (struct sockaddr*) &address, 0) == 0);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) udp) == 1);
  UNTIL(got == 1);
  CHECK(uv_pipe_pending_type(other) == UV_UDP);
  CHECK(uv_accept((uv_stream_t*) other, (uv_stream_t*) taken) == 0);
  CHECK(taken->io_watcher.fd >= 0 && taken->io_watcher.fd != udp->io_watcher.fd);
  uv_close((uv_handle_t*) udp, free_handle);
  uv_close((uv_handle_t*) taken, free_handle);
  close_pipe(one);
  close_pipe(other);
  run_dry();
}

static void what_cannot_be_sent(void) {
  int port, fd;
  uv_pipe_t *one, *other, *plain = half_of_a_pair(0, &fd);
  uv_tcp_t *server = new_listener(&port), *unbound = new_tcp();
  static uv_write_t req;
  static uv_timer_t timer;
  uv_buf_t buf = uv_buf_init("x", 1), empty = uv_buf_init("", 0);
  new_pipes(&one, &other);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_write2(&req, (uv_stream_t*) plain, &buf, 1, (uv_stream_t*) server, on_written) == UV_EINVAL);
  CHECK(uv_try_write2((uv_stream_t*) plain, &buf, 1, (uv_stream_t*) server) == UV_EINVAL);
  CHECK(uv_write2(&req, (uv_stream_t*) one, &buf, 1, (uv_stream_t*) unbound, on_written) == UV_EBADF);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) unbound) == UV_EBADF);
  CHECK(uv_write2(&req, (uv_stream_t*) one, &buf, 1, (uv_stream_t*) &timer, on_written) == UV_EBADF);
  CHECK(uv_write2(&req, (uv_stream_t*) one, &buf, 0, (uv_stream_t*) server, on_written) == UV_EINVAL);
  CHECK(uv_write2(&req, (uv_stream_t*) one, &empty, 1, (uv_stream_t*) server, on_written) == UV_EINVAL);
  close_tcp(server);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) server) == UV_EBADF);
  CHECK(!written && !got);
  uv_close((uv_handle_t*) &timer, NULL);
  close_tcp(unbound);
  close_pipe(one);
  close_pipe(other);
  close_pipe(plain);
  close(fd);
  run_dry();
}

/* libuv#2086: more than the socket takes at once, so that the handle is not sent a second time with the rest. */
static void a_large_message_brings_one_handle(void) {
  enum { LARGE = 3 << 20 };
  int port;
  uv_pipe_t *one, *other;
  uv_tcp_t* server = new_listener(&port);
  static uv_write_t reqs[2];
  uv_buf_t buf = uv_buf_init(calloc(1, LARGE), LARGE);
  new_pipes(&one, &other);
  CHECK(uv_write2(&reqs[0], (uv_stream_t*) one, &buf, 1, (uv_stream_t*) server, on_written) == 0);
  CHECK(one->write_queue_size > 0 && reqs[0].send_handle == NULL);
  CHECK(uv_write2(&reqs[1], (uv_stream_t*) one, &buf, 1, (uv_stream_t*) server, on_written) == 0);
  CHECK(reqs[1].send_handle == (uv_stream_t*) server);
  CHECK(uv_try_write2((uv_stream_t*) one, &buf, 1, (uv_stream_t*) server) == UV_EAGAIN);
  UNTIL(got == 2 * LARGE && written == 2);
  CHECK(uv_pipe_pending_count(other) == 2);
  close_tcp(server);
  close_pipe(one);
  close_pipe(other);
  run_dry();
  free(buf.base);
}

/* A write that is cancelled before its first byte takes its handle with it. */
static void a_cancelled_write_sends_no_handle(void) {
  enum { LARGE = 3 << 20 };
  int port;
  uv_pipe_t *one, *other;
  uv_tcp_t* server = new_listener(&port);
  static uv_write_t reqs[2];
  uv_buf_t buf = uv_buf_init(calloc(1, LARGE), LARGE);
  new_pipes(&one, &other);
  CHECK(uv_write(&reqs[0], (uv_stream_t*) one, &buf, 1, on_written) == 0);
  CHECK(uv_write2(&reqs[1], (uv_stream_t*) one, &buf, 1, (uv_stream_t*) server, on_written) == 0);
  CHECK(uv_cancel((uv_req_t*) &reqs[1]) == 0);
  UNTIL(got == LARGE && written == 2);
  CHECK(uv_write_nwritten(&reqs[1]) == 0 && uv_pipe_pending_count(other) == 0);
  close_tcp(server);
  close_pipe(one);
  close_pipe(other);
  run_dry();
  free(buf.base);
}

static int count_descriptors(void) {
  int fd, count = 0;
  for (fd = 0; fd < 1024; fd++) count += !has_closed(fd);
  return count;
}

static void many_that_nobody_takes(void) {
  enum { MANY = 200 };
  int fds[2], i, before;
  uv_pipe_t *one, *other;
  struct iovec byte = {.iov_base = "x", .iov_len = 1};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(MANY * sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control};
  CHECK(uv_pipe(fds, 0, 0) == 0);
  before = count_descriptors();
  new_pipes(&one, &other);
  memset(&control, 0, sizeof(control));
  message.msg_controllen = sizeof(control.space);
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(MANY * sizeof(int));
  for (i = 0; i < MANY; i++) memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fds[i % 2], sizeof(int));
  CHECK(sendmsg(one->io_watcher.fd, &message, 0) == 1);
  CHECK(sendmsg(one->io_watcher.fd, &message, 0) == 1);
  UNTIL(got == 2);
  CHECK(uv_pipe_pending_count(other) == 2 * MANY && uv_pipe_pending_type(other) == UV_NAMED_PIPE);
  close_pipe(one);
  close_pipe(other);
  run_dry();
  CHECK(count_descriptors() == before);
  close(fds[0]);
  close(fds[1]);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  a_listener_is_sent();
  a_udp_handle_is_sent();
  what_cannot_be_sent();
  a_large_message_brings_one_handle();
  a_cancelled_write_sends_no_handle();
  many_that_nobody_takes();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* A TCP server that echoes what one client sends, until the client hangs up. */

#include "workloads.h"

static uv_loop_t loop;
static uv_tcp_t server;
static uv_tcp_t client;
static uv_write_t request;
static char memory[65536];

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  (void) handle, (void) suggested;
  *buf = uv_buf_init(memory, sizeof memory);
}

static void hang_up(void) {
  uv_close((uv_handle_t *) &client, NULL);
  uv_close((uv_handle_t *) &server, NULL);
}

static void on_written(uv_write_t *req, int status) {
  (void) req;
  CHECK(status);
}

static void on_read_write(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf) {
  uv_buf_t answer;

  if (nread > 0) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    CHECK(uv_write(&request, stream, &answer, 1, on_written));
  } else if (nread < 0) {
    hang_up();
  }
}

static void on_read_try(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf) {
  uv_buf_t answer;

  if (nread > 0) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    CHECK(uv_try_write(stream, &answer, 1));
  } else if (nread < 0) {
    hang_up();
  }
}

static void on_connection(uv_stream_t *listener, int status) {
  CHECK(status);
  CHECK(uv_tcp_init(&loop, &client));
  CHECK(uv_accept(listener, (uv_stream_t *) &client));
  CHECK(uv_read_start((uv_stream_t *) &client, on_alloc, (uv_read_cb) listener->data));
}

static void serve(uv_read_cb on_read) {
  struct sockaddr_in address;
  int size = sizeof address;

  CHECK(uv_loop_init(&loop));
  CHECK(uv_tcp_init(&loop, &server));
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address));
  CHECK(uv_tcp_bind(&server, (const struct sockaddr *) &address, 0));
  server.data = (void *) on_read;
  CHECK(uv_listen((uv_stream_t *) &server, 16, on_connection));
  CHECK(uv_tcp_getsockname(&server, (struct sockaddr *) &address, &size));
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

void echo_write(long operations) {
  (void) operations;
  serve(on_read_write);
}

void echo_try(long operations) {
  (void) operations;
  serve(on_read_try);
}

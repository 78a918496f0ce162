/* An echo server that prints each of its callbacks; the Rust test beside it has the same one in Rust. A client that
 * sends "quit" ends it. */
#include "check.h"

typedef struct {
  uv_tcp_t tcp;
  uv_shutdown_t shutdown;
  int number;
} client_t;

typedef struct {
  uv_write_t req;
  int number;
} answer_t;

static uv_loop_t loop;
static uv_tcp_t server;
static uv_timer_t timer;
static int clients;

static void on_closed(uv_handle_t* handle) {
  printf("%d closed\n", ((client_t*) handle)->number);
  free(handle);
}

static void on_server_closed(uv_handle_t* handle) {
  puts(handle == (uv_handle_t*) &server ? "server closed" : "timer closed");
}

static void on_alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  *buf = uv_buf_init(malloc(size), (unsigned int) size);
}

static void on_written(uv_write_t* req, int status) {
  printf("%d written %d\n", ((answer_t*) req)->number, status);
  free(req->data);
  free(req);
}

static void on_shut_down(uv_shutdown_t* req, int status) {
  client_t* client = (client_t*) req->handle;
  printf("%d shut down %d\n", client->number, status);
  uv_close((uv_handle_t*) client, on_closed);
}

static void on_timer(uv_timer_t* handle) {
  puts("timer");
  uv_close((uv_handle_t*) handle, on_server_closed);
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  client_t* client = (client_t*) stream;
  answer_t* answer;
  uv_buf_t bytes;

  if (nread > 0) {
    printf("%d read %d\n", client->number, (int) nread);
    if (nread == 4 && memcmp(buf->base, "quit", 4) == 0) {
      uv_close((uv_handle_t*) client, on_closed);
      uv_close((uv_handle_t*) &server, on_server_closed);
      CHECK(uv_timer_start(&timer, on_timer, 1, 0) == 0);
    } else {
      answer = malloc(sizeof(*answer));
      answer->number = client->number;
      answer->req.data = buf->base;
      bytes = uv_buf_init(buf->base, (unsigned int) nread);
      CHECK(uv_write(&answer->req, stream, &bytes, 1, on_written) == 0);
      return;
    }
  } else if (nread == UV_EOF) {
    printf("%d end\n", client->number);
    CHECK(uv_shutdown(&client->shutdown, stream, on_shut_down) == 0);
  } else if (nread < 0) {
    printf("%d error %d\n", client->number, (int) nread);
    uv_close((uv_handle_t*) client, on_closed);
  }
  free(buf->base);
}

static void on_connection(uv_stream_t* listener, int status) {
  client_t* client = malloc(sizeof(*client));
  client->number = ++clients;
  printf("%d connection %d\n", client->number, status);
  CHECK(uv_tcp_init(&loop, &client->tcp) == 0);
  CHECK(uv_accept(listener, (uv_stream_t*) client) == 0);
  CHECK(uv_read_start((uv_stream_t*) client, on_alloc, on_read) == 0);
}

int main(void) {
  struct sockaddr_in address;
  int size = sizeof(address);

  CHECK(uv_loop_init(&loop) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_tcp_init(&loop, &server) == 0);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_bind(&server, (const struct sockaddr*) &address, 0) == 0);
  CHECK(uv_listen((uv_stream_t*) &server, 16, on_connection) == 0);
  CHECK(uv_tcp_getsockname(&server, (struct sockaddr*) &address, &size) == 0);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  return 0;
}

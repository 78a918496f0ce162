/* A TCP server that sends back what it gets.
 *
 *     cc tcp_echo.c -o tcp_echo $(pkg-config --cflags --libs libuv) && ./tcp_echo 7000
 *
 * Talk to it with `nc 127.0.0.1 7000`; Ctrl-C ends it. Port 0, or none, lets the system choose.
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* A connection reads and writes by turns: what was read is written from the same memory, and reading goes on when that
 * is done. So a client that does not read its answers is not read from either, and costs no more than this. */
typedef struct {
  uv_tcp_t tcp;
  uv_write_t write;
  char bytes[65536];
} connection;

static void check(int error, const char* what) {
  if (error < 0) {
    fprintf(stderr, "%s: %s\n", what, uv_strerror(error));
    exit(1);
  }
}

static void on_close(uv_handle_t* handle) {
  free(handle->data); /* from here on nothing is heard of it any more */
}

static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  connection* client = handle->data;
  (void) suggested_size;
  *buf = uv_buf_init(client->bytes, sizeof(client->bytes));
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);

static void on_written(uv_write_t* req, int status) {
  if (status < 0 || uv_read_start(req->handle, on_alloc, on_read) < 0) {
    uv_close((uv_handle_t*) req->handle, on_close);
  }
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  connection* client = stream->data;
  uv_buf_t answer;
  if (nread == 0) return; /* nothing there after all */
  if (nread < 0) {        /* UV_EOF when the client is done, or an error */
    uv_close((uv_handle_t*) stream, on_close);
    return;
  }
  uv_read_stop(stream);
  answer = uv_buf_init(buf->base, (unsigned int) nread);
  if (uv_write(&client->write, stream, &answer, 1, on_written) < 0) uv_close((uv_handle_t*) stream, on_close);
}

static void on_connection(uv_stream_t* server, int status) {
  connection* client;
  if (status < 0) return;
  client = malloc(sizeof(*client));
  if (client == NULL) return; /* it waits, and so does every other, until this one is accepted */
  uv_tcp_init(server->loop, &client->tcp);
  client->tcp.data = client;
  if (uv_accept(server, (uv_stream_t*) &client->tcp) < 0 ||
      uv_read_start((uv_stream_t*) &client->tcp, on_alloc, on_read) < 0) {
    uv_close((uv_handle_t*) &client->tcp, on_close);
  }
}

int main(int argc, char** argv) {
  uv_loop_t loop;
  uv_tcp_t server;
  struct sockaddr_in address;
  int size = sizeof(address);
  check(uv_loop_init(&loop), "the loop");
  check(uv_ip4_addr("127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, &address), "the address");
  check(uv_tcp_init(&loop, &server), "the server");
  check(uv_tcp_bind(&server, (const struct sockaddr*) &address, 0), "bind");
  check(uv_listen((uv_stream_t*) &server, 128, on_connection), "listen");
  check(uv_tcp_getsockname(&server, (struct sockaddr*) &address, &size), "the port");
  printf("nc 127.0.0.1 %d\n", ntohs(address.sin_port));
  fflush(stdout);

  return uv_run(&loop, UV_RUN_DEFAULT);
}

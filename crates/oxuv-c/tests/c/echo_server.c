/* Echoes until a client sends "quit". Then closes everything. */
#include "check.h"

#include <signal.h>

typedef struct connection {
  uv_tcp_t tcp;
  uv_shutdown_t shutdown;
  struct connection* next;
  struct connection** link;
} connection_t;

typedef struct {
  uv_write_t req;
  size_t size;
} write_t;

static uv_loop_t loop;
static uv_tcp_t listener;
static connection_t* connections;

static void on_close(uv_handle_t* handle) {
  connection_t* connection = (connection_t*) handle;
  CHECK(connection->tcp.io_watcher.fd == -1);
  CHECK(connection->tcp.write_queue_size == 0);
  *connection->link = connection->next;
  if (connection->next != NULL) connection->next->link = connection->link;
  memset(connection, 0xdb, sizeof(*connection));
  free(connection);
}

static void close_connection(connection_t* connection) {
  if (!uv_is_closing((uv_handle_t*) connection)) uv_close((uv_handle_t*) connection, on_close);
}

static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  CHECK(handle->type == UV_TCP && suggested_size == 65536);
  CHECK(buf->base == NULL && buf->len == 0);
  *buf = uv_buf_init(malloc(suggested_size), (unsigned int) suggested_size);
}

static void on_write(uv_write_t* req, int status) {
  char* base = req->data;
  CHECK(req->type == UV_WRITE);
  if (status != 0) close_connection((connection_t*) req->handle);
  free(base);
  memset(req, 0xdb, sizeof(write_t));
  free(req);
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  CHECK(req->type == UV_SHUTDOWN);
  CHECK(status != 0 || req->handle->write_queue_size == 0);
  close_connection((connection_t*) req->handle);
}

static void quit(void) {
  connection_t* connection;
  for (connection = connections; connection != NULL; connection = connection->next)
    close_connection(connection);
  uv_close((uv_handle_t*) &listener, NULL);
}

/* Writes the bytes in up to seven buffers: more than fit into a request. */
static void echo(uv_stream_t* stream, char* base, size_t size) {
  write_t* write = dirty(sizeof(*write));
  uv_buf_t bufs[7];
  size_t done = 0;
  unsigned int count = 0;
  while (done < size) {
    size_t part = count == 6 || size - done < 7 ? size - done : 1 + (size - done) / 3;
    bufs[count++] = uv_buf_init(base + done, (unsigned int) part);
    done += part;
  }
  write->req.data = base;
  CHECK(uv_write(&write->req, stream, bufs, count, on_write) == 0);
  CHECK(write->req.handle == stream && write->req.data == base);
  memset(bufs, 0xdb, sizeof(bufs)); /* the array was copied */
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  connection_t* connection = (connection_t*) stream;
  if (nread > 0 && nread == 4 && memcmp(buf->base, "quit", 4) == 0) {
    free(buf->base);
    quit();
  } else if (nread > 0) {
    echo(stream, buf->base, (size_t) nread);
  } else {
    free(buf->base);
    if (nread == UV_EOF) {
      CHECK(!uv_is_active((uv_handle_t*) stream));
      CHECK(uv_shutdown(&connection->shutdown, stream, on_shutdown) == 0);
      CHECK(uv_shutdown(&connection->shutdown, stream, on_shutdown) == UV_ENOTCONN);
    } else if (nread < 0) {
      close_connection(connection);
    }
  }
}

static void on_connection(uv_stream_t* server, int status) {
  connection_t* connection = dirty(sizeof(*connection));
  uv_stream_t* stream = (uv_stream_t*) &connection->tcp;
  CHECK(status == 0);
  CHECK(uv_tcp_init(&loop, &connection->tcp) == 0);
  CHECK(connection->tcp.io_watcher.fd == -1);
  CHECK(uv_read_start(stream, on_alloc, on_read) == UV_ENOTCONN);
  CHECK(uv_accept(server, stream) == 0);
  CHECK(uv_accept(server, stream) == UV_EAGAIN);
  CHECK(connection->tcp.io_watcher.fd > 2);
  CHECK(uv_read_start(stream, NULL, on_read) == UV_EINVAL);
  CHECK(uv_read_start(stream, on_alloc, NULL) == UV_EINVAL);
  CHECK(uv_read_start(stream, on_alloc, on_read) == 0);
  CHECK(uv_read_start(stream, on_alloc, on_read) == UV_EALREADY);
  connection->next = connections;
  connection->link = &connections;
  if (connections != NULL) connections->link = &connection->next;
  connections = connection;
}

int main(void) {
  struct sockaddr_in address;
  int size = sizeof(address);
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  memset(&listener, 0xff, sizeof(listener));
  CHECK(uv_tcp_init(&loop, &listener) == 0);
  CHECK(uv_tcp_getsockname(&listener, (struct sockaddr*) &address, &size) == UV_EBADF);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_bind(&listener, (const struct sockaddr*) &address, 0) == 0);
  CHECK(uv_tcp_bind(&listener, (const struct sockaddr*) &address, 0) == UV_EINVAL);
  CHECK(listener.io_watcher.fd > 2);
  CHECK(uv_listen((uv_stream_t*) &listener, 128, on_connection) == 0);
  CHECK(uv_tcp_getsockname(&listener, (struct sockaddr*) &address, &size) == 0);
  CHECK(size == sizeof(address) && address.sin_family == AF_INET);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(connections == NULL);
  CHECK(uv_loop_close(&loop) == 0);
  return 0;
}

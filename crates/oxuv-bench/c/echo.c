/* TCP servers: one echoes what its clients send, until they have all hung up, the other hangs up at once. */

#include "workloads.h"

static uv_loop_t loop;
static uv_tcp_t server;
static long clients;
static long left;
static char memory[65536];

/* Requests that are not in use. */
struct request {
  uv_write_t write;
  struct request *next;
};

static struct request *spare;

static struct request *take_request(void) {
  struct request *request = spare;

  if (request == NULL)
    request = malloc(sizeof *request);
  else
    spare = request->next;
  CHECK(request == NULL ? -1 : 0);
  return request;
}

static void run(void) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  (void) handle, (void) suggested;
  *buf = uv_buf_init(memory, sizeof memory);
}

static void on_closed(uv_handle_t *client) {
  free(client);
}

static void hang_up(uv_stream_t *client) {
  uv_close((uv_handle_t *) client, on_closed);
  if (--clients == 0)
    uv_close((uv_handle_t *) &server, NULL);
}

static void on_written(uv_write_t *req, int status) {
  struct request *request = (struct request *) req;

  CHECK(status);
  request->next = spare;
  spare = request;
}

/* What is read next may overwrite what is not sent yet: all bytes are the same. */
static void on_read_write(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf) {
  uv_buf_t answer;

  if (nread > 0) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    CHECK(uv_write(&take_request()->write, stream, &answer, 1, on_written));
  } else if (nread < 0) {
    hang_up(stream);
  }
}

static void on_read_try(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf) {
  uv_buf_t answer;

  if (nread > 0) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    CHECK(uv_try_write(stream, &answer, 1));
  } else if (nread < 0) {
    hang_up(stream);
  }
}

static void on_connection(uv_stream_t *listener, int status) {
  uv_tcp_t *client = malloc(sizeof *client);

  CHECK(status);
  CHECK(client == NULL ? -1 : 0);
  CHECK(uv_tcp_init(&loop, client));
  CHECK(uv_accept(listener, (uv_stream_t *) client));
  CHECK(uv_read_start((uv_stream_t *) client, on_alloc, (uv_read_cb) listener->data));
  clients++;
}

static void on_visit(uv_stream_t *listener, int status) {
  uv_tcp_t *client = malloc(sizeof *client);

  CHECK(status);
  CHECK(client == NULL ? -1 : 0);
  CHECK(uv_tcp_init(&loop, client));
  CHECK(uv_accept(listener, (uv_stream_t *) client));
  uv_close((uv_handle_t *) client, on_closed);
  if (--left == 0)
    uv_close((uv_handle_t *) listener, NULL);
}

static void serve(uv_connection_cb on_client, uv_read_cb on_read) {
  struct sockaddr_in address;
  int size = sizeof address;

  CHECK(uv_loop_init(&loop));
  CHECK(uv_tcp_init(&loop, &server));
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address));
  CHECK(uv_tcp_bind(&server, (const struct sockaddr *) &address, 0));
  server.data = (void *) on_read;
  CHECK(uv_listen((uv_stream_t *) &server, BACKLOG, on_client));
  CHECK(uv_tcp_getsockname(&server, (struct sockaddr *) &address, &size));
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  timed_section(run);
}

void echo_write(long handles, long operations) {
  (void) handles, (void) operations;
  serve(on_connection, on_read_write);
}

void echo_try(long handles, long operations) {
  (void) handles, (void) operations;
  serve(on_connection, on_read_try);
}

void accept_and_close(long handles, long operations) {
  (void) handles;
  left = operations;
  serve(on_visit, NULL);
}

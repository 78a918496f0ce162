/* A small TCP echo server for measuring: portable libuv, nothing but the work.
 *
 * cc -O2 echo_server.c -luv; ./a.out PORT (0 for any) prints the port. Ends at a message that begins with 'Q'.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { BUFFER_SIZE = 65536 };

/* A request, and the buffer lent to it if it could not be written at once. Free ones are linked by `next`. */
typedef struct write_s {
  uv_write_t req;
  char* lent;
  struct write_s* next;
} write_t;

static uv_loop_t loop;
static char* buffer;
static write_t* free_writes;

static void* must(void* memory) {
  if (memory == NULL) abort();
  return memory;
}

static void on_close(uv_handle_t* handle) { free(handle); }

static void close_connection(uv_stream_t* stream) {
  if (!uv_is_closing((uv_handle_t*) stream)) uv_close((uv_handle_t*) stream, on_close);
}

static void on_alloc(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf) {
  (void) handle;
  (void) suggested_size;
  buf->base = buffer;
  buf->len = BUFFER_SIZE;
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);

static void on_write(uv_write_t* req, int status) {
  write_t* write = (write_t*) req;
  if (write->lent != NULL) {
    free(write->lent);
    if (status == 0) uv_read_start(req->handle, on_alloc, on_read);
  }
  if (status != 0) close_connection(req->handle);
  write->next = free_writes;
  free_writes = write;
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  write_t* write;
  uv_buf_t out;
  if (nread < 0) close_connection(stream);
  if (nread <= 0) return;
  if (buf->base[0] == 'Q') {
    uv_stop(&loop);
    return;
  }
  write = free_writes;
  if (write != NULL)
    free_writes = write->next;
  else
    write = must(malloc(sizeof(*write)));
  write->lent = NULL;
  out = uv_buf_init(buf->base, (unsigned int) nread);
  if (uv_write(&write->req, stream, &out, 1, on_write) != 0) {
    write->next = free_writes;
    free_writes = write;
    close_connection(stream);
  } else if (stream->write_queue_size > 0) {
    /* The buffer is in use until it is written. Until then this connection is not read. */
    write->lent = buffer;
    buffer = must(malloc(BUFFER_SIZE));
    uv_read_stop(stream);
  }
}

static void on_connection(uv_stream_t* server, int status) {
  uv_tcp_t* tcp;
  if (status != 0) return;
  tcp = must(malloc(sizeof(*tcp)));
  uv_tcp_init(&loop, tcp);
  if (uv_accept(server, (uv_stream_t*) tcp) == 0)
    uv_read_start((uv_stream_t*) tcp, on_alloc, on_read);
  else
    close_connection((uv_stream_t*) tcp);
}

int main(int argc, char** argv) {
  uv_tcp_t server;
  struct sockaddr_in address;
  int size = sizeof(address);
  int error;
  signal(SIGPIPE, SIG_IGN);
  buffer = must(malloc(BUFFER_SIZE));
  uv_loop_init(&loop);
  uv_tcp_init(&loop, &server);
  uv_ip4_addr("127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, &address);
  error = uv_tcp_bind(&server, (const struct sockaddr*) &address, 0);
  if (error == 0) error = uv_listen((uv_stream_t*) &server, 1024, on_connection);
  if (error == 0) error = uv_tcp_getsockname(&server, (struct sockaddr*) &address, &size);
  if (error != 0) {
    fprintf(stderr, "%s\n", uv_strerror(error));
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  uv_run(&loop, UV_RUN_DEFAULT);
  return 0;
}

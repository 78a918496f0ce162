/* A server on a pipe outlives its clients. They connect, send half a message and die, every other one with the answer unread. */
#define _DEFAULT_SOURCE
#include "counts.h"
#include "pipes.h"

enum { CLIENTS = 1000 };

static const char* path;
static char answer[100000];
static int accepted, ended;

static void on_answered(uv_write_t* req, int status) {
  (void) status; /* it meets nobody any more */
  free(req);
}

static void on_half(uv_stream_t* client, ssize_t size, const uv_buf_t* buf) {
  if (size > 0) {
    uv_buf_t whole = uv_buf_init(answer, sizeof(answer));
    uv_write_t* req = (uv_write_t*) dirty(sizeof(*req));
    CHECK(size <= 4 && memcmp(buf->base, "half", (size_t) size) == 0);
    if (uv_write(req, client, &whole, 1, on_answered) != 0) free(req);
  } else if (size < 0) {
    ended++;
    close_pipe((uv_pipe_t*) client);
  }
}

static void on_connection(uv_stream_t* server, int status) {
  uv_pipe_t* client = new_pipe(0);
  CHECK(status == 0);
  CHECK(uv_accept(server, (uv_stream_t*) client) == 0);
  CHECK(uv_read_start((uv_stream_t*) client, alloc_static, on_half) == 0);
  accepted++;
}

static int connect_to_server(void) {
  struct sockaddr_un name;
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  memset(&name, 0, sizeof(name));
  name.sun_family = AF_UNIX;
  strcpy(name.sun_path, path);
  CHECK(client >= 0 && connect(client, (struct sockaddr*) &name, sizeof(name)) == 0);
  CHECK(write(client, "half", 4) == 4);
  return client;
}

static void die_in_the_middle(void* arg) {
  int i;
  char byte;
  (void) arg;
  for (i = 0; i < CLIENTS; i++) {
    int client = connect_to_server();
    if (i % 2 == 0) CHECK(read(client, &byte, 1) >= -1);
    CHECK(close(client) == 0);
  }
}

static void count_handle(uv_handle_t* handle, void* count) {
  (void) handle;
  ++*(int*) count;
}

static int count_handles(void) {
  int count = 0;
  uv_walk(&loop, count_handle, &count);
  return count;
}

int main(void) {
  uv_thread_t clients;
  uv_pipe_t* server;
  int descriptors, handles, last;
  CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  CHECK(uv_loop_init(&loop) == 0);
  path = own_path("storm");
  server = new_pipe(0);
  CHECK(uv_pipe_bind(server, path) == 0);
  CHECK(uv_listen((uv_stream_t*) server, 128, on_connection) == 0);
  turn();
  descriptors = count_descriptors();
  handles = count_handles();
  CHECK(uv_thread_create(&clients, die_in_the_middle, NULL) == 0);
  while (ended < CLIENTS) uv_run(&loop, UV_RUN_ONCE);
  CHECK(uv_thread_join(&clients) == 0);
  CHECK(accepted == CLIENTS);
  UNTIL(count_handles() == handles);
  CHECK(count_descriptors() == descriptors && loop.active_reqs.count == 0);
  /* And it goes on serving. */
  last = connect_to_server();
  CHECK(shutdown(last, SHUT_WR) == 0);
  UNTIL(ended == CLIENTS + 1);
  CHECK(close(last) == 0);
  close_pipe(server);
  CHECK(access(path, F_OK) != 0);
  run_dry();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

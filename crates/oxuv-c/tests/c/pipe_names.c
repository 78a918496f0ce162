/* Names of pipes: of every length, with zero bytes, and the errors that are told by a callback. */
#define _DEFAULT_SOURCE
#include "pipes.h"

enum { SIZE = sizeof(((struct sockaddr_un*) 0)->sun_path) };

static void is_named(const uv_pipe_t* pipe, const char* name, size_t len) {
  char buffer[256];
  size_t size = sizeof(buffer);
  memset(buffer, 'x', sizeof(buffer));
  CHECK(uv_pipe_getsockname(pipe, buffer, &size) == 0);
  CHECK(size == len && memcmp(buffer, name, len) == 0);
}

static int statuses[8], told;

static void on_connect(uv_connect_t* req, int status) {
  CHECK(told < 8);
  statuses[told++] = status;
  req->data = NULL;
}

/* libuv#4028 */
static void abstract_names(void) {
  char name[16];
  uv_pipe_t *server = new_pipe(0), *client = new_pipe(0), *other = new_pipe(0);
  static uv_connect_t connect;
  size_t size;
  snprintf(name, sizeof(name), "%cx%c%08d", 0, 0, (int) getpid());
  CHECK(uv_pipe_bind2(server, name, 11, 0) == 0);
  CHECK(server->pipe_fname == NULL);
  is_named(server, name, 11);
  /* No zero byte behind it, and none needed. */
  size = 11;
  {
    char exact[12] = "~~~~~~~~~~~";
    CHECK(uv_pipe_getsockname(server, exact, &size) == 0 && size == 11 && memcmp(exact, name, 11) == 0);
    size = 10;
    CHECK(uv_pipe_getsockname(server, exact, &size) == UV_ENOBUFS && size == 11);
  }
  CHECK(uv_pipe_bind2(other, name, 11, 0) == UV_EADDRINUSE);
  CHECK(uv_pipe_bind2(other, name, 10, UV_PIPE_NO_TRUNCATE) == 0); /* another name */
  CHECK(uv_listen((uv_stream_t*) server, 8, ignore_connection) == 0);
  told = 0;
  CHECK(uv_pipe_connect2(&connect, client, name, 11, 0, on_connect) == 0);
  UNTIL(told == 1);
  CHECK(statuses[0] == 0);
  size = sizeof(name);
  {
    char peer[sizeof(name)];
    CHECK(uv_pipe_getpeername(client, peer, &size) == 0 && size == 11 && memcmp(peer, name, 11) == 0);
  }
  CHECK(uv_pipe_chmod(server, UV_READABLE) == UV_ENOENT);
  close_pipe(server);
  close_pipe(client);
  close_pipe(other);
  run_dry();
}

static void a_name_that_the_kernel_chooses(void) {
  char name[64] = "x";
  size_t size = sizeof(name);
  uv_pipe_t* pipe = new_pipe(0);
  CHECK(uv_pipe_bind2(pipe, "", 0, 0) == 0);
  CHECK(uv_pipe_getsockname(pipe, name, &size) == 0 && size > 1 && name[0] == 0);
  close_pipe(pipe);
  run_dry();
}

static void bad_arguments(void) {
  static uv_connect_t req;
  char name[SIZE + 2];
  uv_pipe_t* pipe = new_pipe(0);
  memset(name, 'x', sizeof(name));
  CHECK(uv_pipe_bind2(pipe, NULL, 0, 0) == UV_EINVAL);
  CHECK(uv_pipe_bind2(pipe, "a\0b", 3, 0) == UV_EINVAL);
  CHECK(uv_pipe_bind2(pipe, "a", 1, 2) == UV_EINVAL);
  CHECK(uv_pipe_bind2(pipe, name, SIZE + 1, UV_PIPE_NO_TRUNCATE) == UV_EINVAL);
  CHECK(uv_pipe_bind2(pipe, "/no/such/directory/x", 20, 0) == UV_EACCES);
  CHECK(uv_pipe_connect2(&req, pipe, NULL, 0, 0, on_connect) == UV_EINVAL);
  CHECK(uv_pipe_connect2(&req, pipe, "", 0, 0, on_connect) == UV_EINVAL);
  CHECK(uv_pipe_connect2(&req, pipe, "a\0b", 3, 0, on_connect) == UV_EINVAL);
  CHECK(uv_pipe_connect2(&req, pipe, "a", 1, 2, on_connect) == UV_EINVAL);
  CHECK(uv_pipe_connect2(&req, pipe, name, SIZE + 1, UV_PIPE_NO_TRUNCATE, on_connect) == UV_EINVAL);
  CHECK(!uv_loop_alive(&loop) && pipe->io_watcher.fd == -1);
  close_pipe(pipe);
  CHECK(uv_pipe_bind(pipe, "/tmp/never") == UV_EINVAL);
  CHECK(uv_pipe_connect2(&req, pipe, "a", 1, 0, on_connect) == UV_EINVAL);
  run_dry();
}

/* What is longer than the system's field is cut off, unless that is not wanted. */
static void long_names(void) {
  char name[SIZE + 10], cut[SIZE + 1];
  uv_pipe_t* pipe = new_pipe(0);
  struct stat found;
  size_t size;
  memset(name, 'x', sizeof(name));
  size = snprintf(name, sizeof(name), "/tmp/oxuv-%d-", (int) getpid());
  name[size] = 'x';
  name[sizeof(name) - 1] = 0;
  memcpy(cut, name, SIZE);
  cut[SIZE] = 0;
  unlink(cut);
  CHECK(uv_pipe_bind(pipe, name) == 0);
  CHECK(strcmp(pipe->pipe_fname, cut) == 0);
  CHECK(stat(cut, &found) == 0);
  is_named(pipe, cut, SIZE);
  {
    char exact[SIZE + 1];
    size = SIZE; /* a path needs room for the zero byte, too */
    CHECK(uv_pipe_getsockname(pipe, exact, &size) == UV_ENOBUFS && size == SIZE + 1);
    CHECK(uv_pipe_getsockname(pipe, exact, &size) == 0 && size == SIZE && exact[SIZE] == 0);
  }
  CHECK(uv_listen((uv_stream_t*) pipe, 1, ignore_connection) == 0);
  {
    uv_pipe_t* client = new_pipe(0);
    static uv_connect_t req;
    told = 0;
    uv_pipe_connect(&req, client, name, on_connect);
    UNTIL(told == 1);
    CHECK(statuses[0] == 0);
    close_pipe(client);
  }
  close_pipe(pipe);
  CHECK(stat(cut, &found) == -1);
  run_dry();
}

/* libuv#4610 */
static void no_room_for_a_name(void) {
  const char* path = own_path("names");
  uv_pipe_t *pipe = new_pipe(0), *unbound = new_pipe(0);
  char buffer[8] = "abcdefg";
  size_t size = sizeof(buffer);
  CHECK(uv_pipe_getsockname(unbound, buffer, &size) == UV_EBADF && size == 0);
  CHECK(uv_pipe_bind(pipe, path) == 0);
  size = sizeof(buffer);
  CHECK(uv_pipe_getsockname(pipe, NULL, &size) == UV_EINVAL && size == sizeof(buffer));
  CHECK(uv_pipe_getsockname(pipe, buffer, NULL) == UV_EINVAL);
  size = 0;
  CHECK(uv_pipe_getsockname(pipe, buffer, &size) == UV_EINVAL && size == 0);
  size = 3;
  CHECK(uv_pipe_getsockname(pipe, buffer, &size) == UV_ENOBUFS && size == strlen(path) + 1);
  CHECK(memcmp(buffer, "abcdefg", 8) == 0);
  size = sizeof(buffer);
  CHECK(uv_pipe_getpeername(pipe, buffer, &size) == UV_ENOTCONN && size == 0);
  close_pipe(pipe);
  size = sizeof(buffer);
  CHECK(uv_pipe_getsockname(pipe, buffer, &size) == UV_EBADF);
  close_pipe(unbound);
  run_dry();
}

static void an_end_without_a_name(void) {
  int other;
  uv_pipe_t* pipe = half_of_a_pair(0, &other);
  char buffer[4] = "abc";
  size_t size = sizeof(buffer);
  CHECK(uv_pipe_getsockname(pipe, buffer, &size) == 0 && size == 0 && buffer[0] == 0);
  size = 1;
  CHECK(uv_pipe_getpeername(pipe, buffer, &size) == 0 && size == 0);
  close_pipe(pipe);
  close(other);
  run_dry();
}

/* Whatever is wrong with a connect, its callback tells: in pending, never inside the call. */
static void errors_by_callback(void) {
  static uv_connect_t reqs[4];
  uv_pipe_t* pipes[4];
  const char* path = own_path("file");
  int i;
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fclose(file) == 0);
  for (i = 0; i < 4; i++) pipes[i] = new_pipe(0);
  told = 0;
  uv_pipe_connect(&reqs[0], pipes[0], "/no/such/socket", on_connect);
  uv_pipe_connect(&reqs[1], pipes[1], path, on_connect);
  uv_pipe_connect(&reqs[2], pipes[2], "", on_connect);
  CHECK(uv_pipe_connect2(&reqs[3], pipes[3], "/no/such/socket", 15, UV_PIPE_NO_TRUNCATE, on_connect) == 0);
  CHECK(told == 0 && pipes[0]->connect_req == &reqs[0] && reqs[2].type == UV_CONNECT);
  CHECK(!uv_is_writable((uv_stream_t*) pipes[0]));
  turn();
  CHECK(told == 4);
  CHECK(statuses[0] == UV_ENOENT && statuses[1] == UV_ECONNREFUSED && statuses[2] == UV_EINVAL);
  CHECK(statuses[3] == UV_ENOENT);
  /* Once more, and closed before it is told. */
  uv_pipe_connect(&reqs[0], pipes[0], "/no/such/socket", on_connect);
  for (i = 0; i < 4; i++) close_pipe(pipes[i]);
  run_dry();
  CHECK(told == 5 && statuses[4] == UV_ECANCELED);
  unlink(path);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  abstract_names();
  a_name_that_the_kernel_chooses();
  bad_arguments();
  long_names();
  no_room_for_a_name();
  an_end_without_a_name();
  errors_by_callback();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

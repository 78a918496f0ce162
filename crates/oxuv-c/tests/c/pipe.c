/* Pipes: their life from init to close, and what programs see of it in the structures. */
#define _DEFAULT_SOURCE
#include "pipes.h"

static int connections, connects, echoed, closed;

static void on_echo(uv_stream_t* client, ssize_t size, const uv_buf_t* buf) {
  if (size == UV_EOF) {
    uv_close((uv_handle_t*) client, free_handle);
    return;
  }
  CHECK(size == 5 && memcmp(buf->base, "hello", 5) == 0);
  CHECK(uv_try_write(client, &(uv_buf_t){.base = buf->base, .len = 5}, 1) == 5);
}

static void on_connection(uv_stream_t* server, int status) {
  uv_pipe_t* client = new_pipe(0);
  CHECK(status == 0);
  CHECK(uv_accept(server, (uv_stream_t*) client) == 0);
  CHECK(client->io_watcher.fd >= 0 && client->pipe_fname == NULL);
  CHECK(uv_accept(server, (uv_stream_t*) client) == UV_EAGAIN);
  CHECK(uv_read_start((uv_stream_t*) client, alloc_static, on_echo) == 0);
  connections++;
}

static void on_answer(uv_stream_t* client, ssize_t size, const uv_buf_t* buf) {
  CHECK(size == 5 && memcmp(buf->base, "hello", 5) == 0);
  echoed++;
  close_pipe((uv_pipe_t*) client);
}

static void on_written(uv_write_t* req, int status) { CHECK(status == 0 && uv_write_nwritten(req) == 5); }

static void on_connect(uv_connect_t* req, int status) {
  CHECK(status == 0 && req->handle->connect_req == NULL);
  connects++;
}

static void a_server_and_a_client(void) {
  const char* path = own_path("server");
  uv_pipe_t *server = new_pipe(0), *client = new_pipe(0);
  static uv_connect_t connect;
  static uv_write_t write;
  uv_buf_t hello = uv_buf_init("hello", 5);
  struct stat found;
  CHECK(server->type == UV_NAMED_PIPE && server->loop == &loop && server->ipc == 0);
  CHECK(server->io_watcher.fd == -1 && server->pipe_fname == NULL && server->write_queue_size == 0);
  CHECK(uv_listen((uv_stream_t*) server, 8, on_connection) == UV_EINVAL);
  CHECK(uv_pipe_bind(server, path) == 0);
  CHECK(strcmp(server->pipe_fname, path) == 0 && server->pipe_fname != path);
  CHECK(server->io_watcher.fd >= 0);
  CHECK(stat(path, &found) == 0 && S_ISSOCK(found.st_mode));
  CHECK(uv_pipe_bind(server, path) == UV_EINVAL);
  CHECK(uv_listen((uv_stream_t*) server, 8, on_connection) == 0);
  uv_pipe_pending_instances(server, 7);
  uv_pipe_connect(&connect, client, path, on_connect);
  CHECK(connect.type == UV_CONNECT && connect.handle == (uv_stream_t*) client);
  CHECK(uv_write(&write, (uv_stream_t*) client, &hello, 1, on_written) == 0);
  CHECK(client->write_queue_size == 5);
  CHECK(uv_read_start((uv_stream_t*) client, alloc_static, on_answer) == 0);
  UNTIL(echoed == 1);
  CHECK(connections == 1 && connects == 1);
  CHECK(stat(path, &found) == 0);
  close_pipe(server);
  CHECK(stat(path, &found) == -1 && errno == ENOENT);
  run_dry();
}

static void permissions(void) {
  const char* path = own_path("chmod");
  uv_pipe_t* pipe = new_pipe(0);
  struct stat found;
  int modes[][2] = {{UV_READABLE, 0444}, {UV_WRITABLE, 0222}, {UV_READABLE | UV_WRITABLE, 0666}}, i;
  CHECK(uv_pipe_chmod(NULL, UV_READABLE) == UV_EBADF);
  CHECK(uv_pipe_chmod(pipe, UV_READABLE) == UV_EBADF);
  CHECK(uv_pipe_bind(pipe, path) == 0);
  for (i = 0; i < 3; i++) {
    CHECK(uv_pipe_chmod(pipe, modes[i][0]) == 0);
    CHECK(stat(path, &found) == 0 && (found.st_mode & 0777) == (mode_t) modes[i][1]);
  }
  CHECK(uv_pipe_chmod(pipe, 0) == UV_EINVAL);
  CHECK(uv_pipe_chmod(pipe, 4) == UV_EINVAL);
  CHECK(uv_pipe_chmod(pipe, -1) == UV_EINVAL);
  close_pipe(pipe);
  CHECK(uv_pipe_chmod(pipe, UV_READABLE) == UV_EBADF);
  run_dry();
}

static void ends_of_a_pipe(void) {
  int flags[] = {0, UV_NONBLOCK_PIPE}, i, j;
  uv_file fds[2];
  for (i = 0; i < 2; i++)
    for (j = 0; j < 2; j++) {
      CHECK(uv_pipe(fds, flags[i], flags[j]) == 0);
      CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK) == !flags[i]);
      CHECK(!(fcntl(fds[1], F_GETFL) & O_NONBLOCK) == !flags[j]);
      CHECK(fcntl(fds[0], F_GETFD) & fcntl(fds[1], F_GETFD) & FD_CLOEXEC);
      close(fds[0]);
      close(fds[1]);
    }
}

static void on_closed(uv_handle_t* handle) {
  closed++;
  free(handle);
}

static void what_open_takes_and_refuses(void) {
  uv_file fds[2];
  uv_pipe_t *reader = new_pipe(0), *writer = new_pipe(0);
  CHECK(uv_pipe(fds, 0, 0) == 0);
  CHECK(uv_pipe_open(reader, -1) == UV_EBADF);
  CHECK(uv_pipe_open(reader, 12345) == UV_EBADF);
  CHECK(uv_pipe_open(reader, fds[0]) == 0);
  CHECK(uv_pipe_open(writer, fds[1]) == 0);
  CHECK(uv_pipe_open(reader, fds[1]) == UV_EBUSY && reader->io_watcher.fd == fds[0]);
  /* What is no descriptor is told before that. */
  CHECK(uv_pipe_open(reader, 12345) == UV_EBADF);
  CHECK(fcntl(fds[0], F_GETFL) & fcntl(fds[1], F_GETFL) & O_NONBLOCK);
  CHECK(uv_is_readable((uv_stream_t*) reader) && !uv_is_writable((uv_stream_t*) reader));
  CHECK(!uv_is_readable((uv_stream_t*) writer) && uv_is_writable((uv_stream_t*) writer));
  uv_close((uv_handle_t*) reader, on_closed);
  uv_close((uv_handle_t*) writer, on_closed);
  CHECK(has_closed(fds[0]) && has_closed(fds[1]));
  run_dry();
  CHECK(closed == 2);
}

/* libuv#2134: a write of no bytes is told once, with 0. */
static int empty_writes;

static void on_empty(uv_write_t* req, int status) {
  CHECK(status == 0 && uv_write_nwritten(req) == 0);
  empty_writes++;
}

static void writes_of_no_bytes(void) {
  int other, ipc;
  for (ipc = 0; ipc < 2; ipc++) {
    static uv_write_t req;
    uv_pipe_t* pipe = half_of_a_pair(ipc, &other);
    uv_buf_t empty = uv_buf_init("", 0);
    empty_writes = 0;
    CHECK(uv_write(&req, (uv_stream_t*) pipe, &empty, 1, on_empty) == 0);
    CHECK(empty_writes == 0);
    run_dry();
    CHECK(empty_writes == 1);
    close_pipe(pipe);
    close(other);
    run_dry();
  }
}

/* libuv#2162: a connection that has something to read, which nobody wants, does not turn the loop. */
static void on_greeted_connection(uv_stream_t* server, int status) {
  uv_pipe_t* client = new_pipe(0);
  CHECK(status == 0 && uv_accept(server, (uv_stream_t*) client) == 0);
  CHECK(uv_try_write((uv_stream_t*) client, &(uv_buf_t){.base = "greeting", .len = 8}, 1) == 8);
  server->data = client;
}

static void on_timeout(uv_timer_t* timer) { uv_stop(timer->loop); }

static void unread_bytes_do_not_turn_the_loop(void) {
  const char* path = own_path("unread");
  uv_pipe_t *server = new_pipe(0), *client = new_pipe(0);
  static uv_connect_t connect;
  static uv_timer_t timer;
  uv_metrics_t before, after;
  CHECK(uv_pipe_bind(server, path) == 0);
  CHECK(uv_listen((uv_stream_t*) server, 8, on_greeted_connection) == 0);
  uv_pipe_connect(&connect, client, path, on_connect);
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, on_timeout, 300, 0) == 0);
  CHECK(uv_metrics_info(&loop, &before) == 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_metrics_info(&loop, &after) == 0);
  CHECK(after.loop_count - before.loop_count < 20);
  close_pipe(server->data);
  close_pipe(server);
  close_pipe(client);
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
}

/* libuv#2058: the write end of a pipe, and a poll handle for it. */
static void never_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buf) {
  (void) stream;
  (void) buf;
  CHECK(size < 0 && !"read");
}

static void never_ready(uv_poll_t* poll, int status, int events) {
  (void) poll;
  (void) status;
  (void) events;
  CHECK(!"ready");
}

static void a_write_end_and_a_poll_handle(void) {
  uv_file fds[2];
  uv_pipe_t* writer = new_pipe(0);
  static uv_poll_t poll;
  static uv_write_t req;
  uv_buf_t buf = uv_buf_init(malloc(1 << 20), 1 << 20);
  memset(buf.base, 0, buf.len);
  CHECK(uv_pipe(fds, 0, 0) == 0);
  CHECK(uv_poll_init(&loop, &poll, fds[1]) == 0);
  CHECK(uv_pipe_open(writer, fds[1]) == 0);
  CHECK(uv_read_start((uv_stream_t*) writer, alloc_static, never_read) == UV_ENOTCONN);
  CHECK(uv_write(&req, (uv_stream_t*) writer, &buf, 1, NULL) == 0 && writer->write_queue_size > 0);
  CHECK(uv_poll_start(&poll, UV_WRITABLE, never_ready) == UV_EEXIST);
  turn();
  uv_close((uv_handle_t*) &poll, NULL);
  close_pipe(writer);
  close(fds[0]);
  run_dry();
  free(buf.base);
}

static int bad_reads;

static void on_bad_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buf) {
  (void) stream;
  (void) buf;
  CHECK(size == UV_EBADF);
  bad_reads++;
}

/* uvloop sets the flag by which libuv knows that a stream can be read, in a pipe for writing: its read tells that the other
 * end is closed. */
static void a_write_end_that_is_read(void) {
  uv_file fds[2];
  uv_pipe_t* writer = new_pipe(0);
  uv_buf_t buf = uv_buf_init("x", 1);
  int i;
  CHECK(uv_pipe(fds, 0, 0) == 0);
  ((uv_handle_t*) writer)->flags |= 0x4000;
  CHECK(uv_pipe_open(writer, fds[1]) == 0);
  CHECK(uv_is_readable((uv_stream_t*) writer) && uv_is_writable((uv_stream_t*) writer));
  CHECK(uv_read_start((uv_stream_t*) writer, alloc_static, on_bad_read) == 0);
  CHECK(uv_try_write((uv_stream_t*) writer, &buf, 1) == 1);
  for (i = 0; i < 3; i++) turn();
  CHECK(bad_reads == 0);
  close(fds[0]);
  UNTIL(bad_reads == 1);
  CHECK(!uv_is_writable((uv_stream_t*) writer));
  close_pipe(writer);
  run_dry();
  CHECK(bad_reads == 1);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  a_server_and_a_client();
  permissions();
  ends_of_a_pipe();
  what_open_takes_and_refuses();
  writes_of_no_bytes();
  unread_bytes_do_not_turn_the_loop();
  a_write_end_and_a_poll_handle();
  a_write_end_that_is_read();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

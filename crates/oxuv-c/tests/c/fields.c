/* The public fields of all handles and requests, looked at after each call that changes them. All memory comes dirty. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

static uv_loop_t* loop;
static int mark;

/* How many active referenced handles, and requests, the loop has. */
static void counts(unsigned int handles, unsigned int requests) {
  if (loop->active_handles != handles || loop->active_reqs.count != requests) {
    fprintf(stderr, "%u handles, %u requests; expected %u, %u\n", loop->active_handles, loop->active_reqs.count,
            handles, requests);
    exit(1);
  }
}

/* `data` is never written, `loop` and `type` are what they were made. */
static void is(void* memory, uv_handle_type type) {
  uv_handle_t* handle = memory;
  CHECK(handle->data == &mark && handle->loop == loop && handle->type == type);
}

#define NEW(handle) (handle = dirty(sizeof(*handle)), handle->data = &mark)

static void free_it(uv_handle_t* handle) {
  CHECK(handle->data == &mark && handle->loop == loop);
  free_handle(handle);
}

static void close_and_free(void* handle) { uv_close((uv_handle_t*) handle, free_it); }

static void begin(void) {
  loop = dirty(sizeof(*loop));
  loop->data = &mark;
  CHECK(uv_loop_init(loop) == 0);
  CHECK(loop->data == &mark);
  CHECK(loop->stop_flag == 0);
  CHECK(loop->backend_fd >= 0 && fcntl(loop->backend_fd, F_GETFD) == FD_CLOEXEC);
  counts(0, 0);
}

static void end(void) {
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  counts(0, 0);
  CHECK(loop->data == &mark);
  CHECK(uv_loop_close(loop) == 0);
  CHECK(loop->data == &mark);
  free(loop);
}

/* Timers */

static int fired;

static void once(uv_timer_t* timer) {
  is(timer, UV_TIMER);
  counts(0, 0); /* it is not active any more */
  fired++;
}

static void again(uv_timer_t* timer) {
  is(timer, UV_TIMER);
  counts(1, 0); /* it is active once more */
  if (++fired == 3) {
    CHECK(uv_timer_stop(timer) == 0);
    counts(0, 0);
  }
}

static void timers(void) {
  uv_timer_t *timer, *other;
  begin();
  NEW(timer);
  CHECK(uv_timer_init(loop, timer) == 0);
  is(timer, UV_TIMER);
  counts(0, 0);
  CHECK(uv_timer_start(timer, once, 1, 0) == 0);
  counts(1, 0);
  CHECK(uv_timer_start(timer, once, 1, 0) == 0);
  counts(1, 0);
  CHECK(uv_timer_stop(timer) == 0);
  counts(0, 0);
  CHECK(uv_timer_again(timer) == 0); /* it has no repeat */
  counts(0, 0);
  CHECK(uv_timer_start(timer, once, 1, 0) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(fired == 1);
  is(timer, UV_TIMER);
  counts(0, 0);
  fired = 0;
  CHECK(uv_timer_start(timer, again, 0, 1) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(fired == 3);
  CHECK(uv_timer_again(timer) == 0);
  counts(1, 0);
  NEW(other);
  CHECK(uv_timer_init(loop, other) == 0 && uv_timer_start(other, once, 100000, 0) == 0);
  counts(2, 0);
  close_and_free(other);
  counts(1, 0);
  close_and_free(timer);
  counts(0, 0);
  end();
}

/* Idle, prepare, check */

static void in_turn(void* watcher, uv_handle_type type) {
  is(watcher, type);
  fired++;
}

static void idle_cb(uv_idle_t* idle) {
  in_turn(idle, UV_IDLE);
  CHECK(uv_idle_stop(idle) == 0);
  counts(2, 0);
}

static void prepare_cb(uv_prepare_t* prepare) {
  in_turn(prepare, UV_PREPARE);
  CHECK(uv_prepare_stop(prepare) == 0);
  counts(1, 0);
}

static void check_cb(uv_check_t* check) {
  in_turn(check, UV_CHECK);
  CHECK(uv_check_stop(check) == 0);
  counts(0, 0);
}

static void watchers(void) {
  uv_idle_t* idle;
  uv_prepare_t* prepare;
  uv_check_t* check;
  begin();
  fired = 0;
  NEW(idle);
  NEW(prepare);
  NEW(check);
  CHECK(uv_idle_init(loop, idle) == 0 && uv_prepare_init(loop, prepare) == 0 && uv_check_init(loop, check) == 0);
  is(idle, UV_IDLE);
  is(prepare, UV_PREPARE);
  is(check, UV_CHECK);
  counts(0, 0);
  CHECK(uv_idle_start(idle, idle_cb) == 0);
  counts(1, 0);
  CHECK(uv_prepare_start(prepare, prepare_cb) == 0);
  counts(2, 0);
  CHECK(uv_check_start(check, check_cb) == 0);
  counts(3, 0);
  CHECK(uv_check_start(check, check_cb) == 0);
  counts(3, 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) == 0);
  CHECK(fired == 3);
  close_and_free(idle);
  close_and_free(prepare);
  close_and_free(check);
  end();
}

/* Async */

static void close_async(uv_async_t* async) {
  is(async, UV_ASYNC);
  counts(1, 0);
  close_and_free(async);
  counts(0, 0);
}

static void asyncs(void) {
  uv_async_t* async;
  begin();
  NEW(async);
  CHECK(uv_async_init(loop, async, close_async) == 0);
  is(async, UV_ASYNC);
  counts(1, 0); /* from its init on */
  CHECK(uv_async_send(async) == 0);
  counts(1, 0);
  end();
}

/* Streams */

static uv_tcp_t *server, *client, *accepted;
static uv_connect_t connecting;
static uv_write_t write_req;
static uv_shutdown_t shutdown_req;
static char bytes[1 << 20];
static char buffer[1 << 16];
static size_t got;

static int is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

static void stream_is(uv_tcp_t* tcp, size_t queued) {
  is(tcp, UV_TCP);
  CHECK(tcp->write_queue_size == queued);
  CHECK(uv_stream_get_write_queue_size((uv_stream_t*) tcp) == queued);
}

static void on_alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) size;
  is(handle, UV_TCP);
  *buf = uv_buf_init(buffer, sizeof(buffer));
}

static void on_end(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) buf;
  if (nread >= 0) {
    got += nread;
    return;
  }
  CHECK(nread == UV_EOF && got == sizeof(bytes));
  CHECK(!uv_is_active((uv_handle_t*) stream)); /* it has stopped reading */
  counts(1, 0);                                /* the server */
  close_and_free(stream);
  counts(1, 0);
  CHECK(accepted->io_watcher.fd == -1);
  close_and_free(client);
  CHECK(client->io_watcher.fd == -1);
  close_and_free(server);
  counts(0, 0);
}

static void on_written(uv_write_t* req, int status) {
  CHECK(status == 0 && req == &write_req && req->data == &mark);
  CHECK(req->type == UV_WRITE && req->handle == (uv_stream_t*) client && req->send_handle == NULL);
  stream_is(client, 0);
  CHECK(loop->active_reqs.count == 1); /* the shutdown */
}

static void on_shut_down(uv_shutdown_t* req, int status) {
  CHECK(status == 0 && req == &shutdown_req && req->data == &mark);
  CHECK(req->type == UV_SHUTDOWN && req->handle == (uv_stream_t*) client);
  CHECK(loop->active_reqs.count == 0);
}

static void on_connected(uv_connect_t* req, int status) {
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  CHECK(status == 0 && req->data == &mark && req->type == UV_CONNECT && req->handle == (uv_stream_t*) client);
  CHECK(loop->active_reqs.count == 0);
  memset(&write_req, 0xff, sizeof(write_req));
  memset(&shutdown_req, 0xff, sizeof(shutdown_req));
  write_req.data = shutdown_req.data = &mark;
  CHECK(uv_write(&write_req, (uv_stream_t*) client, &buf, 1, on_written) == 0);
  CHECK(loop->active_reqs.count == 1);
  CHECK(client->write_queue_size > 0 && client->write_queue_size < sizeof(bytes)); /* more than a socket takes */
  stream_is(client, client->write_queue_size);
  CHECK(uv_shutdown(&shutdown_req, (uv_stream_t*) client, on_shut_down) == 0);
  CHECK(loop->active_reqs.count == 2);
}

static void on_connection(uv_stream_t* stream, int status) {
  CHECK(status == 0 && stream == (uv_stream_t*) server);
  NEW(accepted);
  CHECK(uv_tcp_init(loop, accepted) == 0);
  stream_is(accepted, 0);
  CHECK(accepted->io_watcher.fd == -1);
  CHECK(uv_accept(stream, (uv_stream_t*) accepted) == 0);
  CHECK(is_open(accepted->io_watcher.fd));
  stream_is(accepted, 0);
  CHECK(loop->active_handles == 1);
  CHECK(uv_read_start((uv_stream_t*) accepted, on_alloc, on_end) == 0);
  CHECK(loop->active_handles == 2);
  CHECK(uv_read_stop((uv_stream_t*) accepted) == 0);
  CHECK(loop->active_handles == 1);
  CHECK(uv_read_start((uv_stream_t*) accepted, on_alloc, on_end) == 0);
}

static void streams(void) {
  struct sockaddr_in address;
  int length = sizeof(address);
  int small = 4096;
  uv_os_fd_t fd;
  begin();
  NEW(server);
  CHECK(uv_tcp_init(loop, server) == 0);
  stream_is(server, 0);
  CHECK(server->io_watcher.fd == -1);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_bind(server, (struct sockaddr*) &address, 0) == 0);
  CHECK(is_open(server->io_watcher.fd));
  CHECK(uv_fileno((uv_handle_t*) server, &fd) == 0 && fd == server->io_watcher.fd);
  counts(0, 0);
  CHECK(uv_listen((uv_stream_t*) server, 4, on_connection) == 0);
  counts(1, 0);
  CHECK(uv_fileno((uv_handle_t*) server, &fd) == 0 && fd == server->io_watcher.fd);
  CHECK(uv_tcp_getsockname(server, (struct sockaddr*) &address, &length) == 0);

  NEW(client);
  CHECK(uv_tcp_init(loop, client) == 0);
  memset(&connecting, 0xff, sizeof(connecting));
  connecting.data = &mark;
  CHECK(uv_tcp_connect(&connecting, client, (struct sockaddr*) &address, on_connected) == 0);
  CHECK(is_open(client->io_watcher.fd));
  CHECK(connecting.type == UV_CONNECT && connecting.handle == (uv_stream_t*) client);
  counts(1, 1); /* a stream that connects is a request, not an active handle */
  CHECK(setsockopt(client->io_watcher.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)) == 0);
  stream_is(client, 0);
  end();
  CHECK(got == sizeof(bytes));
}

/* Without bind, listen makes the socket. */
static void listening_makes_a_socket(void) {
  begin();
  NEW(server);
  CHECK(uv_tcp_init(loop, server) == 0);
  CHECK(uv_listen((uv_stream_t*) server, 4, on_connection) == 0);
  CHECK(is_open(server->io_watcher.fd));
  counts(1, 0);
  close_and_free(server);
  counts(0, 0);
  end();
}

static void sockets_that_are_taken_over(void) {
  int pair[2];
  begin();
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  NEW(client);
  CHECK(uv_tcp_init(loop, client) == 0);
  CHECK(uv_tcp_open(client, pair[0]) == 0);
  CHECK(client->io_watcher.fd == pair[0]);
  stream_is(client, 0);
  counts(0, 0);
  CHECK(uv_read_start((uv_stream_t*) client, on_alloc, on_end) == 0);
  counts(1, 0);
  close_and_free(client);
  CHECK(client->io_watcher.fd == -1 && !is_open(pair[0]));
  counts(0, 0);
  CHECK(close(pair[1]) == 0);
  end();
}

/* What is queued gets less as it is sent, also while no write is done. */

static void read_some(uv_timer_t* timer) {
  int fd = *(int*) timer->data;
  size_t before = client->write_queue_size;
  if (before == 0) {
    CHECK(uv_timer_stop(timer) == 0);
    return;
  }
  CHECK(read(fd, buffer, sizeof(buffer)) > 0);
  got++;
}

static size_t last_size;

static void look_at_queue(uv_check_t* check) {
  size_t size = client->write_queue_size;
  CHECK(size <= last_size);
  if (size < last_size) *(int*) check->data += 1;
  last_size = size;
  if (size == 0) CHECK(uv_check_stop(check) == 0);
}

static void on_all_written(uv_write_t* req, int status) {
  CHECK(status == 0 && req->data == &mark && client->write_queue_size == 0);
}

static void the_queue_shrinks_while_it_is_sent(void) {
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  uv_timer_t timer;
  uv_check_t check;
  int pair[2];
  int steps = 0;
  begin();
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  NEW(client);
  CHECK(uv_tcp_init(loop, client) == 0 && uv_tcp_open(client, pair[0]) == 0);
  CHECK(uv_timer_init(loop, &timer) == 0 && uv_timer_start(&timer, read_some, 0, 1) == 0);
  CHECK(uv_check_init(loop, &check) == 0 && uv_check_start(&check, look_at_queue) == 0);
  timer.data = &pair[1];
  check.data = &steps;
  write_req.data = &mark;
  CHECK(uv_write(&write_req, (uv_stream_t*) client, &buf, 1, on_all_written) == 0);
  last_size = client->write_queue_size;
  CHECK(last_size > 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(steps > 2 && client->write_queue_size == 0);
  close_and_free(client);
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &check, NULL);
  CHECK(close(pair[1]) == 0);
  end();
}

/* Writes that are told one after the other: what a callback makes of the number of active handles stays. */

static uv_tcp_t* writers[3];
static uv_write_t writes[5];
static unsigned int told;

static void keep_alive_once_more(uv_write_t* req, int status) {
  CHECK(req->type == UV_WRITE && status == 0);
  counts(told, 4 - told);
  loop->active_handles++;
  told++;
}

static void write_to_all(uv_prepare_t* prepare) {
  const int to[] = {0, 1, 2, 2, 2};
  uv_buf_t buf = uv_buf_init(bytes, 1);
  int i;
  CHECK(uv_prepare_stop(prepare) == 0);
  for (i = 0; i < 5; i++)
    CHECK(uv_write(&writes[i], (uv_stream_t*) writers[to[i]], &buf, 1, keep_alive_once_more) == 0);
  counts(0, 5);
}

static void the_count_is_changed_while_writes_are_told(void) {
  uv_prepare_t prepare;
  int pairs[3][2];
  int i;
  begin();
  for (i = 0; i < 3; i++) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) == 0);
    NEW(writers[i]);
    CHECK(uv_tcp_init(loop, writers[i]) == 0 && uv_tcp_open(writers[i], pairs[i][0]) == 0);
  }
  CHECK(uv_prepare_init(loop, &prepare) == 0 && uv_prepare_start(&prepare, write_to_all) == 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(told == 5);
  counts(5, 0);
  loop->active_handles -= 5;
  uv_close((uv_handle_t*) &prepare, NULL);
  for (i = 0; i < 3; i++) {
    close_and_free(writers[i]);
    CHECK(close(pairs[i][1]) == 0);
  }
  end();
}

/* Poll handles */

static void on_readable(uv_poll_t* poll, int status, int events) {
  is(poll, UV_POLL);
  CHECK(status == 0 && events == UV_READABLE);
  counts(1, 0);
  CHECK(uv_poll_stop(poll) == 0);
  counts(0, 0);
}

static void polls(void) {
  uv_poll_t* poll;
  uv_os_fd_t fd;
  int pair[2];
  begin();
  CHECK(pipe(pair) == 0);
  NEW(poll);
  CHECK(uv_poll_init(loop, poll, pair[0]) == 0);
  is(poll, UV_POLL);
  CHECK(poll->io_watcher.fd == pair[0]);
  CHECK(uv_fileno((uv_handle_t*) poll, &fd) == 0 && fd == pair[0]);
  counts(0, 0);
  CHECK(uv_poll_start(poll, UV_READABLE, on_readable) == 0);
  counts(1, 0);
  CHECK(uv_poll_start(poll, UV_READABLE | UV_DISCONNECT, on_readable) == 0);
  counts(1, 0);
  CHECK(uv_poll_start(poll, 0, on_readable) == 0);
  counts(0, 0);
  CHECK(uv_poll_start(poll, UV_READABLE, on_readable) == 0);
  CHECK(write(pair[1], "!", 1) == 1);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  counts(0, 0);
  CHECK(uv_poll_start(poll, UV_READABLE, on_readable) == 0);
  close_and_free(poll);
  counts(0, 0);
  CHECK(uv_fileno((uv_handle_t*) poll, &fd) == UV_EBADF);
  CHECK(is_open(pair[0])); /* it is not the handle's to close */
  CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
  end();
}

int main(void) {
  CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  timers();
  watchers();
  asyncs();
  streams();
  listening_makes_a_socket();
  sockets_that_are_taken_over();
  the_queue_shrinks_while_it_is_sent();
  the_count_is_changed_while_writes_are_told();
  polls();
  puts("ok");
  return 0;
}

/* Poll handles on descriptors of the program's own. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

#include <stdio.h>

static int calls;
static int last_status;
static int last_events;

static void note(uv_poll_t* poll, int status, int events) {
  CHECK(poll->loop == &loop && poll->type == UV_POLL);
  calls++;
  last_status = status;
  last_events = events;
}

static void other_note(uv_poll_t* poll, int status, int events) {
  (void) poll;
  CHECK(status == 0);
  calls += 100;
  last_events = events;
}

static void pair(int fds[2]) { CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, UV_NONBLOCK_PIPE) == 0); }

static uv_poll_t* new_poll(int fd) {
  uv_poll_t* poll = dirty(sizeof(*poll));
  void* data = poll->data;
  CHECK(uv_poll_init(&loop, poll, fd) == 0);
  CHECK(poll->data == data && poll->loop == &loop && poll->type == UV_POLL);
  CHECK(!uv_is_active((uv_handle_t*) poll) && !uv_is_closing((uv_handle_t*) poll));
  CHECK(poll->io_watcher.fd == fd);
  CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
  return poll;
}

static int events_in_a_turn(void) {
  calls = 0;
  last_events = -1;
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  CHECK(calls <= 1);
  return calls == 0 ? 0 : last_events;
}

static void close_poll(uv_poll_t* poll) {
  uv_close((uv_handle_t*) poll, free_handle);
  CHECK(!uv_is_active((uv_handle_t*) poll));
  run_dry();
}

static void it_is_told_what_is_ready_of_what_is_wanted(void) {
  int fds[2];
  uv_poll_t* poll;
  char byte = 'x';
  pair(fds);
  poll = new_poll(fds[0]);
  CHECK(uv_poll_start(poll, UV_READABLE | UV_WRITABLE, note) == 0);
  CHECK(uv_is_active((uv_handle_t*) poll));
  CHECK(events_in_a_turn() == UV_WRITABLE);
  CHECK(events_in_a_turn() == UV_WRITABLE); /* as long as it is */
  CHECK(write(fds[1], &byte, 1) == 1);
  CHECK(events_in_a_turn() == (UV_READABLE | UV_WRITABLE));
  CHECK(uv_poll_start(poll, UV_READABLE, note) == 0);
  CHECK(events_in_a_turn() == UV_READABLE);
  CHECK(read(fds[0], &byte, 1) == 1);
  CHECK(events_in_a_turn() == 0);
  /* Starting anew replaces events and callback. */
  CHECK(uv_poll_start(poll, UV_WRITABLE, other_note) == 0);
  calls = 0;
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  CHECK(calls == 100 && last_events == UV_WRITABLE);
  CHECK(uv_poll_start(poll, UV_DISCONNECT, note) == 0);
  CHECK(events_in_a_turn() == 0);
  CHECK(shutdown(fds[1], SHUT_WR) == 0);
  CHECK(events_in_a_turn() == UV_DISCONNECT);
  CHECK(uv_poll_start(poll, UV_READABLE | UV_DISCONNECT | UV_PRIORITIZED, note) == 0);
  CHECK(events_in_a_turn() == (UV_READABLE | UV_DISCONNECT));
  close(fds[1]);
  /* Hung up: all that is wanted. */
  CHECK(uv_poll_start(poll, UV_PRIORITIZED, note) == 0);
  CHECK(events_in_a_turn() == UV_PRIORITIZED);
  CHECK(last_status == 0);
  close_poll(poll);
  CHECK(!has_closed(fds[0])); /* it is the program's */
  close(fds[0]);
}

static void out_of_band_data_is_prioritized(void) {
  int port, sender, receiver;
  uv_tcp_t* listener = new_listener(&port);
  struct sockaddr_in address = local(port);
  uv_poll_t* poll;
  sender = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(sender, (struct sockaddr*) &address, sizeof(address)) == 0);
  receiver = accept(listener->io_watcher.fd, NULL, NULL);
  CHECK(receiver >= 0);
  close_tcp(listener);
  poll = new_poll(receiver);
  CHECK(uv_poll_start(poll, UV_PRIORITIZED, note) == 0);
  CHECK(send(sender, "!", 1, MSG_OOB) == 1);
  calls = 0;
  UNTIL(calls > 0);
  CHECK(last_status == 0 && last_events == UV_PRIORITIZED);
  close_poll(poll);
  close(sender);
  close(receiver);
}

static void an_error_stops_it(void) {
  int ends[2];
  uv_poll_t* poll;
  /* The writing end of a pipe that nobody can read is in error. */
  CHECK(pipe(ends) == 0);
  poll = new_poll(ends[1]);
  close(ends[0]);
  CHECK(uv_poll_start(poll, UV_WRITABLE | UV_DISCONNECT, note) == 0);
  calls = 0;
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 0);
  CHECK(calls == 1 && last_status == UV_EBADF && last_events == 0);
  CHECK(!uv_is_active((uv_handle_t*) poll));
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 0);
  CHECK(calls == 1);
  close_poll(poll);
  close(ends[1]);
}

static void stopped_is_stopped(void) {
  int fds[2];
  uv_poll_t* poll;
  pair(fds);
  poll = new_poll(fds[0]);
  CHECK(uv_poll_stop(poll) == 0);
  CHECK(uv_poll_start(poll, UV_WRITABLE, note) == 0);
  CHECK(events_in_a_turn() == UV_WRITABLE);
  CHECK(uv_poll_stop(poll) == 0 && uv_poll_stop(poll) == 0);
  CHECK(!uv_is_active((uv_handle_t*) poll));
  calls = 0;
  CHECK(turn() == 0 && calls == 0);
  /* No events is a stop, too. */
  CHECK(uv_poll_start(poll, UV_WRITABLE, note) == 0);
  CHECK(uv_poll_start(poll, 0, NULL) == 0);
  CHECK(!uv_is_active((uv_handle_t*) poll));
  CHECK(turn() == 0 && calls == 0);
  close_poll(poll);
  close(fds[0]);
  close(fds[1]);
}

static void what_cannot_be_polled_is_refused(void) {
  uv_poll_t poll;
  uv_poll_t* first;
  uv_poll_t* second;
  uv_tcp_t* tcp;
  int fds[2];
  FILE* file = tmpfile();
  CHECK(file != NULL);
  CHECK(uv_poll_init(&loop, &poll, fileno(file)) == UV_EPERM);
  CHECK(uv_poll_init(&loop, &poll, -1) == UV_EBADF);
  CHECK(uv_poll_init_socket(&loop, &poll, -1) == UV_EBADF);
  CHECK(uv_poll_init(&loop, &poll, 1000000) == UV_EBADF);
  fclose(file);

  pair(fds);
  first = new_poll(fds[0]);
  second = new_poll(fds[0]); /* two may be there, */
  CHECK(uv_poll_start(first, UV_READABLE, note) == 0);
  CHECK(uv_poll_start(second, UV_READABLE, note) == UV_EEXIST); /* one may wait */
  CHECK(!uv_is_active((uv_handle_t*) second));
  CHECK(uv_poll_init(&loop, &poll, fds[0]) == UV_EEXIST);
  tcp = new_tcp();
  CHECK(uv_tcp_open(tcp, fds[0]) == UV_EEXIST);
  CHECK(tcp->io_watcher.fd == -1 && !has_closed(fds[0]));
  close_tcp(tcp);
  CHECK(uv_poll_stop(first) == 0);
  CHECK(uv_poll_start(second, UV_WRITABLE, note) == 0);
  CHECK(events_in_a_turn() == UV_WRITABLE);
  CHECK(uv_poll_start(first, UV_WRITABLE, note) == UV_EEXIST);
  uv_close((uv_handle_t*) first, free_handle);
  close_poll(second);
  close(fds[0]);
  close(fds[1]);
}

/* Callbacks that stop, start and close themselves and each other */

static uv_poll_t* polls[2];

static void close_the_other(uv_poll_t* poll, int status, int events) {
  uv_poll_t* other = polls[poll == polls[0]];
  CHECK(status == 0 && events == UV_WRITABLE);
  calls++;
  CHECK(uv_poll_stop(poll) == 0);
  uv_close((uv_handle_t*) other, free_handle);
  polls[0] = poll;
}

static void close_itself(uv_poll_t* poll, int status, int events) {
  CHECK(status == 0 && events == UV_WRITABLE);
  calls++;
  uv_close((uv_handle_t*) poll, free_handle);
}

static void start_itself_for_less(uv_poll_t* poll, int status, int events) {
  CHECK(status == 0 && events == UV_WRITABLE);
  calls++;
  CHECK(uv_poll_stop(poll) == 0);
  CHECK(uv_poll_start(poll, UV_WRITABLE, close_itself) == 0);
}

static void callbacks_may_do_anything(void) {
  int fds[2];
  pair(fds);
  polls[0] = new_poll(fds[0]);
  polls[1] = new_poll(fds[1]);
  CHECK(uv_poll_start(polls[0], UV_WRITABLE, close_the_other) == 0);
  CHECK(uv_poll_start(polls[1], UV_WRITABLE, close_the_other) == 0);
  calls = 0;
  run_dry();
  CHECK(calls == 1); /* the other one was not called */
  close_poll(polls[0]);
  polls[0] = new_poll(fds[0]);
  CHECK(uv_poll_start(polls[0], UV_WRITABLE, start_itself_for_less) == 0);
  run_dry();
  CHECK(calls == 3);
  close(fds[0]);
  close(fds[1]);
}

#ifndef ON_LIBUV
/* libuv ends the process for each of these. */
static void misuse_is_an_error(void) {
  int fds[2], far;
  uv_poll_t* poll;
  uv_poll_t closed;
  pair(fds);
  poll = new_poll(fds[0]);
  CHECK(uv_poll_start(poll, 16, note) == UV_EINVAL);
  CHECK(uv_poll_start(poll, -1, note) == UV_EINVAL);
  CHECK(uv_poll_start(poll, UV_READABLE | 1024, note) == UV_EINVAL);
  CHECK(!uv_is_active((uv_handle_t*) poll));
  CHECK(uv_poll_start(poll, UV_WRITABLE, NULL) == 0); /* nobody is called */
  calls = 0;
  CHECK(turn() == 1 && calls == 0);
  close_poll(poll);

  CHECK(uv_poll_init(&loop, &closed, fds[0]) == 0);
  uv_close((uv_handle_t*) &closed, NULL);
  CHECK(uv_poll_start(&closed, UV_WRITABLE, note) == UV_EINVAL);
  run_dry();
  CHECK(uv_poll_start(&closed, UV_WRITABLE, note) == UV_EINVAL);
  CHECK(uv_poll_stop(&closed) == 0);
  memset(&closed, 0, sizeof(closed));
  CHECK(uv_poll_start(&closed, UV_WRITABLE, note) == UV_EINVAL);
  CHECK(uv_poll_stop(&closed) == UV_EINVAL);

  /* Its descriptor is closed before it is started: that is told in the next turn. */
  far = fcntl(fds[0], F_DUPFD, 900);
  poll = new_poll(far);
  close(far);
  CHECK(uv_poll_start(poll, UV_WRITABLE, note) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && last_status == UV_EBADF && last_events == 0);
  close_poll(poll);
  close(fds[0]);
  close(fds[1]);
}
#endif

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  it_is_told_what_is_ready_of_what_is_wanted();
  out_of_band_data_is_prioritized();
  an_error_stops_it();
  stopped_is_stopped();
  what_cannot_be_polled_is_refused();
  callbacks_may_do_anything();
#ifndef ON_LIBUV
  misuse_is_an_error();
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* What happens in a turn: whole milliseconds, full batches, rounds of reads, and what programs change between callbacks. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

#include <sys/epoll.h>
#include <sys/resource.h>

static int calls;
static char order[16];

static void note_timer(uv_timer_t* timer) { strncat(order, (const char*) timer->data, 1); }

/* Timers of one millisecond keep the order of their start, at whatever fraction of it they were started. */
static int two_timers_of_one_millisecond(void) {
  uv_timer_t late, early;
  uint64_t first;
  int met;
  CHECK(uv_timer_init(&loop, &late) == 0 && uv_timer_init(&loop, &early) == 0);
  late.data = "l";
  early.data = "e";
  order[0] = 0;
  do uv_update_time(&loop); while (uv_hrtime() % 1000000 < 700000);
  uv_update_time(&loop);
  first = uv_now(&loop);
  CHECK(uv_timer_start(&late, note_timer, 20, 0) == 0);
  do uv_update_time(&loop); while (uv_now(&loop) == first);
  met = uv_now(&loop) == first + 1 && uv_hrtime() % 1000000 < 500000;
  CHECK(uv_timer_start(&early, note_timer, 19, 0) == 0);
  if (met) {
    run_dry();
    CHECK(strcmp(order, "le") == 0);
  }
  uv_close((uv_handle_t*) &late, NULL);
  uv_close((uv_handle_t*) &early, NULL);
  run_dry();
  return met;
}

static void times_are_whole_milliseconds(void) {
  int attempts = 1;
  while (!two_timers_of_one_millisecond()) CHECK(attempts++ < 1000);
}

/* The kernel gives 1024 events at once. */
#define POLLS 1100

static void count_poll(uv_poll_t* poll, int status, int events) {
  CHECK(status == 0 && events == UV_WRITABLE);
  CHECK(uv_poll_stop(poll) == 0);
  calls++;
}

static void a_full_batch_is_followed_by_another_in_the_same_turn(void) {
  static uv_poll_t polls[POLLS];
  int fds[2], copies[POLLS], i;
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < POLLS + 100) return;
  limit.rlim_cur = POLLS + 100;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) == 0);
  for (i = 0; i < POLLS; i++) {
    copies[i] = dup(fds[0]);
    CHECK(copies[i] >= 0 && uv_poll_init(&loop, &polls[i], copies[i]) == 0);
    CHECK(uv_poll_start(&polls[i], UV_WRITABLE, count_poll) == 0);
  }
  calls = 0;
  CHECK(turn() == 0 && calls == POLLS);
  for (i = 0; i < POLLS; i++) {
    uv_close((uv_handle_t*) &polls[i], NULL);
    close(copies[i]);
  }
  run_dry();
  close(fds[0]);
  close(fds[1]);
}

static uint64_t time_before;

static void take_long(uv_prepare_t* prepare) {
  time_before = uv_now(prepare->loop);
  uv_sleep(5);
  CHECK(uv_now(prepare->loop) == time_before);
}

static void look_at_the_time(uv_async_t* async) {
  CHECK(uv_now(async->loop) >= time_before + 4);
  calls++;
}

static void the_time_is_read_after_the_wait(void) {
  uv_prepare_t prepare;
  uv_async_t async;
  calls = 0;
  CHECK(uv_prepare_init(&loop, &prepare) == 0 && uv_prepare_start(&prepare, take_long) == 0);
  CHECK(uv_async_init(&loop, &async, look_at_the_time) == 0 && uv_async_send(&async) == 0);
  CHECK(turn() == 1 && calls == 1);
  uv_close((uv_handle_t*) &prepare, NULL);
  uv_close((uv_handle_t*) &async, NULL);
  run_dry();
}

static void stop_and_run(uv_timer_t* timer) {
  if (++calls > 1) {
    uv_timer_stop(timer);
    return;
  }
  uv_stop(timer->loop);
  CHECK(uv_run(timer->loop, UV_RUN_NOWAIT) == 1);
}

static void a_run_inside_takes_the_stop(void) {
  uv_timer_t timer;
  calls = 0;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, stop_and_run, 1, 1) == 0);
  run_dry();
  CHECK(calls == 2);
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
}

static void second(uv_timer_t* timer) {
  calls += 10;
  uv_timer_stop(timer);
}

static void first(uv_timer_t* timer) {
  calls++;
  timer->timer_cb = second;
}

static void the_callback_is_what_stands_in_the_handle(void) {
  uv_timer_t timer;
  calls = 0;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, first, 1, 1) == 0);
  run_dry();
  CHECK(calls == 11);
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
}

static void poll_ready(uv_poll_t* poll, int status, int events) {
  (void) poll;
  CHECK(status == 0 && events == UV_READABLE);
  calls++;
}

static void others_may_change_the_epoll_set(void) {
  uv_poll_t poll;
  struct epoll_event event;
  int fds[2];
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) == 0);
  memset(&event, 0, sizeof(event));
  event.events = EPOLLIN;
  event.data.fd = fds[0];
  CHECK(epoll_ctl(uv_backend_fd(&loop), EPOLL_CTL_ADD, fds[0], &event) == 0);
  CHECK(uv_poll_init(&loop, &poll, fds[0]) == 0 && uv_poll_start(&poll, UV_READABLE, poll_ready) == 0);
  CHECK(write(fds[1], "a", 1) == 1);
  calls = 0;
  CHECK(turn() == 1 && calls == 1);
  CHECK(epoll_ctl(uv_backend_fd(&loop), EPOLL_CTL_DEL, fds[0], &event) == 0);
  CHECK(uv_poll_start(&poll, UV_READABLE | UV_DISCONNECT, poll_ready) == 0);
  CHECK(turn() == 1 && calls == 2);
  uv_close((uv_handle_t*) &poll, NULL);
  run_dry();
  close(fds[0]);
  close(fds[1]);
}

/* Streams */

static char room[64];
static int allocs, empty;

static void alloc_byte(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle, (void) size;
  allocs++;
  *buf = uv_buf_init(room, 1);
}

static void read_byte(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream;
  CHECK(buf->base == room && buf->len == 1);
  if (nread == 0) empty++;
  else CHECK(nread == 1);
  calls++;
}

static void a_readiness_gives_up_to_32_reads_and_the_last_buffer_comes_back_empty(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  calls = allocs = empty = 0;
  CHECK(write(other, room, 40) == 40);
  CHECK(uv_read_start((uv_stream_t*) tcp, alloc_byte, read_byte) == 0);
  CHECK(turn() == 1 && calls == 32 && empty == 0);
  CHECK(turn() == 1 && calls == 41 && empty == 1 && allocs == 41);
  CHECK(turn() == 1 && allocs == 41);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void on_write(uv_write_t* req, int status) {
  (void) req;
  CHECK(status == 0);
  calls++;
}

/* Which may lie in a frame that is gone when they are sent. */
static void the_buffers_of_a_write_are_copied_their_bytes_are_not(void) {
  static char big[3000000], back[sizeof(big)];
  uv_buf_t bufs[8];
  uv_write_t write;
  int other, i;
  size_t got = 0;
  uv_tcp_t* tcp = new_pair(&other);
  memset(big, 'a', sizeof(big));
  bufs[0] = uv_buf_init(big, sizeof(big) - 7);
  for (i = 1; i < 8; i++) bufs[i] = uv_buf_init(big + sizeof(big) - 8 + i, 1);
  calls = 0;
  CHECK(uv_write(&write, (uv_stream_t*) tcp, bufs, 8, on_write) == 0);
  memset(bufs, 0xdb, sizeof(bufs));
  for (i = 1; i < 8; i++) big[sizeof(big) - 8 + i] = (char) ('0' + i);
  while (got < sizeof(big)) {
    ssize_t n = read(other, back + got, sizeof(big) - got);
    if (n > 0) got += n;
    else CHECK(errno == EAGAIN);
    turn();
  }
  UNTIL(calls == 1);
  CHECK(memcmp(back + sizeof(back) - 8, "a1234567", 8) == 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void a_closed_stream_leaves_the_standard_descriptors_open(void) {
  uv_tcp_t* tcp = (uv_tcp_t*) dirty(sizeof(*tcp));
  int fds[2], kept = dup(0);
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, 0) == 0);
  CHECK(dup2(fds[0], 0) == 0 && close(fds[0]) == 0);
  CHECK(uv_tcp_init(&loop, tcp) == 0 && uv_tcp_open(tcp, 0) == 0);
  close_tcp(tcp);
  run_dry();
  CHECK(!has_closed(0));
  if (kept >= 0) CHECK(dup2(kept, 0) == 0 && close(kept) == 0);
  close(fds[1]);
}

static volatile sig_atomic_t pipes;

static void on_sigpipe(int number) {
  (void) number;
  pipes++;
}

static void a_write_to_a_peer_that_is_gone_raises_sigpipe(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_buf_t buf = uv_buf_init("x", 1);
  signal(SIGPIPE, on_sigpipe);
  close(other);
  CHECK(uv_try_write((uv_stream_t*) tcp, &buf, 1) == UV_EPIPE);
  CHECK(pipes == 1);
  signal(SIGPIPE, SIG_DFL);
  close_tcp(tcp);
  run_dry();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  times_are_whole_milliseconds();
  a_full_batch_is_followed_by_another_in_the_same_turn();
  the_time_is_read_after_the_wait();
  a_run_inside_takes_the_stop();
  the_callback_is_what_stands_in_the_handle();
  others_may_change_the_epoll_set();
  a_readiness_gives_up_to_32_reads_and_the_last_buffer_comes_back_empty();
  the_buffers_of_a_write_are_copied_their_bytes_are_not();
  a_closed_stream_leaves_the_standard_descriptors_open();
  a_write_to_a_peer_that_is_gone_raises_sigpipe();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

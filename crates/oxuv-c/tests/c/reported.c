/* What others have reported as bugs of loops, each with the number of its public report. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static int calls;
static int closes;

static void count_close(uv_handle_t* handle) {
  (void) handle;
  closes++;
}

static uint64_t turns_so_far(void) {
  uv_metrics_t metrics;
  CHECK(uv_metrics_info(&loop, &metrics) == 0);
  return metrics.loop_count;
}

static void ring(uv_timer_t* timer) {
  calls++;
  if (calls == 3) uv_timer_stop(timer);
}

/* How many turns the loop takes until a timer of 20 milliseconds has fired three times. Three, and perhaps one more. */
static void nothing_else_wakes_the_loop(void) {
  uv_timer_t timer;
  uint64_t before;
  CHECK(uv_timer_init(&loop, &timer) == 0);
  uv_update_time(&loop);
  CHECK(uv_timer_start(&timer, ring, 20, 20) == 0);
  calls = 0;
  before = turns_so_far();
  while (calls < 3) uv_run(&loop, UV_RUN_ONCE);
  CHECK(turns_so_far() - before <= 4);
  uv_close((uv_handle_t*) &timer, count_close);
  closes = 0;
  UNTIL(closes == 1);
}

/* llrt#546 */
static void an_interval_costs_a_turn_each_time(void) { nothing_else_wakes_the_loop(); }

/* libuv#4245 */
static uv_check_t check;

static void start_again_at_once(uv_timer_t* timer) {
  calls++;
  CHECK(uv_timer_start(timer, start_again_at_once, 0, 0) == 0);
}

static void stop_at_third(uv_check_t* handle) {
  if (++closes == 3) uv_stop(handle->loop);
}

static void a_timer_that_starts_itself_leaves_the_others_their_turn(void) {
  uv_timer_t timer;
  calls = closes = 0;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_check_init(&loop, &check) == 0);
  CHECK(uv_check_start(&check, stop_at_third) == 0);
  CHECK(uv_timer_start(&timer, start_again_at_once, 0, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 1);
  CHECK(closes == 3 && calls == 4);
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &check, NULL);
  run_dry();
}

/* libuv#3671 */
static char bytes[4000000];

static void on_write(uv_write_t* req, int status) {
  (void) req;
  CHECK(status == 0);
  calls++;
}

static void never_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream, (void) nread, (void) buf;
  CHECK(!"nothing was sent");
}

static void never_alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle, (void) size, (void) buf;
  CHECK(!"nothing was sent");
}

static void a_stream_that_has_waited_to_write_wakes_nobody_when_it_is_done(void) {
  int other, reads;
  for (reads = 0; reads < 2; reads++) {
    uv_tcp_t* tcp = new_pair(&other);
    uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
    char* sink = (char*) malloc(sizeof(bytes));
    uv_write_t write;
    if (reads) CHECK(uv_read_start((uv_stream_t*) tcp, never_alloc, never_read) == 0);
    calls = 0;
    CHECK(uv_write(&write, (uv_stream_t*) tcp, &buf, 1, on_write) == 0);
    CHECK(tcp->write_queue_size > 0);
    while (calls == 0) {
      CHECK(read(other, sink, sizeof(bytes)) > 0 || errno == EAGAIN);
      turn();
    }
    while (read(other, sink, sizeof(bytes)) > 0) continue;
    nothing_else_wakes_the_loop();
    close_tcp(tcp);
    close(other);
    free(sink);
    run_dry();
  }
}

/* libuv#1172 */
static void stop_poll(uv_poll_t* poll, int status, int events) {
  CHECK(status == 0 && events == UV_READABLE);
  CHECK(uv_poll_stop(poll) == 0);
  calls++;
}

static void take_byte(uv_poll_t* poll, int status, int events) {
  uv_os_fd_t fd;
  char byte;
  CHECK(status == 0 && events == UV_READABLE);
  CHECK(uv_fileno((uv_handle_t*) poll, &fd) == 0 && read(fd, &byte, 1) == 1);
  calls += 10;
}

static void a_number_that_is_used_again_belongs_to_its_new_poll_handle(void) {
  uv_poll_t old, new;
  int first[2], second[2], number;
  CHECK(uv_socketpair(SOCK_STREAM, 0, first, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) == 0);
  calls = closes = 0;
  number = first[0];
  CHECK(uv_poll_init(&loop, &old, number) == 0 && uv_poll_start(&old, UV_READABLE, stop_poll) == 0);
  CHECK(write(first[1], "a", 1) == 1);
  UNTIL(calls == 1);
  close(number);
  CHECK(uv_socketpair(SOCK_STREAM, 0, second, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) == 0);
  if (second[0] != number) {
    CHECK(dup2(second[0], number) == number);
    close(second[0]);
  }
  CHECK(uv_poll_init(&loop, &new, number) == 0 && uv_poll_start(&new, UV_READABLE, take_byte) == 0);
  uv_close((uv_handle_t*) &old, count_close);
  CHECK(write(second[1], "b", 1) == 1);
  UNTIL(calls == 11 && closes == 1);
  CHECK(write(second[1], "c", 1) == 1);
  UNTIL(calls == 21);
  uv_close((uv_handle_t*) &new, count_close);
  run_dry();
  CHECK(closes == 2);
  close(number);
  close(first[1]);
  close(second[1]);
}

/* libuv#4323, libuv#1148 */
static void stop_and_close_descriptor(uv_poll_t* poll, int status, int events) {
  uv_os_fd_t fd;
  CHECK(uv_fileno((uv_handle_t*) poll, &fd) == 0);
  stop_poll(poll, status, events);
  close(fd);
}

static void close_both(uv_poll_t* poll, int status, int events) {
  uv_os_fd_t fd;
  CHECK(status == 0 && events == UV_READABLE);
  CHECK(uv_fileno((uv_handle_t*) poll, &fd) == 0);
  uv_close((uv_handle_t*) poll, count_close);
  close(fd);
  calls++;
}

static void a_descriptor_closed_in_the_callback_wakes_nobody_by_its_copy(uv_poll_cb cb) {
  uv_poll_t poll;
  int fds[2], copy;
  CHECK(pipe(fds) == 0);
  copy = dup(fds[0]);
  CHECK(copy >= 0);
  calls = 0;
  CHECK(uv_poll_init(&loop, &poll, fds[0]) == 0 && uv_poll_start(&poll, UV_READABLE, cb) == 0);
  CHECK(write(fds[1], "a", 1) == 1);
  UNTIL(calls == 1);
  CHECK(has_closed(fds[0]) && write(fds[1], "b", 1) == 1);
  nothing_else_wakes_the_loop();
  if (!uv_is_closing((uv_handle_t*) &poll)) uv_close((uv_handle_t*) &poll, NULL);
  run_dry();
  close(copy);
  close(fds[1]);
}

/* libuv#4584 */
#define ROUNDS 5000

static struct side {
  uv_loop_t loop;
  uv_async_t ball;
  uv_async_t others[20];
  struct side* other;
  int rounds;
} sides[2];

static void hit(uv_async_t* ball) {
  struct side* side = (struct side*) ball->data;
  CHECK(++side->rounds <= ROUNDS);
  CHECK(uv_async_send(&side->other->ball) == 0);
  if (side->rounds == ROUNDS) uv_stop(&side->loop);
}

static void play(void* side) { CHECK(uv_run(&((struct side*) side)->loop, UV_RUN_DEFAULT) == 1); }

static void close_it(uv_handle_t* handle, void* arg) {
  (void) arg;
  uv_close(handle, NULL);
}

static void no_send_between_loops_is_lost(void) {
  uv_thread_t threads[2];
  int i, j;
  for (i = 0; i < 2; i++) {
    struct side* side = &sides[i];
    CHECK(uv_loop_init(&side->loop) == 0);
    for (j = 0; j < 20; j++) CHECK(uv_async_init(&side->loop, &side->others[j], hit) == 0);
    CHECK(uv_async_init(&side->loop, &side->ball, hit) == 0);
    side->ball.data = side;
    side->other = &sides[1 - i];
  }
  alarm(120); /* lost, it would never end */
  CHECK(uv_async_send(&sides[0].ball) == 0);
  for (i = 0; i < 2; i++) CHECK(uv_thread_create(&threads[i], play, &sides[i]) == 0);
  for (i = 0; i < 2; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  alarm(0);
  for (i = 0; i < 2; i++) {
    CHECK(sides[i].rounds == ROUNDS);
    uv_walk(&sides[i].loop, close_it, NULL);
    CHECK(uv_run(&sides[i].loop, UV_RUN_DEFAULT) == 0);
    CHECK(uv_loop_close(&sides[i].loop) == 0);
  }
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  an_interval_costs_a_turn_each_time();
  a_timer_that_starts_itself_leaves_the_others_their_turn();
  a_stream_that_has_waited_to_write_wakes_nobody_when_it_is_done();
  a_number_that_is_used_again_belongs_to_its_new_poll_handle();
  a_descriptor_closed_in_the_callback_wakes_nobody_by_its_copy(stop_and_close_descriptor);
  a_descriptor_closed_in_the_callback_wakes_nobody_by_its_copy(close_both);
  no_send_between_loops_is_lost();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

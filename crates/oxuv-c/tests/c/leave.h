/* Callbacks of every kind that are left in the middle, by longjmp in C and by an exception in C++. The loop can be run
 * again each time, and nothing is lost.
 *
 * Whoever includes this has `leave`, which does not come back, and `run`, which runs a loop and says where it was left,
 * or NOWHERE if the run ended by itself. */
#ifndef LEAVE_H
#define LEAVE_H

#include "check.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum place {
  NOWHERE, TIMER, IDLE, PREPARE, CHECK_, CONNECTION, ALLOC, READ, END, WRITE, SHUTDOWN, SENT, CLOSE, PLACES
};

static void leave(enum place from);
static enum place run(uv_loop_t* loop, uv_run_mode mode);

static uv_loop_t loop;
static int left[PLACES];

/* Runs the loop until a run ends by itself, and counts where it was left meanwhile. */
static void run_to_the_end(void) {
  enum place place;
  memset(left, 0, sizeof(left));
  while ((place = run(&loop, UV_RUN_DEFAULT)) != NOWHERE) left[place]++;
}

static int left_in_all(void) {
  int i, sum = 0;
  for (i = 0; i < PLACES; i++) sum += left[i];
  return sum;
}

static void close_and_leave(uv_handle_t* handle) {
  (void) handle;
  leave(CLOSE);
}

/* Timers and what runs in each turn. */

static void timer_and_leave(uv_timer_t* timer) {
  (void) timer;
  leave(TIMER);
}

static void idle_and_leave(uv_idle_t* idle) {
  CHECK(uv_idle_stop(idle) == 0);
  leave(IDLE);
}

static void prepare_and_leave(uv_prepare_t* prepare) {
  CHECK(uv_prepare_stop(prepare) == 0);
  leave(PREPARE);
}

#define EACH 3

static uv_timer_t tick; /* ends the wait that comes before check */
static int ticks, checks_done;

static void on_tick(uv_timer_t* timer) {
  (void) timer;
  ticks++;
}

static void check_and_leave(uv_check_t* check) {
  CHECK(uv_check_stop(check) == 0);
  if (++checks_done == EACH) CHECK(uv_timer_stop(&tick) == 0);
  leave(CHECK_);
}

static void every_phase(void) {
  static uv_timer_t timers[EACH];
  static uv_idle_t idles[EACH];
  static uv_prepare_t prepares[EACH];
  static uv_check_t checks[EACH];
  int i;
  CHECK(uv_timer_init(&loop, &tick) == 0);
  CHECK(uv_timer_start(&tick, on_tick, 1, 1) == 0);
  for (i = 0; i < EACH; i++) {
    CHECK(uv_timer_init(&loop, &timers[i]) == 0);
    CHECK(uv_timer_start(&timers[i], timer_and_leave, 0, 0) == 0);
    CHECK(uv_idle_init(&loop, &idles[i]) == 0);
    CHECK(uv_idle_start(&idles[i], idle_and_leave) == 0);
    CHECK(uv_prepare_init(&loop, &prepares[i]) == 0);
    CHECK(uv_prepare_start(&prepares[i], prepare_and_leave) == 0);
    CHECK(uv_check_init(&loop, &checks[i]) == 0);
    CHECK(uv_check_start(&checks[i], check_and_leave) == 0);
  }
  run_to_the_end();
  CHECK(left[TIMER] == EACH && left[IDLE] == EACH && left[PREPARE] == EACH && left[CHECK_] == EACH);
  CHECK(left_in_all() == 4 * EACH && ticks > 0);

  uv_close((uv_handle_t*) &tick, NULL);
  for (i = 0; i < EACH; i++) {
    uv_close((uv_handle_t*) &timers[i], close_and_leave);
    uv_close((uv_handle_t*) &idles[i], close_and_leave);
    uv_close((uv_handle_t*) &prepares[i], close_and_leave);
    uv_close((uv_handle_t*) &checks[i], close_and_leave);
  }
  CHECK(uv_loop_close(&loop) == UV_EBUSY);
  run_to_the_end();
  CHECK(left[CLOSE] == 4 * EACH && left_in_all() == 4 * EACH);
}

/* A connection. */

static uv_tcp_t listener, connection;
static uv_write_t writes[EACH];
static uv_shutdown_t shutdown_req;
static char room[64], heard[64];
static size_t heard_size;
static int allocs, writes_done;

static void written_and_leave(uv_write_t* req, int status) {
  CHECK(status == 0 && req == &writes[writes_done]); /* in their order, none twice */
  writes_done++;
  leave(WRITE);
}

static void shut_down_and_leave(uv_shutdown_t* req, int status) {
  CHECK(status == 0 && req == &shutdown_req);
  uv_close((uv_handle_t*) &connection, close_and_leave);
  leave(SHUTDOWN);
}

/* Every other time: left without an answer, it is asked again. */
static void alloc_and_leave(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  CHECK(handle == (uv_handle_t*) &connection && size > 0);
  if (allocs++ % 2 == 0) leave(ALLOC);
  *buf = uv_buf_init(room, 4);
}

static void read_and_leave(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  int i;
  if (nread == 0) return;
  if (nread > 0) {
    CHECK(buf->base == room && heard_size + nread <= sizeof(heard));
    memcpy(heard + heard_size, room, nread);
    heard_size += nread;
    leave(READ);
  }
  CHECK(nread == UV_EOF);
  for (i = 0; i < EACH; i++) {
    uv_buf_t answer = uv_buf_init(heard + i * 4, 4);
    CHECK(uv_write(&writes[i], stream, &answer, 1, written_and_leave) == 0);
  }
  CHECK(uv_shutdown(&shutdown_req, stream, shut_down_and_leave) == 0);
  leave(END);
}

static void accept_and_leave(uv_stream_t* server, int status) {
  CHECK(status == 0);
  CHECK(uv_tcp_init(&loop, &connection) == 0);
  CHECK(uv_accept(server, (uv_stream_t*) &connection) == 0);
  CHECK(uv_read_start((uv_stream_t*) &connection, alloc_and_leave, read_and_leave) == 0);
  uv_close((uv_handle_t*) server, close_and_leave);
  leave(CONNECTION);
}

static void a_connection(void) {
  static const char message[] = "twelve bytes"; /* three times the room that is given */
  struct sockaddr_in address;
  struct sockaddr* name = (struct sockaddr*) &address;
  int size = sizeof(address), client;
  char answer[64];
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  CHECK(uv_tcp_init(&loop, &listener) == 0);
  CHECK(uv_tcp_bind(&listener, name, 0) == 0);
  CHECK(uv_listen((uv_stream_t*) &listener, 1, accept_and_leave) == 0);
  CHECK(uv_tcp_getsockname(&listener, name, &size) == 0);
  client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(client >= 0 && connect(client, name, size) == 0);
  CHECK(write(client, message, 12) == 12 && shutdown(client, SHUT_WR) == 0);
  run_to_the_end();
  CHECK(left[CONNECTION] == 1 && left[READ] == 3 && left[ALLOC] >= 3 && left[END] == 1);
  CHECK(left[WRITE] == EACH && left[SHUTDOWN] == 1 && left[CLOSE] == 2);
  CHECK(heard_size == 12 && memcmp(heard, message, 12) == 0);
  CHECK(read(client, answer, sizeof(answer)) == 12 && memcmp(answer, message, 12) == 0);
  CHECK(read(client, answer, 1) == 0 && close(client) == 0);
}

/* Runs within runs. */

static int leaves_the_outer;

/* Datagrams. */

static uv_udp_send_t sends[EACH];
static int sends_done;

static void sent_and_leave(uv_udp_send_t* req, int status) {
  CHECK(status == 0 && req == &sends[sends_done]);
  sends_done++;
  leave(SENT);
}

static void datagrams(void) {
  static uv_udp_t udp;
  static char byte;
  struct sockaddr_in self;
  int i, size = sizeof(self);
  uv_buf_t buf = uv_buf_init(&byte, 1);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &self) == 0 && uv_udp_init(&loop, &udp) == 0);
  CHECK(uv_udp_bind(&udp, (const struct sockaddr*) &self, 0) == 0);
  CHECK(uv_udp_getsockname(&udp, (struct sockaddr*) &self, &size) == 0);
  for (i = 0; i < EACH; i++) {
    CHECK(uv_udp_send(&sends[i], &udp, &buf, 1, (const struct sockaddr*) &self, sent_and_leave) == 0);
  }
  /* All are sent; what is to be told is told by one run after the other. */
  for (i = 0; i < EACH; i++) CHECK(run(&loop, UV_RUN_NOWAIT) == SENT && sends_done == i + 1);
  CHECK(run(&loop, UV_RUN_NOWAIT) == NOWHERE);
  uv_close((uv_handle_t*) &udp, NULL);
  run_to_the_end();
}

static void inner_idle(uv_idle_t* idle) { idle_and_leave(idle); }

/* Runs the loop in its callback; what leaves that run is caught here, or ends both. */
static void outer_timer(uv_timer_t* timer) {
  if (leaves_the_outer) {
    CHECK(uv_run(timer->loop, UV_RUN_DEFAULT) == 0);
    CHECK(!"left");
  }
  CHECK(run(timer->loop, UV_RUN_DEFAULT) == IDLE);
  CHECK(run(timer->loop, UV_RUN_DEFAULT) == NOWHERE);
  leave(TIMER);
}

static void nested_runs(void) {
  static uv_timer_t timer;
  static uv_idle_t idle;
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_idle_init(&loop, &idle) == 0);
  for (leaves_the_outer = 0; leaves_the_outer < 2; leaves_the_outer++) {
    CHECK(uv_timer_start(&timer, outer_timer, 0, 0) == 0);
    CHECK(uv_idle_start(&idle, inner_idle) == 0);
    run_to_the_end();
    CHECK(left[leaves_the_outer ? IDLE : TIMER] == 1 && left_in_all() == 1);
  }
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &idle, NULL);
  run_to_the_end();
  CHECK(left_in_all() == 0);
}

static uv_run_mode inner_mode;
static int later_calls;

static void note_later(uv_timer_t* timer) {
  (void) timer;
  later_calls++;
}

static void leave_the_inner(uv_timer_t* timer) {
  CHECK(uv_idle_start((uv_idle_t*) timer->data, inner_idle) == 0);
  CHECK(run(timer->loop, inner_mode) == IDLE);
}

/* The inner one was left in another mode than the outer one has. */
static void the_outer_run_keeps_its_mode(void) {
  static uv_timer_t timer, later;
  static uv_idle_t idle;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_init(&loop, &later) == 0);
  CHECK(uv_idle_init(&loop, &idle) == 0);
  timer.data = &idle;
  inner_mode = UV_RUN_NOWAIT;
  CHECK(uv_timer_start(&timer, leave_the_inner, 0, 0) == 0);
  CHECK(uv_timer_start(&later, note_later, 20, 0) == 0);
  CHECK(run(&loop, UV_RUN_DEFAULT) == NOWHERE);
  CHECK(later_calls == 1);
  inner_mode = UV_RUN_DEFAULT;
  CHECK(uv_timer_start(&timer, leave_the_inner, 0, 0) == 0);
  CHECK(uv_timer_start(&later, note_later, 3600000, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0); /* and does not wait an hour */
  CHECK(!uv_is_active((uv_handle_t*) &timer) && later_calls == 1);
  uv_close((uv_handle_t*) &timer, NULL);
  uv_close((uv_handle_t*) &later, NULL);
  uv_close((uv_handle_t*) &idle, NULL);
  run_to_the_end();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  every_phase();
  a_connection();
  datagrams();
  nested_runs();
  the_outer_run_keeps_its_mode();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

#endif

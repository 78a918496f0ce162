/* Writes that are taken back. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

enum { COUNT = 5 };

static char bytes[3000000];
static char back[sizeof(bytes)];
static uv_write_t reqs[COUNT];
static char order[2 * COUNT + 2];
static size_t sent[COUNT];

static void note(char what) {
  size_t length = strlen(order);
  CHECK(length + 1 < sizeof(order));
  order[length] = what;
}

/* A letter for each: small if it was written, capital if it was cancelled. */
static void on_write(uv_write_t* req, int status) {
  int nth = (int) (req - reqs);
  CHECK(status == 0 || status == UV_ECANCELED);
  sent[nth] = uv_write_nwritten(req);
  note((status == 0 ? 'a' : 'A') + nth);
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  (void) req;
  note(status == 0 ? 's' : 'S');
}

static void begin(void) {
  memset(order, 0, sizeof(order));
  memset(reqs, 0xff, sizeof(reqs));
  memset(sent, 0xff, sizeof(sent));
}

static void write_to(uv_tcp_t* tcp, int nth, size_t size) {
  uv_buf_t buf = uv_buf_init(bytes, size);
  CHECK(uv_write(&reqs[nth], (uv_stream_t*) tcp, &buf, 1, on_write) == 0);
}

static int cancel(int nth) { return uv_cancel((uv_req_t*) &reqs[nth]); }

static size_t read_all(int fd, const char* expected) {
  size_t total = 0;
  while (strcmp(order, expected) != 0) {
    ssize_t count;
    turn();
    while ((count = read(fd, back, sizeof(back))) > 0) total += count;
  }
  return total;
}

static void those_that_are_queued(void) {
  int other;
  size_t queued;
  uv_tcp_t* tcp = new_pair(&other);
  uv_shutdown_t shutdown;
  begin();
  write_to(tcp, 0, sizeof(bytes)); /* half sent */
  write_to(tcp, 1, 10);
  write_to(tcp, 2, 20);
  write_to(tcp, 3, 30);
  queued = tcp->write_queue_size;
  CHECK(cancel(3) == 0 && cancel(1) == 0);
  CHECK(order[0] == 0 && tcp->write_queue_size == queued); /* until they are told */
  CHECK(cancel(1) == 0); /* once more is nothing */
  CHECK(turn() == 1);
  CHECK(strcmp(order, "DB") == 0); /* in the order of their cancelling */
  CHECK(sent[3] == 0 && sent[1] == 0);
  CHECK(tcp->write_queue_size == queued - 40);
  CHECK(uv_shutdown(&shutdown, (uv_stream_t*) tcp, on_shutdown) == 0);
  CHECK(read_all(other, "DBacs") == sizeof(bytes) + 20);
  CHECK(sent[0] == sizeof(bytes) && sent[2] == 20);
  CHECK(cancel(0) == 0); /* and nothing comes of it */
  CHECK(turn() == 0);
  CHECK(strcmp(order, "DBacs") == 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void one_that_is_half_sent(void) {
  int other;
  size_t rest;
  uv_tcp_t* tcp = new_pair(&other);
  begin();
  write_to(tcp, 0, sizeof(bytes));
  rest = tcp->write_queue_size;
  CHECK(rest > 0 && rest < sizeof(bytes));
  CHECK(cancel(0) == 0);
  write_to(tcp, 1, 7); /* it waits for the other one's callback, at least */
  CHECK(read_all(other, "Ab") == sizeof(bytes) - rest + 7);
  CHECK(sent[0] == sizeof(bytes) - rest && sent[1] == 7 && tcp->write_queue_size == 0);
  CHECK(turn() == 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void those_that_are_done_or_closed(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_shutdown_t shutdown;
  begin();
  write_to(tcp, 0, 10);
  CHECK(cancel(0) == 0); /* done already, and told so */
  CHECK(turn() == 0);
  CHECK(strcmp(order, "a") == 0 && sent[0] == 10);
  write_to(tcp, 1, sizeof(bytes));
  write_to(tcp, 2, 10);
  CHECK(uv_shutdown(&shutdown, (uv_stream_t*) tcp, on_shutdown) == 0);
  CHECK(uv_cancel((uv_req_t*) &shutdown) == UV_EINVAL);
  CHECK(cancel(2) == 0);
  close_tcp(tcp);
  CHECK(cancel(1) == UV_EBUSY);
  run_dry();
  CHECK(strcmp(order, "aCBS") == 0);
  close(other);
}

static int results[2];

static void close_when_failed(uv_write_t* req, int status) {
  results[req - reqs] = status;
  if (req == &reqs[0]) close_tcp((uv_tcp_t*) req->handle);
}

/* A failure ends one write: the next one is not tried before that is told. */
static void one_behind_a_failed_one(void) {
  int other, i;
  uv_tcp_t* tcp = new_pair(&other);
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  for (i = 0; i < 2; i++) CHECK(uv_write(&reqs[i], (uv_stream_t*) tcp, &buf, 1, close_when_failed) == 0);
  close(other);
  run_dry();
  CHECK(results[0] == UV_EPIPE && results[1] == UV_ECANCELED);
}

#ifndef ON_LIBUV
static void on_connect(uv_connect_t* req, int status) {
  (void) req;
  CHECK(status == 0);
  note('+');
}

/* libuv tells the connect before it is known. */
static void while_connecting(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* tcp = new_tcp();
  uv_connect_t connect;
  struct sockaddr_in address = local(port);
  begin();
  CHECK(uv_tcp_connect(&connect, tcp, (struct sockaddr*) &address, on_connect) == 0);
  write_to(tcp, 0, 10);
  write_to(tcp, 1, 20);
  CHECK(cancel(0) == 0);
  CHECK(order[0] == 0 && tcp->write_queue_size == 30);
  UNTIL(strlen(order) == 3);
  CHECK(strcmp(order, "+Ab") == 0);
  close_tcp(tcp);

  tcp = new_tcp();
  begin();
  CHECK(uv_tcp_connect(&connect, tcp, (struct sockaddr*) &address, on_connect) == 0);
  write_to(tcp, 0, 10);
  CHECK(cancel(0) == 0);
  UNTIL(strlen(order) == 2);
  CHECK(strcmp(order, "+A") == 0 && tcp->write_queue_size == 0);
  close_tcp(tcp);
  close_tcp(server);
  run_dry();
}
#endif

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  those_that_are_queued();
  one_that_is_half_sent();
  those_that_are_done_or_closed();
  one_behind_a_failed_one();
#ifndef ON_LIBUV
  while_connecting();
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* Shutting one side down: what is written before is sent, and reading goes on. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static char order[16];
static int last_status;
static ssize_t last_read;
static char memory[64];

static void note(char what) {
  size_t length = strlen(order);
  CHECK(length + 1 < sizeof(order));
  order[length] = what;
}

static void alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle;
  (void) suggested;
  *buf = uv_buf_init(memory, sizeof(memory));
}

static void on_read(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream;
  (void) buf;
  last_read = nread;
  note('r');
}

static void on_write(uv_write_t* req, int status) {
  last_status = status;
  note('w');
  free(req);
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  CHECK(!uv_is_writable(req->handle));
  last_status = status;
  note('s');
  free(req);
}

static void write_to(uv_tcp_t* tcp, char* bytes, size_t size) {
  uv_write_t* req = dirty(sizeof(*req));
  uv_buf_t buf = uv_buf_init(bytes, size);
  CHECK(uv_write(req, (uv_stream_t*) tcp, &buf, 1, on_write) == 0);
}

static void shut_down(uv_tcp_t* tcp) {
  uv_shutdown_t* req = dirty(sizeof(*req));
  void* data = req->data;
  CHECK(uv_shutdown(req, (uv_stream_t*) tcp, on_shutdown) == 0);
  CHECK(req->data == data && req->handle == (uv_stream_t*) tcp && req->type == UV_SHUTDOWN);
}

static void reading_goes_on(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_stream_t* stream = (uv_stream_t*) tcp;
  uv_shutdown_t again;
  uv_write_t refused;
  uv_buf_t buf = uv_buf_init("x", 1);
  char back[8];
  memset(order, 0, sizeof(order));
  CHECK(uv_read_start(stream, alloc, on_read) == 0);
  write_to(tcp, "hello", 5);
  shut_down(tcp);
  CHECK(uv_is_readable(stream) && !uv_is_writable(stream)); /* from here on */
  CHECK(uv_shutdown(&again, stream, on_shutdown) == UV_ENOTCONN);
  CHECK(uv_write(&refused, stream, &buf, 1, on_write) == UV_EPIPE);
  CHECK(uv_try_write(stream, &buf, 1) == UV_EPIPE);
  CHECK(order[0] == 0);
  CHECK(turn() == 1);
  CHECK(strcmp(order, "ws") == 0 && last_status == 0);
  CHECK(read(other, back, sizeof(back)) == 5 && read(other, back, sizeof(back)) == 0);
  CHECK(uv_shutdown(&again, stream, on_shutdown) == UV_ENOTCONN);
  CHECK(write(other, "answer", 6) == 6);
  UNTIL(order[2] != 0);
  CHECK(last_read == 6);
  close(other);
  UNTIL(order[3] != 0);
  CHECK(last_read == UV_EOF && strcmp(order, "wsrr") == 0);
  CHECK(!uv_loop_alive(&loop));
  close_tcp(tcp);
  run_dry();
}

static void what_is_queued_is_sent_before(void) {
  static char bytes[2000000];
  static char back[sizeof(bytes) + 1];
  size_t received = 0, queued;
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  memset(order, 0, sizeof(order));
  memset(bytes, 'b', sizeof(bytes));
  write_to(tcp, bytes, sizeof(bytes));
  write_to(tcp, "end", 3);
  shut_down(tcp);
  queued = tcp->write_queue_size;
  CHECK(queued > 3 && queued < sizeof(bytes));
  CHECK(uv_stream_get_write_queue_size((uv_stream_t*) tcp) == queued);
  for (;;) {
    ssize_t count = read(other, back, sizeof(back));
    CHECK(turn() == 1 || order[2] == 's');
    if (count == 0) break;
    if (count < 0) continue;
    received += count;
    CHECK(tcp->write_queue_size <= sizeof(bytes) + 3 - received); /* it shrinks with what is sent */
    CHECK(uv_stream_get_write_queue_size((uv_stream_t*) tcp) == tcp->write_queue_size);
  }
  CHECK(received == sizeof(bytes) + 3 && tcp->write_queue_size == 0);
  CHECK(strcmp(order, "wws") == 0 && last_status == 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void closed_before_it_is_shut_down(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  char byte;
  memset(order, 0, sizeof(order));
  shut_down(tcp);
  close_tcp(tcp);
  run_dry();
  CHECK(strcmp(order, "s") == 0 && last_status == UV_ECANCELED);
  CHECK(read(other, &byte, 1) == 0);
  close(other);
  /* Nobody need be called. */
  tcp = new_pair(&other);
  {
    uv_shutdown_t req;
    CHECK(uv_shutdown(&req, (uv_stream_t*) tcp, NULL) == 0);
    run_dry();
  }
  close_tcp(tcp);
  close(other);
  run_dry();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  reading_goes_on();
  what_is_queued_is_sent_before();
  closed_before_it_is_shut_down();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

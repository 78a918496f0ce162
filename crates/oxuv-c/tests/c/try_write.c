/* What is sent at once, what stays queued, and how much of a write is sent. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static char bytes[4000000];
static char back[sizeof(bytes)];
static int writes;
static int statuses[4];
static size_t sent[4];

static void on_write(uv_write_t* req, int status) {
  statuses[writes] = status;
  sent[writes] = uv_write_nwritten(req);
  writes++;
}

/* Fills what the kernel takes. */
static size_t fill(uv_tcp_t* tcp) {
  uv_buf_t buf = uv_buf_init(bytes, sizeof(bytes));
  size_t total = 0;
  for (;;) {
    int result = uv_try_write((uv_stream_t*) tcp, &buf, 1);
    if (result == UV_EAGAIN) return total;
    CHECK(result > 0);
    total += result;
  }
}

static void it_is_sent_at_once_or_not_at_all(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  size_t total = fill(tcp);
  CHECK(total > 0 && tcp->write_queue_size == 0);
  CHECK(!uv_loop_alive(&loop));
  while (total > 0) {
    ssize_t count = read(other, back, sizeof(back));
    CHECK(count > 0);
    total -= count;
  }
  CHECK(read(other, back, 1) == -1 && errno == EAGAIN);
  CHECK(fill(tcp) > 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

static void a_closed_stream_tells_how_much_was_sent(void) {
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  uv_write_t reqs[3];
  uv_buf_t bufs[2];
  size_t first;
  bufs[0] = uv_buf_init(bytes, sizeof(bytes) / 2);
  bufs[1] = uv_buf_init(bytes, sizeof(bytes) / 2);
  memset(reqs, 0xff, sizeof(reqs));
  writes = 0;
  CHECK(uv_write(&reqs[0], (uv_stream_t*) tcp, bufs, 2, on_write) == 0);
  first = sizeof(bytes) - tcp->write_queue_size;
  CHECK(first > 0 && first < sizeof(bytes));
  CHECK(uv_try_write((uv_stream_t*) tcp, bufs, 1) == UV_EAGAIN);
  CHECK(uv_write(&reqs[1], (uv_stream_t*) tcp, bufs, 1, on_write) == 0);
  CHECK(tcp->write_queue_size == sizeof(bytes) - first + bufs[0].len);
  /* The array was copied. */
  memset(bufs, 0xff, sizeof(bufs));
  CHECK(read(other, back, 100000) > 0);
  CHECK(turn() == 1);
  CHECK(writes == 0);
  first = sizeof(bytes) + sizeof(bytes) / 2 - tcp->write_queue_size;
  close_tcp(tcp);
  run_dry();
  CHECK(writes == 2);
  CHECK(statuses[0] == UV_ECANCELED && sent[0] == first);
  CHECK(statuses[1] == UV_ECANCELED && sent[1] == 0);
  close(other);
}

static void writes_end_in_their_order(void) {
  int other;
  size_t received = 0;
  uv_tcp_t* tcp = new_pair(&other);
  uv_write_t reqs[3];
  uv_buf_t big = uv_buf_init(bytes, sizeof(bytes)), small[5];
  int i;
  for (i = 0; i < 5; i++) small[i] = uv_buf_init(bytes + i, i);
  memset(reqs, 0xff, sizeof(reqs));
  writes = 0;
  CHECK(uv_write(&reqs[0], (uv_stream_t*) tcp, &big, 1, on_write) == 0);
  CHECK(uv_write(&reqs[1], (uv_stream_t*) tcp, small, 5, on_write) == 0);
  CHECK(uv_write(&reqs[2], (uv_stream_t*) tcp, small, 1, on_write) == 0);
  memset(back, 0, sizeof(back));
  while (received < sizeof(bytes) + 10) {
    size_t room = sizeof(back) - received % sizeof(back);
    ssize_t count = read(other, back + received % sizeof(back), room);
    if (count > 0) received += count;
    turn();
  }
  CHECK(writes == 3 && tcp->write_queue_size == 0);
  for (i = 0; i < 3; i++) CHECK(statuses[i] == 0);
  CHECK(sent[0] == sizeof(bytes) && sent[1] == 10 && sent[2] == 0);
  CHECK(memcmp(back + 10, bytes + 10, sizeof(bytes) - 10) == 0);
  close_tcp(tcp);
  close(other);
  run_dry();
}

int main(void) {
  size_t i;
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < sizeof(bytes); i++) bytes[i] = (char) (i * 7 + i / 251);
  it_is_sent_at_once_or_not_at_all();
  a_closed_stream_tells_how_much_was_sent();
  writes_end_in_their_order();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

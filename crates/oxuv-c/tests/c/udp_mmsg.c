/* Several datagrams are received, and sent, at a time. */
#define _DEFAULT_SOURCE
#include "udp.h"

static int allocs, frees, chunks, empties;
static char* base;
static void (*in_callback)(uv_udp_t*);

static void alloc_several(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle;
  allocs++;
  base = (char*) dirty(3 * suggested + 5);
  *buf = uv_buf_init(base, 3 * suggested + 5);
}

static void on_received(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  if (flags & UV_UDP_MMSG_CHUNK) {
    char nth;
    CHECK(size == 3 && from->sa_family == AF_INET && flags == UV_UDP_MMSG_CHUNK);
    CHECK(buf->len == 65536 && (buf->base - base) % 65536 == 0);
    nth = (char) ('a' + chunks++);
    CHECK(buf->base[0] == nth && buf->base[2] == nth);
    memset(buf->base, 0, buf->len);
    if (in_callback != NULL) in_callback(udp);
    return;
  }
  CHECK(size == 0 && from == NULL && buf->base == base && buf->len == 3 * 65536 + 5);
  if (flags != 0) CHECK(flags == UV_UDP_MMSG_FREE);
  if (flags != 0) frees++;
  else empties++;
  free(buf->base);
}

static uv_udp_t* sender_of(const struct sockaddr_in* to, int count) {
  uv_udp_t* udp = new_udp(AF_INET);
  int i;
  for (i = 0; i < count; i++) {
    char text[3];
    uv_buf_t buf = uv_buf_init(text, 3);
    memset(text, 'a' + i, 3);
    CHECK(uv_udp_try_send(udp, &buf, 1, (const struct sockaddr*) to) == 3);
  }
  return udp;
}

static void start(void) {
  allocs = frees = chunks = empties = 0;
  in_callback = NULL;
}

static void each_has_its_own_part_and_the_buffer_comes_back(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_UNSPEC | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender;
  CHECK(uv_udp_using_recvmmsg(udp) == 1);
  start();
  CHECK(uv_udp_recv_start(udp, alloc_several, on_received) == 0);
  sender = sender_of(&to, 7);
  CHECK(uv_udp_using_recvmmsg(sender) == 0);
  UNTIL(chunks == 7 && empties == 1);
  /* 3, 3, 1, and one that finds nothing */
  CHECK(allocs == 4 && frees == 3);
  close_udp(udp);
  close_udp(sender);
  CHECK(uv_udp_using_recvmmsg(udp) == 1);
  run_dry();
}

static void stop(uv_udp_t* udp) { CHECK(uv_udp_recv_stop(udp) == 0); }

static void close_it(uv_udp_t* udp) { uv_close((uv_handle_t*) udp, free_handle); }

/* The rest is dropped, but the buffer comes back. */
static void a_callback_may_stop_or_close(void (*what)(uv_udp_t*)) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_INET | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender = sender_of(&to, 3);
  start();
  in_callback = what;
  CHECK(uv_udp_recv_start(udp, alloc_several, on_received) == 0);
  UNTIL(frees == 1);
  CHECK(chunks == 1 && allocs == 1 && empties == 0);
  if (what == stop) close_udp(udp);
  close_udp(sender);
  run_dry();
}

static int runs;

static void gone(uv_handle_t* handle) {
  free_handle(handle);
  runs++;
}

static void close_and_run(uv_udp_t* udp) {
  uv_close((uv_handle_t*) udp, gone);
  while (runs == 0) uv_run(&loop, UV_RUN_NOWAIT);
}

/* Whose memory is gone hears nothing any more. */
static void a_callback_may_run_the_loop_until_the_handle_is_gone(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_INET | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender = sender_of(&to, 3);
  start();
  in_callback = close_and_run;
  CHECK(uv_udp_recv_start(udp, alloc_several, on_received) == 0);
  UNTIL(runs == 1);
  CHECK(chunks == 1 && frees == 0);
  free(base);
  close_udp(sender);
  run_dry();
}

static int too_small;

static void alloc_small(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle;
  base = (char*) dirty(suggested - 1);
  *buf = uv_buf_init(base, suggested - 1);
}

static void on_small(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  CHECK(size == UV_EINVAL && from == NULL && flags == 0);
  free(buf->base);
  too_small++;
  uv_close((uv_handle_t*) udp, free_handle);
}

static void a_buffer_for_less_than_one_is_refused(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_INET | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender = sender_of(&to, 1);
  CHECK(uv_udp_recv_start(udp, alloc_small, on_small) == 0);
  UNTIL(too_small == 1);
  close_udp(sender);
  run_dry();
}

static void several_are_sent_at_a_time(void) {
  struct sockaddr_in to;
  uv_udp_t* receiver = new_bound(AF_UNSPEC, &to);
  uv_udp_t* udp = new_udp(AF_INET);
  uv_udp_t* unbound = new_udp(AF_UNSPEC);
  unsigned counts[50];
  uv_buf_t bufs[50];
  uv_buf_t* arrays[50];
  struct sockaddr* addresses[50];
  uv_udp_send_t req;
  char bytes[50], byte;
  int i;
  for (i = 0; i < 50; i++) {
    bytes[i] = (char) i;
    bufs[i] = uv_buf_init(bytes + i, 1);
    arrays[i] = &bufs[i];
    counts[i] = 1;
    addresses[i] = (struct sockaddr*) &to;
  }
  CHECK(uv_udp_try_send2(udp, 0, arrays, counts, addresses, 0) == UV_EINVAL);
  CHECK(uv_udp_try_send2(udp, 1, arrays, counts, addresses, 1) == UV_EINVAL);
  CHECK(uv_udp_try_send2(unbound, 1, arrays, counts, addresses, 0) == UV_EINVAL);
  CHECK(uv_udp_try_send2(udp, 1, NULL, counts, addresses, 0) == UV_EINVAL);
  CHECK(uv_udp_try_send2(udp, 1, arrays, NULL, addresses, 0) == UV_EINVAL);
  CHECK(uv_udp_try_send2(udp, 1, arrays, counts, NULL, 0) == UV_EINVAL);
  /* More than one call takes: all of them, each once. */
  CHECK(uv_udp_try_send2(udp, 50, arrays, counts, addresses, 0) == 50);
  for (i = 0; i < 50; i++) {
    CHECK(recv(receiver->io_watcher.fd, &byte, 1, MSG_DONTWAIT) == 1);
    CHECK(byte == i);
  }
  /* If one is refused, none is sent. */
  counts[3] = 0;
  CHECK(uv_udp_try_send2(udp, 5, arrays, counts, addresses, 0) == UV_EINVAL);
  counts[3] = 1;
  addresses[4] = NULL;
  CHECK(uv_udp_try_send2(udp, 5, arrays, counts, addresses, 0) == UV_EDESTADDRREQ);
  CHECK(recv(receiver->io_watcher.fd, &byte, 1, MSG_DONTWAIT) == -1);
  CHECK(uv_udp_send(&req, udp, bufs, 1, (struct sockaddr*) &to, NULL) == 0);
  CHECK(uv_udp_try_send2(udp, 2, arrays, counts, addresses, 0) == UV_EAGAIN);
  close_udp(udp);
  close_udp(unbound);
  close_udp(receiver);
  run_dry();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  each_has_its_own_part_and_the_buffer_comes_back();
  a_callback_may_stop_or_close(stop);
  a_callback_may_stop_or_close(close_it);
  a_callback_may_run_the_loop_until_the_handle_is_gone();
  a_buffer_for_less_than_one_is_refused();
  several_are_sent_at_a_time();
  CHECK(uv_loop_close(&loop) == 0);
  printf("ok\n");
  return 0;
}

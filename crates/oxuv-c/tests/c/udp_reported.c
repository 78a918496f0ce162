/* What others have reported as bugs of UDP handles, each with the number of its public report. */
#define _DEFAULT_SOURCE
#include "udp.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int received, closed, sent;

static void start(void) { received = closed = sent = 0; }

static void count_close(uv_handle_t* handle) {
  closed++;
  free_handle(handle);
}

static void try_send(uv_udp_t* udp, const char* text, const struct sockaddr_in* to) {
  uv_buf_t buf = uv_buf_init((char*) text, strlen(text));
  CHECK(uv_udp_try_send(udp, &buf, 1, (const struct sockaddr*) to) == (int) buf.len);
}

/* An address where nobody is. */
static struct sockaddr_in nowhere(void) {
  struct sockaddr_in address;
  close_udp(new_bound(AF_UNSPEC, &address));
  run_dry();
  return address;
}

/* libuv#5030 */
static int close_at;

static void close_at_a_call(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) size;
  (void) from;
  (void) flags;
  free(buf->base);
  CHECK(closed == 0 && received < close_at);
  if (++received == close_at) uv_close((uv_handle_t*) udp, count_close);
}

static void closed_with_a_datagram_and_an_error_pending(int at) {
  struct sockaddr_in nobody = nowhere(), address;
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  uv_udp_t* sender = new_udp(AF_INET);
  start();
  close_at = at;
  address = local(0);
  CHECK(uv_udp_bind(udp, (struct sockaddr*) &address, UV_UDP_LINUX_RECVERR) == 0);
  address = local(udp_port(udp));
  CHECK(uv_udp_recv_start(udp, alloc_64k, close_at_a_call) == 0);
  try_send(udp, "refused", &nobody);
  try_send(sender, "hello", &address);
  close_udp(sender);
  run_dry();
  CHECK(received == at && closed == 1);
}

/* libuv#5133 */
static int chunks, frees, empties;

static void count_kinds(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) udp;
  if (size == 5 && flags == UV_UDP_MMSG_CHUNK && from != NULL) {
    chunks++;
    return;
  }
  CHECK(size == 0 && from == NULL);
  if (flags == UV_UDP_MMSG_FREE) frees++;
  else empties++;
  CHECK(flags == UV_UDP_MMSG_FREE || flags == 0);
  free(buf->base);
}

static void alloc_several(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle;
  *buf = uv_buf_init((char*) dirty(4 * suggested), 4 * suggested);
}

static void one_datagram_of_several_is_told_once(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_UNSPEC | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender = new_udp(AF_INET);
  chunks = frees = empties = 0;
  CHECK(uv_udp_recv_start(udp, alloc_several, count_kinds) == 0);
  try_send(sender, "hello", &to);
  UNTIL(empties == 1);
  turn();
  CHECK(chunks == 1 && frees == 1 && empties == 1);
  close_udp(udp);
  close_udp(sender);
  run_dry();
}

/* libuv#2899 */
static void on_sent(uv_udp_send_t* req, int status) {
  CHECK(status == 0 || status == UV_ECONNREFUSED);
  CHECK(req->data == req);
  req->data = NULL;
  sent++;
}

static void each_send_that_is_refused_is_told_once(void) {
  struct sockaddr_in nobody = nowhere();
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  uv_buf_t buf = uv_buf_init("hello", 5);
  uv_udp_send_t reqs[4];
  int i;
  start();
  CHECK(uv_udp_connect(udp, (struct sockaddr*) &nobody) == 0);
  for (i = 0; i < 4; i++) {
    reqs[i].data = &reqs[i];
    CHECK(uv_udp_send(&reqs[i], udp, &buf, 1, NULL, on_sent) == 0);
  }
  run_dry();
  CHECK(sent == 4);
  CHECK(uv_udp_get_send_queue_size(udp) == 0 && uv_udp_get_send_queue_count(udp) == 0);
  close_udp(udp);
  run_dry();
}

/* libuv#4219 */
static void on_empty(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) udp;
  CHECK(size == 0 && flags == 0);
  /* Without an address there was nothing to receive; with one, nothing was in it. */
  if (from != NULL) received++;
  free(buf->base);
}

static void an_empty_datagram_has_a_sender(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_UNSPEC, &to);
  uv_udp_t* sender = new_udp(AF_INET);
  start();
  CHECK(uv_udp_recv_start(udp, alloc_64k, on_empty) == 0);
  try_send(sender, "", &to);
  UNTIL(received == 1);
  turn();
  CHECK(received == 1);
  close_udp(udp);
  close_udp(sender);
  run_dry();
}

/* libuv#4848 */
static int refuse_batches(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendmmsg, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_recvmmsg, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void several_are_sent_where_the_system_takes_one_at_a_time(void) {
  struct sockaddr_in to;
  uv_udp_t* udp = new_bound(AF_UNSPEC | UV_UDP_RECVMMSG, &to);
  uv_udp_t* sender = new_udp(AF_INET);
  uv_buf_t buf = uv_buf_init("hello", 5);
  uv_buf_t* bufs[3] = {&buf, &buf, &buf};
  unsigned counts[3] = {1, 1, 1};
  struct sockaddr* addresses[3];
  uv_udp_send_t reqs[4];
  int i;
  start();
  chunks = frees = empties = 0;
  for (i = 0; i < 3; i++) addresses[i] = (struct sockaddr*) &to;
  CHECK(uv_udp_try_send2(sender, 3, bufs, counts, addresses, 0) == 3);
  for (i = 0; i < 4; i++) {
    reqs[i].data = &reqs[i];
    CHECK(uv_udp_send(&reqs[i], sender, &buf, 1, (struct sockaddr*) &to, on_sent) == 0);
  }
  CHECK(uv_udp_recv_start(udp, alloc_several, count_kinds) == 0);
  UNTIL(sent == 4 && empties == 1);
  CHECK(chunks == 7 && frees == 7);
  close_udp(udp);
  close_udp(sender);
  run_dry();
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  closed_with_a_datagram_and_an_error_pending(1);
  closed_with_a_datagram_and_an_error_pending(2);
  one_datagram_of_several_is_told_once();
  each_send_that_is_refused_is_told_once();
  an_empty_datagram_has_a_sender();
  /* From here on there is no way back. */
  if (refuse_batches() == 0) several_are_sent_where_the_system_takes_one_at_a_time();
  else printf("left out: system calls cannot be refused here\n");
  CHECK(uv_loop_close(&loop) == 0);
  printf("ok\n");
  return 0;
}

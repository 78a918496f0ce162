/* Datagrams are sent and received, one by one. */
#define _DEFAULT_SOURCE
#include "counts.h"
#include "udp.h"

#include <sys/un.h>

static int sent, failed, received;
static char last[65536];
static ssize_t last_size;
static struct sockaddr_in last_from;
static unsigned last_flags;

static void on_sent(uv_udp_send_t* req, int status) {
  CHECK(req->type == UV_UDP_SEND);
  CHECK((int) (long) req->data == sent++); /* in the order of the calls */
  if (status != 0) failed = status;
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static int send_to(uv_udp_t* udp, const char* bytes, size_t size, const struct sockaddr_in* to, int nth) {
  uv_udp_send_t* req = (uv_udp_send_t*) dirty(sizeof(*req));
  uv_buf_t buf = uv_buf_init((char*) bytes, size);
  int result;
  req->data = (void*) (long) nth;
  result = uv_udp_send(req, udp, &buf, 1, (const struct sockaddr*) to, on_sent);
  if (result != 0) free(req);
  return result;
}

static void on_received(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  CHECK(uv_is_active((uv_handle_t*) udp));
  if (from == NULL) {
    CHECK(size <= 0 && flags == 0);
    if (size < 0) last_size = size;
  } else {
    received++;
    last_size = size;
    last_flags = flags;
    if (size > 0) memcpy(last, buf->base, size);
    memcpy(&last_from, from, sizeof(last_from));
  }
  free(buf->base);
}

static void datagrams_arrive_and_sends_are_told(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_udp_t* client = new_udp(AF_UNSPEC);
  static char bytes[100];
  int i;
  CHECK(server->type == UV_UDP && strcmp(uv_handle_type_name(server->type), "udp") == 0);
  CHECK(client->io_watcher.fd == -1 && client->send_queue_size == 0 && client->send_queue_count == 0);
  CHECK(uv_udp_recv_start(server, alloc_64k, on_received) == 0);
  CHECK(uv_udp_recv_start(server, alloc_64k, on_received) == UV_EALREADY);
  sent = received = 0;
  for (i = 0; i < 100; i++) {
    bytes[i] = (char) i;
    CHECK(send_to(client, bytes + i, 1, &to, i) == 0);
  }
  CHECK(client->io_watcher.fd >= 0 && sent == 0);
  CHECK(client->send_queue_count == 100 && uv_udp_get_send_queue_count(client) == 100);
  CHECK(client->send_queue_size == 100 && uv_udp_get_send_queue_size(client) == 100);
  CHECK(loop.active_reqs.count == 100 && uv_is_active((uv_handle_t*) client));
  UNTIL(sent == 100 && received == 100);
  CHECK(failed == 0 && last[0] == 99 && last_size == 1 && last_flags == 0);
  CHECK(last_from.sin_family == AF_INET && ntohs(last_from.sin_port) == udp_port(client));
  CHECK(client->send_queue_count == 0 && client->send_queue_size == 0);
  CHECK(!uv_is_active((uv_handle_t*) client));
  close_udp(client);
  close_udp(server);
  run_dry();
}

static void datagrams_of_every_size(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_udp_t* client = new_udp(AF_INET);
  static char bytes[65508];
  uv_buf_t bufs[2000];
  int i;
  CHECK(uv_udp_recv_start(server, alloc_64k, on_received) == 0);
  sent = received = failed = 0;
  CHECK(send_to(client, bytes, 0, &to, 0) == 0);
  UNTIL(sent == 1 && received == 1);
  CHECK(last_size == 0);
  memset(bytes, 'x', sizeof(bytes));
  CHECK(send_to(client, bytes, 65507, &to, 1) == 0);
  UNTIL(sent == 2 && received == 2);
  CHECK(last_size == 65507 && last[65506] == 'x' && failed == 0);
  CHECK(send_to(client, bytes, 65508, &to, 2) == 0);
  CHECK(send_to(client, bytes, 1, &to, 3) == 0);
  UNTIL(sent == 4 && received == 3);
  CHECK(failed == UV_EMSGSIZE);
  for (i = 0; i < 2000; i++) bufs[i] = uv_buf_init(bytes, 1);
  CHECK(uv_udp_try_send(client, bufs, 1024, (struct sockaddr*) &to) == 1024);
  CHECK(uv_udp_try_send(client, bufs, 100, (struct sockaddr*) &to) == 100);
  UNTIL(received == 5);
  CHECK(uv_udp_try_send(client, bufs, 1025, (struct sockaddr*) &to) == UV_EMSGSIZE);
  CHECK(uv_udp_try_send(client, bufs, 0, (struct sockaddr*) &to) == UV_EINVAL);
  CHECK(uv_udp_try_send(client, bufs, 1, NULL) == UV_EDESTADDRREQ);
  close_udp(client);
  close_udp(server);
  run_dry();
}

static void many_bufs(uv_udp_send_t* req, int status) {
  CHECK(status == 0);
  req->data = NULL;
}

static void many_buffers_are_copied(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_udp_t* client = new_udp(AF_UNSPEC);
  uv_udp_send_t one, two;
  uv_buf_t bufs[6];
  int i;
  for (i = 0; i < 6; i++) bufs[i] = uv_buf_init("ab", 2);
  CHECK(uv_udp_recv_start(server, alloc_64k, on_received) == 0);
  received = 0;
  one.data = two.data = &one;
  CHECK(uv_udp_send(&one, client, bufs, 6, (struct sockaddr*) &to, many_bufs) == 0);
  CHECK(uv_udp_send(&two, client, bufs, 6, (struct sockaddr*) &to, many_bufs) == 0);
  memset(bufs, 0, sizeof(bufs));
  UNTIL(received == 2 && one.data == NULL && two.data == NULL);
  CHECK(last_size == 12 && memcmp(last, "abababababab", 12) == 0);
  close_udp(client);
  close_udp(server);
  run_dry();
}

static void close_cancels_what_has_not_gone(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_udp_t* client = new_udp(AF_UNSPEC);
  sent = failed = 0;
  CHECK(send_to(client, "a", 1, &to, 0) == 0);
  CHECK(send_to(client, "b", 1, &to, 1) == 0);
  close_udp(client);
  CHECK(send_to(client, "c", 1, &to, 2) == UV_EINVAL);
  close_udp(server);
  run_dry();
  CHECK(sent == 2 && failed == UV_ECANCELED);
}

static void what_the_system_refuses_at_first_follows(void) {
  uv_os_sock_t fds[2];
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  int i, got = 0, number;
  static int numbers[3000];
  CHECK(uv_socketpair(SOCK_DGRAM, 0, fds, 0, UV_NONBLOCK_PIPE) == 0);
  CHECK(uv_udp_open(udp, fds[0]) == 0);
  sent = failed = 0;
  for (i = 0; i < 3000; i++) {
    numbers[i] = i;
    CHECK(send_to(udp, (char*) &numbers[i], sizeof(int), NULL, i) == 0);
  }
  turn();
  CHECK(sent < 3000 && udp->send_queue_count == (size_t) (3000 - sent));
  CHECK(udp->send_queue_size == udp->send_queue_count * sizeof(int));
  while (got < 3000) {
    while (recv(fds[1], &number, sizeof(number), 0) == sizeof(number)) CHECK(number == got++);
    uv_run(&loop, UV_RUN_ONCE);
  }
  UNTIL(sent == 3000);
  CHECK(failed == 0 && udp->send_queue_count == 0 && udp->send_queue_size == 0);
  close_udp(udp);
  run_dry();
  close(fds[1]);
}

static void small_alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle, (void) suggested;
  *buf = uv_buf_init((char*) dirty(3), 3);
}

static void what_does_not_fit_is_flagged(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_buf_t buf = uv_buf_init("hello", 5);
  CHECK(uv_udp_recv_start(server, small_alloc, on_received) == 0);
  received = 0;
  CHECK(uv_udp_try_send(server, &buf, 1, (struct sockaddr*) &to) == 5);
  UNTIL(received == 1);
  CHECK(last_size == 3 && memcmp(last, "hel", 3) == 0 && last_flags == UV_UDP_PARTIAL);
  close_udp(server);
  run_dry();
}

static int no_buffers, stopped;

static void no_alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle, (void) suggested, (void) buf;
}

static void on_no_buffer(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  CHECK(size == UV_ENOBUFS && buf->base == NULL && from == NULL && flags == 0);
  no_buffers++;
  CHECK(uv_udp_recv_stop(udp) == 0);
}

static void stopping_alloc(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) suggested;
  *buf = uv_buf_init((char*) dirty(100), 100);
  if (stopped) uv_close(handle, free_handle);
  else CHECK(uv_udp_recv_stop((uv_udp_t*) handle) == 0);
}

static void on_stopped(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) udp;
  CHECK(size == 0 && from == NULL && flags == 0);
  free(buf->base);
  stopped++;
}

static void alloc_may_have_no_memory_or_stop_or_close(void) {
  struct sockaddr_in to;
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_buf_t buf = uv_buf_init("hello", 5);
  CHECK(uv_udp_try_send(server, &buf, 1, (struct sockaddr*) &to) == 5);
  CHECK(uv_udp_recv_start(server, no_alloc, on_no_buffer) == 0);
  UNTIL(no_buffers == 1);
  CHECK(uv_udp_recv_start(server, stopping_alloc, on_stopped) == 0);
  UNTIL(stopped == 1);
  CHECK(uv_udp_recv_start(server, stopping_alloc, on_stopped) == 0);
  run_dry();
  CHECK(stopped == 2);
}

static void handles_are_connected_and_not_any_more(void) {
  struct sockaddr_in to, name;
  int size = sizeof(name);
  uv_udp_t* server = new_bound(AF_UNSPEC, &to);
  uv_udp_t* client = new_udp(AF_UNSPEC);
  uv_buf_t buf = uv_buf_init("hello", 5);
  uv_udp_send_t req;
  CHECK(uv_udp_connect(client, NULL) == UV_ENOTCONN);
  CHECK(uv_udp_getpeername(client, (struct sockaddr*) &name, &size) == UV_EBADF);
  CHECK(uv_udp_connect(client, (struct sockaddr*) &to) == 0);
  CHECK(uv_udp_connect(client, (struct sockaddr*) &to) == UV_EISCONN);
  CHECK(uv_udp_getpeername(client, (struct sockaddr*) &name, &size) == 0);
  CHECK(size == sizeof(name) && name.sin_port == to.sin_port);
  CHECK(uv_udp_try_send(client, &buf, 1, (struct sockaddr*) &to) == UV_EISCONN);
  CHECK(uv_udp_send(&req, client, &buf, 1, (struct sockaddr*) &to, NULL) == UV_EISCONN);
  CHECK(uv_udp_try_send(client, &buf, 1, NULL) == 5);
  CHECK(uv_udp_connect(client, NULL) == 0);
  CHECK(uv_udp_getpeername(client, (struct sockaddr*) &name, &size) == UV_ENOTCONN);
  CHECK(uv_udp_send(&req, client, &buf, 1, NULL, NULL) == UV_EDESTADDRREQ);
  to.sin_family = AF_UNSPEC;
  CHECK(uv_udp_connect(client, (struct sockaddr*) &to) == UV_EINVAL);
  CHECK(uv_udp_try_send(client, &buf, 1, (struct sockaddr*) &to) == UV_EINVAL);
  close_udp(client);
  close_udp(server);
  run_dry();
}

static int refused;

static void on_refused(
    uv_udp_t* udp, ssize_t size, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  if (flags & UV_UDP_LINUX_RECVERR) {
    CHECK(size == UV_ECONNREFUSED && from->sa_family == AF_INET);
    refused++;
    uv_close((uv_handle_t*) udp, free_handle);
  }
  free(buf->base);
}

static void refusals_are_received(void) {
  struct sockaddr_in nobody, any = local(0);
  uv_udp_t* gone = new_bound(AF_UNSPEC, &nobody);
  uv_udp_t* client = new_udp(AF_UNSPEC);
  uv_buf_t buf = uv_buf_init("hello", 5);
  close_udp(gone);
  CHECK(uv_udp_bind(client, (struct sockaddr*) &any, UV_UDP_LINUX_RECVERR) == 0);
  CHECK(uv_udp_recv_start(client, alloc_64k, on_refused) == 0);
  CHECK(uv_udp_try_send(client, &buf, 1, (struct sockaddr*) &nobody) == 5);
  run_dry();
  CHECK(refused == 1);
}

static void flags_and_misuse(void) {
  struct sockaddr_in address, unspecified = local(0);
  uv_udp_t* udp = new_bound(AF_UNSPEC, &address);
  uv_udp_t* other = new_udp(AF_UNSPEC);
  uv_udp_t zero;
  uv_buf_t buf = uv_buf_init("x", 1);
  int fd = -1, value = 0;
  CHECK(uv_udp_init_ex(&loop, &zero, AF_UNIX) == UV_EINVAL);
  CHECK(uv_udp_init_ex(&loop, &zero, 47) == UV_EINVAL);
  CHECK(uv_udp_init_ex(&loop, &zero, 512) == UV_EINVAL);
  CHECK(uv_udp_bind(other, (struct sockaddr*) &address, 0) == UV_EADDRINUSE);
  CHECK(other->io_watcher.fd >= 0);
  CHECK(uv_udp_bind(other, (struct sockaddr*) &unspecified, UV_UDP_IPV6ONLY) == UV_EINVAL);
  CHECK(uv_udp_bind(other, (struct sockaddr*) &unspecified, UV_UDP_PARTIAL) == UV_EINVAL);
  CHECK(uv_udp_bind(other, (struct sockaddr*) &unspecified, UV_UDP_REUSEPORT | UV_UDP_REUSEADDR) == 0);
  CHECK(uv_udp_bind(other, (struct sockaddr*) &unspecified, 0) == UV_EINVAL);
  CHECK(uv_fileno((uv_handle_t*) other, &fd) == 0 && fd == other->io_watcher.fd);
  CHECK(uv_recv_buffer_size((uv_handle_t*) other, &value) == 0 && value > 0);
  CHECK(uv_udp_open(other, fd) == UV_EBUSY && uv_udp_open_ex(other, fd, 1) == UV_EINVAL);
  CHECK(uv_udp_open(other, -1) == UV_EBUSY);
  close_udp(other);
  CHECK(uv_udp_recv_start(other, alloc_64k, on_received) == UV_EINVAL);
  CHECK(uv_udp_recv_start(udp, NULL, on_received) == UV_EINVAL);
  CHECK(uv_udp_recv_start(udp, alloc_64k, NULL) == UV_EINVAL);
  CHECK(uv_udp_recv_stop(udp) == 0);
  CHECK(uv_udp_try_send(other, &buf, 1, (struct sockaddr*) &address) == UV_EINVAL);
  CHECK(uv_fileno((uv_handle_t*) other, &fd) == UV_EBADF);
  close_udp(udp);
  run_dry();
  memset(&zero, 0, sizeof(zero));
  CHECK(uv_udp_bind(&zero, (struct sockaddr*) &address, 0) == UV_EINVAL);
  CHECK(uv_udp_try_send(&zero, &buf, 1, (struct sockaddr*) &address) == UV_EINVAL);
  CHECK(uv_udp_recv_start(&zero, alloc_64k, on_received) == UV_EINVAL);
}

static void unix_addresses(void) {
  struct sockaddr_un to, name;
  int size;
  uv_udp_t* udp = new_udp(AF_UNSPEC);
  uv_buf_t buf = uv_buf_init("hello", 5);
  char bytes[8];
  int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
  memset(&to, 0, sizeof(to));
  to.sun_family = AF_UNIX;
  snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "oxuv-udp-%d", (int) getpid());
  CHECK(uv_udp_try_send(udp, &buf, 1, (struct sockaddr*) &to) == UV_EINVAL); /* no socket to send by */
  CHECK(bind(receiver, (struct sockaddr*) &to, sizeof(to)) == 0);
  CHECK(uv_udp_open(udp, socket(AF_UNIX, SOCK_DGRAM, 0)) == 0);
  CHECK(uv_udp_try_send(udp, &buf, 1, (struct sockaddr*) &to) == 5);
  CHECK(recv(receiver, bytes, sizeof(bytes), 0) == 5);
  close(receiver);
  /* Names of other families than the internet's are told as they are. */
  memset(&name, 7, sizeof(name));
  size = sizeof(name);
  CHECK(uv_udp_getsockname(udp, (struct sockaddr*) &name, &size) == 0);
  CHECK(name.sun_family == AF_UNIX && size == sizeof(sa_family_t));
  CHECK(uv_udp_getpeername(udp, (struct sockaddr*) &name, &size) == UV_ENOTCONN);
  close_udp(udp);
  run_dry();
}

int main(void) {
  int before, i;
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < 2; i++) {
    /* What the loop keeps for itself, it has after the first time. */
    before = count_descriptors();
    no_buffers = stopped = refused = failed = 0;
    datagrams_arrive_and_sends_are_told();
    datagrams_of_every_size();
    many_buffers_are_copied();
    close_cancels_what_has_not_gone();
    what_the_system_refuses_at_first_follows();
    what_does_not_fit_is_flagged();
    alloc_may_have_no_memory_or_stop_or_close();
    handles_are_connected_and_not_any_more();
    refusals_are_received();
    flags_and_misuse();
    unix_addresses();
  }
  CHECK(count_descriptors() == before);
  CHECK(uv_loop_close(&loop) == 0);
  printf("ok\n");
  return 0;
}

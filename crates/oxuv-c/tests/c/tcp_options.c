/* How TCP handles get their sockets, and the options of these. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

#include <netinet/tcp.h>

static int option(const uv_tcp_t* tcp, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  CHECK(getsockopt(tcp->io_watcher.fd, level, name, &value, &size) == 0);
  return value;
}

static void init_with_a_family(void) {
  uv_tcp_t* tcp;
  uv_tcp_t unused;
  int families[] = {AF_INET, AF_INET6}, i;
  for (i = 0; i < 2; i++) {
    int result;
    tcp = dirty(sizeof(*tcp));
    result = uv_tcp_init_ex(&loop, tcp, families[i]);
    if (result == UV_EAFNOSUPPORT) { /* a machine without IPv6 */
      free(tcp);
      continue;
    }
    CHECK(result == 0);
    CHECK(tcp->io_watcher.fd >= 0 && option(tcp, SOL_SOCKET, SO_DOMAIN) == families[i]);
    CHECK(fcntl(tcp->io_watcher.fd, F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(tcp->io_watcher.fd, F_GETFD) & FD_CLOEXEC);
    CHECK(!uv_is_readable((uv_stream_t*) tcp) && !uv_is_writable((uv_stream_t*) tcp));
    close_tcp(tcp);
  }
  tcp = dirty(sizeof(*tcp));
  CHECK(uv_tcp_init_ex(&loop, tcp, AF_UNSPEC) == 0);
  CHECK(tcp->io_watcher.fd == -1 && tcp->write_queue_size == 0 && tcp->type == UV_TCP);
  close_tcp(tcp);
  run_dry();
  CHECK(uv_tcp_init_ex(&loop, &unused, AF_UNIX) == UV_EINVAL);
  CHECK(uv_tcp_init_ex(&loop, &unused, 47) == UV_EINVAL);
  CHECK(uv_tcp_init_ex(&loop, &unused, 0x100) == UV_EINVAL);
  CHECK(uv_tcp_init_ex(&loop, &unused, 0x100 | AF_INET) == UV_EINVAL);
  CHECK(uv_tcp_init_ex(&loop, &unused, ~0u) == UV_EINVAL);
  CHECK(!uv_loop_alive(&loop));
}

static void open_takes_a_socket_over(void) {
  uv_os_sock_t fds[2];
  struct sockaddr_storage name;
  int size = sizeof(name);
  uv_tcp_t* tcp = new_tcp();
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, 0) == 0);
  CHECK(uv_tcp_open(tcp, fds[0]) == 0);
  CHECK(uv_tcp_getsockname(tcp, (struct sockaddr*) &name, &size) == 0 && name.ss_family == AF_UNIX);
  CHECK(uv_tcp_getpeername(tcp, (struct sockaddr*) &name, &size) == 0 && name.ss_family == AF_UNIX);
  CHECK(tcp->io_watcher.fd == fds[0]);
  CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
  CHECK(uv_is_readable((uv_stream_t*) tcp) && uv_is_writable((uv_stream_t*) tcp));
  CHECK(uv_tcp_open(tcp, fds[1]) == UV_EBUSY);
  CHECK(uv_tcp_open(tcp, 12345) == UV_EBADF);
  CHECK(tcp->io_watcher.fd == fds[0] && !has_closed(fds[1]));
  CHECK(uv_tcp_open(tcp, fds[0]) == 0); /* its own */
  close_tcp(tcp);
  CHECK(has_closed(fds[0]));
  tcp = new_tcp();
  CHECK(uv_tcp_open(tcp, fds[0]) == UV_EBADF);
  CHECK(uv_tcp_open(tcp, -1) == UV_EBADF);
  CHECK(tcp->io_watcher.fd == -1);
  close_tcp(tcp);
  close(fds[1]);
  run_dry();
}

static void open_of_a_socket_that_was_connected_elsewhere(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* tcp = dirty(sizeof(*tcp));
  struct sockaddr_in address = local(port);
  CHECK(uv_tcp_init_ex(&loop, tcp, AF_INET) == 0);
  CHECK(uv_stream_set_blocking((uv_stream_t*) tcp, 1) == 0);
  CHECK(!(fcntl(tcp->io_watcher.fd, F_GETFL) & O_NONBLOCK));
  CHECK(connect(tcp->io_watcher.fd, (struct sockaddr*) &address, sizeof(address)) == 0);
  CHECK(uv_stream_set_blocking((uv_stream_t*) tcp, 0) == 0);
  CHECK(fcntl(tcp->io_watcher.fd, F_GETFL) & O_NONBLOCK);
  CHECK(!uv_is_writable((uv_stream_t*) tcp));
  CHECK(uv_tcp_open(tcp, tcp->io_watcher.fd) == 0);
  CHECK(uv_is_writable((uv_stream_t*) tcp) && uv_is_readable((uv_stream_t*) tcp));
  close_tcp(tcp);
  CHECK(uv_stream_set_blocking((uv_stream_t*) tcp, 1) == UV_EBADF);
  close_tcp(server);
  run_dry();
}

static void nodelay_and_keepalive(void) {
  uv_tcp_t* tcp = dirty(sizeof(*tcp));
  uv_tcp_t* later = new_tcp();
  struct sockaddr_in address = local(0);
  CHECK(uv_tcp_init_ex(&loop, tcp, AF_INET) == 0);
  CHECK(uv_tcp_nodelay(tcp, 7) == 0 && option(tcp, IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(uv_tcp_nodelay(tcp, 0) == 0 && option(tcp, IPPROTO_TCP, TCP_NODELAY) == 0);
  CHECK(uv_tcp_keepalive(tcp, 1, 50) == 0);
  CHECK(option(tcp, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPIDLE) == 50);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPINTVL) == 1);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPCNT) == 10);
  CHECK(uv_tcp_keepalive_ex(tcp, 1, 32767, 32767, 127) == 0);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPIDLE) == 32767);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPINTVL) == 32767);
  CHECK(option(tcp, IPPROTO_TCP, TCP_KEEPCNT) == 127);
  CHECK(uv_tcp_keepalive_ex(tcp, 0, 0, 0, 0) == 0);
  CHECK(option(tcp, SOL_SOCKET, SO_KEEPALIVE) == 0);
  CHECK(uv_tcp_keepalive(tcp, 1, 0) == UV_EINVAL);
  CHECK(uv_tcp_keepalive_ex(tcp, 1, 32768, 1, 1) == UV_EINVAL);
  CHECK(uv_tcp_keepalive_ex(tcp, 1, 1, 32768, 1) == UV_EINVAL);
  CHECK(uv_tcp_keepalive_ex(tcp, 1, 1, 1, 128) == UV_EINVAL);
  CHECK(uv_tcp_keepalive_ex(tcp, 1, ~0u, 1, 1) == UV_EINVAL);
#ifndef ON_LIBUV
  CHECK(option(tcp, SOL_SOCKET, SO_KEEPALIVE) == 0); /* without effect */
#endif
  CHECK(uv_tcp_simultaneous_accepts(tcp, 1) == 0 && uv_tcp_simultaneous_accepts(tcp, 0) == 0);
  close_tcp(tcp);
  CHECK(uv_tcp_nodelay(tcp, 1) == 0 && uv_tcp_keepalive(tcp, 1, 1) == 0); /* for nobody */

  /* Remembered for when there is a socket. */
  CHECK(uv_tcp_nodelay(later, 1) == 0);
  CHECK(uv_tcp_keepalive(later, 1, 0) == 0); /* not looked at before, and then 60 */
  CHECK(uv_tcp_bind(later, (struct sockaddr*) &address, 0) == 0);
  CHECK(option(later, IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(option(later, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(option(later, IPPROTO_TCP, TCP_KEEPIDLE) == 60);
  close_tcp(later);
#ifndef ON_LIBUV
  later = new_tcp();
  CHECK(uv_tcp_keepalive_ex(later, 1, 5, 6, 7) == 0);
  CHECK(uv_tcp_bind(later, (struct sockaddr*) &address, 0) == 0);
  CHECK(option(later, IPPROTO_TCP, TCP_KEEPIDLE) == 5);
  CHECK(option(later, IPPROTO_TCP, TCP_KEEPINTVL) == 6);
  CHECK(option(later, IPPROTO_TCP, TCP_KEEPCNT) == 7);
  close_tcp(later);
#endif
  run_dry();
}

static void bind_and_its_flags(void) {
  uv_tcp_t* one = new_tcp();
  uv_tcp_t* two = new_tcp();
  struct sockaddr_in address = local(0);
  struct sockaddr_in6 six;
  int result;
  CHECK(uv_tcp_bind(one, (struct sockaddr*) &address, UV_TCP_IPV6ONLY) == UV_EINVAL);
  CHECK(one->io_watcher.fd == -1);
  CHECK(uv_tcp_bind(one, (struct sockaddr*) &address, UV_TCP_REUSEPORT) == 0);
  CHECK(option(one, SOL_SOCKET, SO_REUSEPORT) == 1 && option(one, SOL_SOCKET, SO_REUSEADDR) == 1);
  CHECK(uv_tcp_bind(one, (struct sockaddr*) &address, UV_TCP_REUSEPORT) == UV_EINVAL); /* again */
  address = local(port_of(one));
  CHECK(uv_listen((uv_stream_t*) one, 8, ignore_connection) == 0);
  CHECK(uv_tcp_bind(two, (struct sockaddr*) &address, UV_TCP_REUSEPORT) == 0);
  CHECK(uv_listen((uv_stream_t*) two, 8, ignore_connection) == 0);
  close_tcp(two);
  two = new_tcp();
  CHECK(uv_tcp_bind(two, (struct sockaddr*) &address, 0) == 0); /* in use, which listen tells */
  CHECK(uv_listen((uv_stream_t*) two, 8, ignore_connection) == UV_EADDRINUSE);
  CHECK(!uv_is_active((uv_handle_t*) two));
  close_tcp(one);
  close_tcp(two);
  CHECK(uv_tcp_bind(two, (struct sockaddr*) &address, 0) == UV_EINVAL);
  CHECK(uv_listen((uv_stream_t*) two, 8, ignore_connection) == UV_EINVAL);

  one = new_tcp();
  memset(&six, 0, sizeof(six));
  six.sin6_family = AF_INET6;
  six.sin6_addr.s6_addr[15] = 1;
  result = uv_tcp_bind(one, (struct sockaddr*) &six, UV_TCP_IPV6ONLY);
  if (result != UV_EADDRNOTAVAIL && result != UV_EAFNOSUPPORT) { /* a machine without IPv6 */
    CHECK(result == 0);
    CHECK(option(one, IPPROTO_IPV6, IPV6_V6ONLY) == 1);
  }
  close_tcp(one);
  one = new_tcp();
  address = local(0);
  address.sin_addr.s_addr = htonl(0xcb007101); /* 203.0.113.1 is nobody */
  CHECK(uv_tcp_bind(one, (struct sockaddr*) &address, 0) == UV_EADDRNOTAVAIL);
  close_tcp(one);
  run_dry();
}

static void sizes_of_buffers(void) {
  int other, value = 10000, was;
  uv_tcp_t* tcp = new_pair(&other);
  uv_handle_t* handle = (uv_handle_t*) tcp;
  uv_timer_t* timer = dirty(sizeof(*timer));
  CHECK(uv_send_buffer_size(handle, &value) == 0 && value == 10000);
  CHECK(uv_recv_buffer_size(handle, &value) == 0);
  value = 0;
  CHECK(uv_send_buffer_size(handle, &value) == 0 && value == 20000); /* Linux doubles it */
  value = 0;
  CHECK(uv_recv_buffer_size(handle, &value) == 0 && value == 20000);
  value = 1;
  CHECK(uv_send_buffer_size(handle, &value) == 0);
  was = value = 0;
  CHECK(uv_send_buffer_size(handle, &value) == 0 && value > 1); /* not below the kernel's limit */
  CHECK(uv_send_buffer_size(handle, NULL) == UV_EINVAL);
  CHECK(uv_recv_buffer_size(NULL, &was) == UV_EINVAL);
  CHECK(uv_timer_init(&loop, timer) == 0);
  CHECK(uv_recv_buffer_size((uv_handle_t*) timer, &was) == UV_ENOTSUP);
  uv_close((uv_handle_t*) timer, free_handle);
  close_tcp(tcp);
  CHECK(uv_recv_buffer_size(handle, &was) == UV_EBADF);
  close(other);
  run_dry();
}

static void pairs_of_sockets(void) {
  uv_os_sock_t fds[2] = {-7, -7};
  int flags;
  for (flags = 0; flags < 4; flags++) {
    int first = flags & 1 ? UV_NONBLOCK_PIPE : 0, second = flags & 2 ? UV_NONBLOCK_PIPE : 0;
    char bytes[6] = {0};
    CHECK(uv_socketpair(SOCK_DGRAM, 0, fds, first, second) == 0);
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK) == !first);
    CHECK(!(fcntl(fds[1], F_GETFL) & O_NONBLOCK) == !second);
    CHECK((fcntl(fds[0], F_GETFD) & FD_CLOEXEC) && (fcntl(fds[1], F_GETFD) & FD_CLOEXEC));
    CHECK(write(fds[0], "hello", 5) == 5 && read(fds[1], bytes, 6) == 5);
    CHECK(strcmp(bytes, "hello") == 0);
    close(fds[0]);
    close(fds[1]);
  }
  fds[0] = fds[1] = -7;
  CHECK(uv_socketpair(12345, 0, fds, 0, 0) < 0);
  CHECK(uv_socketpair(SOCK_STREAM, 12345, fds, 0, 0) < 0);
  CHECK(fds[0] == -7 && fds[1] == -7);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  init_with_a_family();
  open_takes_a_socket_over();
  open_of_a_socket_that_was_connected_elsewhere();
  nodelay_and_keepalive();
  bind_and_its_flags();
  sizes_of_buffers();
  pairs_of_sockets();
#ifndef ON_LIBUV
  {
    /* libuv takes whatever has a number. */
    int ends[2];
    uv_tcp_t* tcp = new_tcp();
    CHECK(pipe(ends) == 0);
    CHECK(uv_tcp_open(tcp, ends[0]) == UV_ENOTSOCK);
    CHECK(!has_closed(ends[0]) && tcp->io_watcher.fd == -1);
    close(ends[0]);
    close(ends[1]);
    close_tcp(tcp);
    run_dry();
  }
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* What the programs about streams share: a loop, connected pairs, and little helpers. */
#ifndef NET_H
#define NET_H

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static uv_loop_t loop;

static inline struct sockaddr_in local(int port) {
  struct sockaddr_in address;
  CHECK(uv_ip4_addr("127.0.0.1", port, &address) == 0);
  return address;
}

static inline int port_of(const uv_tcp_t* tcp) {
  struct sockaddr_storage name;
  int size = sizeof(name);
  CHECK(uv_tcp_getsockname(tcp, (struct sockaddr*) &name, &size) == 0);
  return ntohs(((struct sockaddr_in*) &name)->sin_port);
}

static inline int turn(void) { return uv_run(&loop, UV_RUN_NOWAIT); }

/* Turns until something has happened that does, on any machine. */
#define UNTIL(condition)                                                                           \
  do {                                                                                             \
    int turns_ = 0;                                                                                \
    while (!(condition)) {                                                                         \
      CHECK(turns_++ < 5000);                                                                      \
      uv_run(&loop, UV_RUN_NOWAIT);                                                                \
      if (!(condition)) usleep(1000);                                                              \
    }                                                                                              \
  } while (0)

/* A TCP handle on one end of a pair of sockets, whose other end is outside of the loop. */
static inline uv_tcp_t* new_pair(int* other) {
  uv_tcp_t* tcp = (uv_tcp_t*) dirty(sizeof(*tcp));
  uv_os_sock_t fds[2];
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, UV_NONBLOCK_PIPE) == 0);
  CHECK(uv_tcp_init(&loop, tcp) == 0);
  CHECK(uv_tcp_open(tcp, fds[0]) == 0);
  *other = fds[1];
  return tcp;
}

static inline uv_tcp_t* new_tcp(void) {
  uv_tcp_t* tcp = (uv_tcp_t*) dirty(sizeof(*tcp));
  CHECK(uv_tcp_init(&loop, tcp) == 0);
  return tcp;
}

/* A listener at a free port, whose connections nobody takes. */
static inline void ignore_connection(uv_stream_t* server, int status) {
  (void) server;
  CHECK(status == 0);
}

static inline uv_tcp_t* new_listener(int* port) {
  uv_tcp_t* tcp = new_tcp();
  struct sockaddr_in address = local(0);
  CHECK(uv_tcp_bind(tcp, (struct sockaddr*) &address, 0) == 0);
  CHECK(uv_listen((uv_stream_t*) tcp, 8, ignore_connection) == 0);
  *port = port_of(tcp);
  return tcp;
}

static inline void close_tcp(uv_tcp_t* tcp) {
  uv_close((uv_handle_t*) tcp, free_handle);
  CHECK(tcp->io_watcher.fd == -1);
}

static inline void run_dry(void) { CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0); }

static inline int has_closed(int fd) { return fcntl(fd, F_GETFD) == -1 && errno == EBADF; }

#endif

/* What the programs about datagrams share. */
#ifndef UDP_H
#define UDP_H

#include "net.h"

static inline uv_udp_t* new_udp(unsigned flags) {
  uv_udp_t* udp = (uv_udp_t*) dirty(sizeof(*udp));
  CHECK(uv_udp_init_ex(&loop, udp, flags) == 0);
  return udp;
}

static inline int udp_port(const uv_udp_t* udp) {
  struct sockaddr_storage name;
  int size = sizeof(name);
  CHECK(uv_udp_getsockname(udp, (struct sockaddr*) &name, &size) == 0);
  return ntohs(((struct sockaddr_in*) &name)->sin_port);
}

/* A handle that is bound to a free port of the loopback. */
static inline uv_udp_t* new_bound(unsigned flags, struct sockaddr_in* address) {
  uv_udp_t* udp = new_udp(flags);
  *address = local(0);
  CHECK(uv_udp_bind(udp, (struct sockaddr*) address, 0) == 0);
  *address = local(udp_port(udp));
  return udp;
}

static inline void close_udp(uv_udp_t* udp) {
  uv_close((uv_handle_t*) udp, free_handle);
  CHECK(udp->io_watcher.fd == -1);
}

/* An alloc callback whose memory a receive callback frees. */
static inline void alloc_64k(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  (void) handle;
  CHECK(suggested == 65536);
  *buf = uv_buf_init((char*) dirty(suggested), suggested);
}

#endif

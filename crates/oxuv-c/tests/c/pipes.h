/* What the programs about pipes share. */
#ifndef PIPES_H
#define PIPES_H

#include "net.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

static inline uv_pipe_t* new_pipe(int ipc) {
  uv_pipe_t* pipe = (uv_pipe_t*) dirty(sizeof(*pipe));
  CHECK(uv_pipe_init(&loop, pipe, ipc) == 0);
  return pipe;
}

/* A pipe on one end of a pair of sockets, whose other end is outside of the loop. */
static inline uv_pipe_t* half_of_a_pair(int ipc, int* other) {
  uv_pipe_t* pipe = new_pipe(ipc);
  uv_os_sock_t fds[2];
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, UV_NONBLOCK_PIPE) == 0);
  CHECK(uv_pipe_open(pipe, fds[0]) == 0);
  *other = fds[1];
  return pipe;
}

static inline void close_pipe(uv_pipe_t* pipe) {
  uv_close((uv_handle_t*) pipe, free_handle);
  CHECK(pipe->io_watcher.fd == -1 && pipe->pipe_fname == NULL);
}

/* A path that only this program uses. */
static inline const char* own_path(const char* name) {
  static char path[100];
  snprintf(path, sizeof(path), "/tmp/oxuv-%d-%s", (int) getpid(), name);
  unlink(path);
  return path;
}

static inline void alloc_static(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  static char memory[65536];
  (void) handle;
  (void) size;
  *buf = uv_buf_init(memory, sizeof(memory));
}

#endif

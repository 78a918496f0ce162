/* What the programs about terminals share: pseudo-terminals. */
#ifndef PTY_H
#define PTY_H

#include "net.h"

#include <sys/ioctl.h>
#include <termios.h>

/* A new pseudo-terminal: its master and its slave. */
static inline void new_pty(int* master, int* slave) {
  *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  CHECK(*master >= 0);
  CHECK(grantpt(*master) == 0 && unlockpt(*master) == 0);
  *slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  CHECK(*slave >= 0);
}

/* One that passes bytes through as they are. */
static inline void new_plain_pty(int* master, int* slave) {
  struct termios settings;
  new_pty(master, slave);
  CHECK(tcgetattr(*slave, &settings) == 0);
  cfmakeraw(&settings);
  CHECK(tcsetattr(*slave, TCSANOW, &settings) == 0);
}

static inline uv_tty_t* new_tty(int fd) {
  uv_tty_t* tty = (uv_tty_t*) dirty(sizeof(*tty));
  CHECK(uv_tty_init(&loop, tty, fd, 17) == 0);
  return tty;
}

static inline struct termios settings_of(int fd) {
  struct termios settings;
  memset(&settings, 0, sizeof(settings));
  CHECK(tcgetattr(fd, &settings) == 0);
  return settings;
}

static inline int same(struct termios one, struct termios other) {
  return one.c_iflag == other.c_iflag && one.c_oflag == other.c_oflag && one.c_cflag == other.c_cflag &&
         one.c_lflag == other.c_lflag && memcmp(one.c_cc, other.c_cc, sizeof(one.c_cc)) == 0;
}

static inline int is_nonblocking(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

/* What was read, and how it ended. */
static char bytes[1 << 17];
static size_t length;
static ssize_t end;

static inline void give_memory(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  static char memory[65536];
  (void) handle;
  CHECK(size == 65536);
  *buf = uv_buf_init(memory, sizeof(memory));
}

static inline void gather(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream;
  if (nread >= 0) {
    CHECK(length + nread <= sizeof(bytes));
    memcpy(bytes + length, buf->base, nread);
    length += nread;
  } else {
    CHECK(end == 0);
    end = nread;
  }
}

static inline void start_gathering(uv_tty_t* tty) {
  length = 0;
  end = 0;
  CHECK(uv_read_start((uv_stream_t*) tty, give_memory, gather) == 0);
}

static inline int has_read(const char* text) {
  return length == strlen(text) && memcmp(bytes, text, length) == 0;
}

static inline void close_tty(uv_tty_t* tty) {
  uv_close((uv_handle_t*) tty, free_handle);
  CHECK(tty->io_watcher.fd == -1);
}

#endif

/* uv_guess_handle: what a descriptor is. */
#define _GNU_SOURCE
#include "pty.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>

static void is(int fd, uv_handle_type kind) {
  CHECK(fd >= 0);
  CHECK(uv_guess_handle(fd) == kind);
  CHECK(close(fd) == 0);
  CHECK(uv_guess_handle(fd) == UV_UNKNOWN_HANDLE);
}

int main(void) {
  int fds[2], master, slave, families[] = {AF_INET, AF_INET6}, i;
  CHECK(uv_guess_handle(-1) == UV_UNKNOWN_HANDLE);
  CHECK(uv_guess_handle(-4242) == UV_UNKNOWN_HANDLE);
  CHECK(uv_guess_handle(1 << 30) == UV_UNKNOWN_HANDLE);

  is(open("/proc/self/exe", O_RDONLY), UV_FILE);
  is(open("/dev/null", O_RDWR), UV_FILE);
  is(open("/dev/zero", O_RDONLY), UV_FILE);
  is(open("/", O_RDONLY), UV_UNKNOWN_HANDLE);
  is(epoll_create1(0), UV_UNKNOWN_HANDLE);

  CHECK(pipe(fds) == 0);
  is(fds[0], UV_NAMED_PIPE);
  is(fds[1], UV_NAMED_PIPE);
  is(socket(AF_UNIX, SOCK_STREAM, 0), UV_NAMED_PIPE);
  is(socket(AF_UNIX, SOCK_DGRAM, 0), UV_UNKNOWN_HANDLE);
  is(socket(AF_UNIX, SOCK_SEQPACKET, 0), UV_UNKNOWN_HANDLE);
  for (i = 0; i < 2; i++) {
    int fd = socket(families[i], SOCK_STREAM, 0);
    if (fd < 0) continue; /* a machine without IPv6 */
    is(fd, UV_TCP);
    is(socket(families[i], SOCK_DGRAM, 0), UV_UDP);
  }

  new_pty(&master, &slave);
  CHECK(uv_guess_handle(master) == UV_TTY);
  is(slave, UV_TTY);
  is(master, UV_TTY);
  puts("ok");
  return 0;
}

/* The limit: what an event loop cannot do without, on bare epoll. */

#include "bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct epoll_event events[1024];
static char memory[65536];

static void watch(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

static void turn(long operations) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);

  CHECK(epoll);
  for (; operations > 0; operations--)
    CHECK(epoll_wait(epoll, events, 1024, 0));
}

static void echo(long operations) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  (void) operations;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr *) &address, sizeof address));
  CHECK(listen(listener, 16));
  CHECK(getsockname(listener, (struct sockaddr *) &address, &size));
  watch(epoll, listener);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int count = epoll_wait(epoll, events, 1024, -1);

    CHECK(count);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;

      if (fd == listener) {
        watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
      } else {
        ssize_t size = recv(fd, memory, sizeof memory, 0);

        CHECK(size);
        if (size == 0)
          return;
        CHECK(send(fd, memory, size, MSG_NOSIGNAL));
      }
    }
  }
}

const struct entry workloads[] = {
  {"turn", turn},
  {"echo-write", echo},
  {"echo-try", echo},
  {NULL, NULL},
};

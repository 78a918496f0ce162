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

static int epoll, listener;
static long left;

static void wait_again_and_again(void) {
  for (; left > 0; left--)
    CHECK(epoll_wait(epoll, events, 1024, 0));
}

static void turn(long handles, long operations) {
  (void) handles;
  left = operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  CHECK(epoll);
  timed_section(wait_again_and_again);
}

static void serve(void) {
  long clients = 0;

  for (;;) {
    int count = epoll_wait(epoll, events, 1024, -1);

    CHECK(count);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;

      if (fd == listener) {
        watch(epoll, accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
        clients++;
      } else {
        ssize_t size = recv(fd, memory, sizeof memory, 0);

        CHECK(size);
        if (size > 0) {
          /* The socket's buffer is larger than all that a client has not read. */
          CHECK(send(fd, memory, size, MSG_NOSIGNAL) == size ? 0 : -1);
        } else {
          close(fd);
          if (--clients == 0)
            return;
        }
      }
    }
  }
}

static void echo(long handles, long operations) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;

  (void) handles, (void) operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr *) &address, sizeof address));
  CHECK(listen(listener, 512));
  CHECK(getsockname(listener, (struct sockaddr *) &address, &size));
  watch(epoll, listener);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  timed_section(serve);
}

const struct entry workloads[] = {
  {"turn", turn},
  {"echo-write", echo},
  {"echo-try", echo},
  {NULL, NULL},
};

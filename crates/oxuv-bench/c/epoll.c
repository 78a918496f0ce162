/* The limit: what an event loop cannot do without, on bare epoll. */

#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

static void hang_up_on_all(void) {
  while (left > 0) {
    int client;

    CHECK(epoll_wait(epoll, events, 1024, -1));
    while (left > 0 && (client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
      close(client);
      left--;
    }
    CHECK(left > 0 && errno != EAGAIN ? -1 : 0);
  }
}

static void listen_and(void (*serve_clients)(void)) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;

  epoll = epoll_create1(EPOLL_CLOEXEC);
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr *) &address, sizeof address));
  CHECK(listen(listener, BACKLOG));
  CHECK(getsockname(listener, (struct sockaddr *) &address, &size));
  watch(epoll, listener);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  timed_section(serve_clients);
}

static void echo(long handles, long operations) {
  (void) handles, (void) operations;
  listen_and(serve);
}

static void accept_and_close(long handles, long operations) {
  (void) handles;
  left = operations;
  listen_and(hang_up_on_all);
}

static int wakeup;

static void wake_again_and_again(void) {
  unsigned long long count = 1;

  for (; left > 0; left--) {
    CHECK(write(wakeup, &count, sizeof count));
    CHECK(epoll_wait(epoll, events, 1024, -1));
    CHECK(read(wakeup, &count, sizeof count));
  }
}

static void async(long handles, long operations) {
  (void) handles;
  left = operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  CHECK(wakeup);
  watch(epoll, wakeup);
  timed_section(wake_again_and_again);
}

/* The socket that the standard input is, and its client. */
static struct sockaddr_in peer;

static void answer_datagrams(void) {
  for (; left > 0; left--) {
    socklen_t size = sizeof peer;
    ssize_t length;

    CHECK(epoll_wait(epoll, events, 1024, -1));
    length = recvfrom(0, memory, sizeof memory, 0, (struct sockaddr *) &peer, &size);
    CHECK(length);
    CHECK(sendto(0, memory, length, 0, (struct sockaddr *) &peer, size));
  }
}

static void answer_pipe(void) {
  for (;;) {
    ssize_t size;

    CHECK(epoll_wait(epoll, events, 1024, -1));
    size = recv(0, memory, sizeof memory, 0);
    CHECK(size);
    if (size == 0)
      return;
    CHECK(send(0, memory, size, MSG_NOSIGNAL));
  }
}

static void write_pieces(void) {
  struct epoll_event event = {.events = EPOLLOUT};

  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event));
  for (; left > 0; left--) {
    size_t sent = 0;

    while (sent < sizeof memory) {
      ssize_t more = send(0, memory + sent, sizeof memory - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

      if (more >= 0)
        sent += more;
      else if (errno == EAGAIN)
        CHECK(epoll_wait(epoll, events, 1024, -1));
      else
        CHECK(more);
    }
  }
}

#define BATCH 100

static void send_batches(void) {
  static struct mmsghdr messages[BATCH];
  struct iovec datagram = {.iov_base = memory, .iov_len = 64};

  for (int i = 0; i < BATCH; i++) {
    messages[i].msg_hdr = (struct msghdr) {
      .msg_name = &peer, .msg_namelen = sizeof peer, .msg_iov = &datagram, .msg_iovlen = 1
    };
  }
  while (left > 0) {
    int sent = sendmmsg(0, messages, BATCH, 0);

    CHECK(sent);
    left -= sent;
  }
}

static void pipe_echo(long handles, long operations) {
  (void) handles, (void) operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, 0);
  timed_section(answer_pipe);
}

static void udp_echo(long handles, long operations) {
  (void) handles;
  left = operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, 0);
  timed_section(answer_datagrams);
}

static void pump(long handles, long operations) {
  (void) handles;
  left = operations;
  epoll = epoll_create1(EPOLL_CLOEXEC);
  timed_section(write_pieces);
}

static void udp_flood(long handles, long operations) {
  socklen_t size = sizeof peer;

  (void) handles;
  left = operations;
  CHECK(recvfrom(0, memory, sizeof memory, 0, (struct sockaddr *) &peer, &size));
  timed_section(send_batches);
}

const struct entry workloads[] = {
  {"turn", turn},
  {"async", async},
  {"accept", accept_and_close},
  {"echo-gathered", echo},
  {"echo-idle", echo},
  {"echo-write", echo},
  {"echo-try", echo},
  {"pipe-echo", pipe_echo},
  {"pipe-pump", pump},
  {"tcp-pump", pump},
  {"udp-echo", udp_echo},
  {"udp-flood", udp_flood},
  {"udp-flood-try", udp_flood},
  {NULL, NULL},
};

/* Pipes, datagrams and bulk. The standard input is a socket; the other end is the client's. libuv closes no standard input,
   so the handles are on a copy of it. */

#include "workloads.h"

#include <sys/socket.h>
#include <unistd.h>

#define PIECE 65536
#define DATAGRAM 64
#define BATCH 100

static uv_loop_t loop;
static uv_stream_t *stream;
static uv_pipe_t pipe_handle;
static uv_tcp_t tcp_handle;
static uv_udp_t udp;
static uv_idle_t idler;
static uv_write_t write_request;
static uv_udp_send_t requests[BATCH];
static struct sockaddr_in peer;
static long left;
static long unsent;
static char memory[PIECE];

static void run(void) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  (void) handle, (void) suggested;
  *buf = uv_buf_init(memory, sizeof memory);
}

static void open_pipe(void) {
  stream = (uv_stream_t *) &pipe_handle;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_pipe_init(&loop, &pipe_handle, 0));
  CHECK(uv_pipe_open(&pipe_handle, dup(0)));
}

static void open_tcp(void) {
  stream = (uv_stream_t *) &tcp_handle;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_tcp_init(&loop, &tcp_handle));
  CHECK(uv_tcp_open(&tcp_handle, dup(0)));
}

static void open_udp(void) {
  CHECK(uv_loop_init(&loop));
  CHECK(uv_udp_init(&loop, &udp));
  CHECK(uv_udp_open(&udp, dup(0)));
}

/* A read that has not filled the buffer is the last of its turn, and then comes this: one request is enough. */
static void on_answered(uv_write_t *req, int status) {
  (void) req;
  CHECK(status);
}

static void on_read(uv_stream_t *from, ssize_t nread, const uv_buf_t *buf) {
  uv_buf_t answer;

  if (nread > 0) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    CHECK(uv_write(&write_request, from, &answer, 1, on_answered));
  } else if (nread < 0) {
    uv_close((uv_handle_t *) from, NULL);
  }
}

void pipe_echo(long handles, long operations) {
  (void) handles, (void) operations;
  open_pipe();
  CHECK(uv_read_start(stream, on_alloc, on_read));
  timed_section(run);
}

static void write_piece(void);

static void on_written(uv_write_t *req, int status) {
  (void) req;
  CHECK(status);
  if (--left == 0)
    uv_close((uv_handle_t *) stream, NULL);
  else
    write_piece();
}

static void write_piece(void) {
  uv_buf_t piece = uv_buf_init(memory, PIECE);

  CHECK(uv_write(&write_request, stream, &piece, 1, on_written));
}

void pipe_pump(long handles, long operations) {
  (void) handles;
  left = operations;
  open_pipe();
  write_piece();
  timed_section(run);
}

void tcp_pump(long handles, long operations) {
  (void) handles;
  left = operations;
  open_tcp();
  write_piece();
  timed_section(run);
}

static void on_datagram_answered(uv_udp_send_t *req, int status) {
  (void) req;
  CHECK(status);
  if (--left == 0)
    uv_close((uv_handle_t *) &udp, NULL);
}

static void on_datagram(
  uv_udp_t *from,
  ssize_t nread,
  const uv_buf_t *buf,
  const struct sockaddr *address,
  unsigned flags
) {
  /* Several may be received in a turn, but not so many. */
  static unsigned long answers;
  uv_udp_send_t *request;
  uv_buf_t answer;

  (void) flags;
  CHECK(nread);
  if (address != NULL) {
    answer = uv_buf_init(buf->base, (unsigned) nread);
    request = &requests[answers++ % BATCH];
    CHECK(uv_udp_send(request, from, &answer, 1, address, on_datagram_answered));
  }
}

void udp_echo(long handles, long operations) {
  (void) handles;
  left = operations;
  open_udp();
  CHECK(uv_udp_recv_start(&udp, on_alloc, on_datagram));
  timed_section(run);
}

/* The client says by a first datagram where it is. */
static void wait_for_peer(void) {
  socklen_t size = sizeof peer;

  CHECK(recvfrom(0, memory, sizeof memory, 0, (struct sockaddr *) &peer, &size));
}

static void send_batch(const struct sockaddr_in *to, uv_udp_send_cb cb) {
  uv_buf_t datagram = uv_buf_init(memory, DATAGRAM);
  long i;

  left -= BATCH;
  unsent = BATCH;
  for (i = 0; i < BATCH; i++)
    CHECK(uv_udp_send(&requests[i], &udp, &datagram, 1, (const struct sockaddr *) to, cb));
}

static void on_sent(uv_udp_send_t *req, int status) {
  (void) req;
  CHECK(status);
  if (--unsent > 0)
    return;
  if (left > 0)
    send_batch(&peer, on_sent);
  else
    uv_close((uv_handle_t *) &udp, NULL);
}

void udp_flood(long handles, long operations) {
  (void) handles;
  left = operations;
  wait_for_peer();
  open_udp();
  send_batch(&peer, on_sent);
  timed_section(run);
}

static uv_udp_t receiver;
static struct sockaddr_in receiver_address;
static char wide_memory[20 * PIECE];
static long unreceived;

static void on_wide_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  (void) handle, (void) suggested;
  *buf = uv_buf_init(wide_memory, sizeof wide_memory);
}

static void on_transfer_sent(uv_udp_send_t *req, int status);

static void transfer(void) {
  if (unsent > 0 || unreceived > 0)
    return;
  if (left > 0) {
    unreceived = BATCH;
    send_batch(&receiver_address, on_transfer_sent);
  } else {
    uv_close((uv_handle_t *) &udp, NULL);
    uv_close((uv_handle_t *) &receiver, NULL);
  }
}

static void on_transfer_sent(uv_udp_send_t *req, int status) {
  (void) req;
  CHECK(status);
  unsent--;
  transfer();
}

static void on_transferred(
  uv_udp_t *handle,
  ssize_t nread,
  const uv_buf_t *buf,
  const struct sockaddr *address,
  unsigned flags
) {
  (void) handle, (void) buf, (void) flags;
  CHECK(nread);
  if (address != NULL) {
    unreceived--;
    transfer();
  }
}

void udp_transfer(long handles, long operations) {
  int size = sizeof receiver_address;

  (void) handles;
  left = operations;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_udp_init(&loop, &udp));
  CHECK(uv_udp_init_ex(&loop, &receiver, AF_INET | UV_UDP_RECVMMSG));
  CHECK(uv_ip4_addr("127.0.0.1", 0, &receiver_address));
  CHECK(uv_udp_bind(&receiver, (const struct sockaddr *) &receiver_address, 0));
  CHECK(uv_udp_getsockname(&receiver, (struct sockaddr *) &receiver_address, &size));
  CHECK(uv_udp_recv_start(&receiver, on_wide_alloc, on_transferred));
  transfer();
  timed_section(run);
}

static uv_buf_t *arrays[BATCH];
static unsigned counts[BATCH];
static struct sockaddr *addresses[BATCH];

static void on_turn(uv_idle_t *idle) {
  int sent = uv_udp_try_send2(&udp, BATCH, arrays, counts, addresses, 0);

  CHECK(sent);
  left -= sent;
  if (left <= 0)
    uv_close((uv_handle_t *) idle, NULL);
}

void udp_flood_try(long handles, long operations) {
  uv_buf_t datagram = uv_buf_init(memory, DATAGRAM);
  long i;

  (void) handles;
  left = operations;
  wait_for_peer();
  open_udp();
  for (i = 0; i < BATCH; i++) {
    arrays[i] = &datagram;
    counts[i] = 1;
    addresses[i] = (struct sockaddr *) &peer;
  }
  CHECK(uv_idle_init(&loop, &idler));
  CHECK(uv_idle_start(&idler, on_turn));
  timed_section(run);
}

/* Streams, datagrams, terminals and polled descriptors for which memory is short at any moment. */
#include "refusals.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { ROOM = 65536, PIECES = 20, CLIENTS = 5 };

static char room[ROOM], piece[ROOM];

static void alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle, (void) size;
  *buf = uv_buf_init(room, ROOM);
}

static void on_written(uv_write_t* req, int status) {
  (void) req;
  is_told(status);
}

static void on_shut_down(uv_shutdown_t* req, int status) {
  (void) req;
  is_told(status);
}

/* Clients that write more than fits at once, of many pieces; a server that echoes and closes. */

static struct { uv_tcp_t tcp; uv_pipe_t pipe; } server, clients[CLIENTS], peers[CLIENTS];
static uv_connect_t connects[CLIENTS];
static uv_write_t writes[2 * CLIENTS], echoes[CLIENTS][4 * PIECES + 4];
static uv_shutdown_t shutdowns[2 * CLIENTS];
static int accepted, ended, echoed[CLIENTS], is_tcp;
static size_t came_back;

static uv_stream_t* stream_of(void* pair) { return is_tcp ? (uv_stream_t*) pair : (uv_stream_t*) ((char*) pair + sizeof(uv_tcp_t)); }

static void on_echo(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) buf;
  if (nread >= 0) {
    came_back += nread;
    return;
  }
  uv_close((uv_handle_t*) stream, NULL);
  if (nread != UV_EOF) {
    is_well(nread);
    return;
  }
  if (++ended == CLIENTS) {
    CHECK(was_refused() || came_back == (size_t) CLIENTS * PIECES * 100);
    end();
  }
}

static void on_question(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  long nth = (long) stream->data;
  if (nread == UV_EOF) {
    uv_read_stop(stream);
    begins(uv_shutdown(&shutdowns[CLIENTS + nth], stream, on_shut_down));
  } else if (nread < 0) {
    is_well(nread);
  } else if (nread > 0) {
    uv_buf_t answer = uv_buf_init(piece, (unsigned) nread);
    (void) buf;
    CHECK(echoed[nth] < 4 * PIECES + 4);
    begins(uv_write(&echoes[nth][echoed[nth]++], stream, &answer, 1, on_written));
  }
}

static void on_connection(uv_stream_t* stream, int status) {
  uv_stream_t* peer = stream_of(&peers[accepted]);
  if (!is_well(status) || uv_is_closing((uv_handle_t*) stream)) return;
  if (!is_well(is_tcp ? uv_tcp_init(&loop, (uv_tcp_t*) peer) : uv_pipe_init(&loop, (uv_pipe_t*) peer, 0))) return;
  peer->data = (void*) (long) accepted++;
  if (is_well(uv_accept(stream, peer))) is_well(uv_read_start(peer, alloc, on_question));
}

static void on_connect(uv_connect_t* req, int status) {
  long nth = (long) req->handle->data;
  uv_buf_t bufs[PIECES];
  int i;
  if (!is_told(status)) return;
  for (i = 0; i < PIECES; i++) bufs[i] = uv_buf_init(piece, 100);
  if (is_well(uv_read_start(req->handle, alloc, on_echo)) &&
      begins(uv_write(&writes[nth], req->handle, bufs, PIECES, on_written)))
    begins(uv_shutdown(&shutdowns[nth], req->handle, on_shut_down));
}

static void talk(void) {
  struct sockaddr_in address;
  int size = sizeof(address), i;
  uv_stream_t* listener = stream_of(&server);
  accepted = ended = 0;
  came_back = 0;
  memset(echoed, 0, sizeof(echoed));
  unlink("pipe");
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  if (is_tcp) {
    if (!is_well(uv_tcp_init(&loop, &server.tcp)) || !is_well(uv_tcp_bind(&server.tcp, (struct sockaddr*) &address, 0))) return;
  } else if (!is_well(uv_pipe_init(&loop, &server.pipe, 0)) || !is_well(uv_pipe_bind(&server.pipe, "pipe"))) {
    return;
  }
  if (!is_well(uv_listen(listener, CLIENTS, on_connection))) return;
  if (is_tcp && !is_well(uv_tcp_getsockname(&server.tcp, (struct sockaddr*) &address, &size))) return;
  for (i = 0; i < CLIENTS; i++) {
    uv_stream_t* client = stream_of(&clients[i]);
    if (!is_well(is_tcp ? uv_tcp_init(&loop, &clients[i].tcp) : uv_pipe_init(&loop, &clients[i].pipe, 0))) return;
    client->data = (void*) (long) i;
    if (!is_tcp) {
      under_way++;
      uv_pipe_connect(&connects[i], &clients[i].pipe, "pipe", on_connect);
    } else if (!begins(uv_tcp_connect(&connects[i], &clients[i].tcp, (struct sockaddr*) &address, on_connect))) {
      return;
    }
  }
}

static void tcp(void) {
  is_tcp = 1;
  talk();
}

static void pipes(void) {
  is_tcp = 0;
  talk();
}

/* A pair: more is written than fits, some of it is taken back by the close, some is tried. */

static uv_pipe_t ends_of_pair[2];
static uv_write_t queued[PIECES];

static void on_some(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream, (void) buf;
  if (nread == UV_EOF || (nread >= 0 && (came_back += nread) > 3 * ROOM)) end();
  else is_well(nread);
}

static void on_queued(uv_write_t* req, int status) {
  CHECK(under_way-- > 0);
  CHECK(req->handle == (uv_stream_t*) &ends_of_pair[0]);
  if (status != UV_ECANCELED) is_well(status);
}

static void queues(void) {
  int fds[2], i;
  came_back = 0;
  if (!is_well(uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE))) return;
  for (i = 0; i < 2; i++) {
    if (!is_well(uv_pipe_init(&loop, &ends_of_pair[i], 0))) break;
    if (!is_well(uv_pipe_open(&ends_of_pair[i], fds[i]))) break;
  }
  if (i < 2) {
    for (; i < 2; i++) close(fds[i]);
    return;
  }
  for (i = 0; i < PIECES; i++) {
    uv_buf_t bufs[6];
    int part;
    for (part = 0; part < 6; part++) bufs[part] = uv_buf_init(piece, 10000);
    if (!begins(uv_write(&queued[i], (uv_stream_t*) &ends_of_pair[0], bufs, 6, on_queued))) return;
  }
  is_well(uv_read_start((uv_stream_t*) &ends_of_pair[1], alloc, on_some));
}

/* Handles that are passed through a pipe, several at once. */

enum { PASSED = 6 };
static uv_pipe_t channel[2];
static uv_tcp_t passed[PASSED], taken[PASSED];
static uv_write_t passes[PASSED];
static int taken_count;

static void on_handle(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  uv_pipe_t* pipe = (uv_pipe_t*) stream;
  (void) buf;
  if (nread == UV_EOF) {
    CHECK(was_refused());
    end();
    return;
  }
  if (!is_well(nread)) return;
  while (uv_pipe_pending_count(pipe) > 0) {
    CHECK(uv_pipe_pending_type(pipe) == UV_TCP);
    if (!is_well(uv_tcp_init(&loop, &taken[taken_count])) || !is_well(uv_accept(stream, (uv_stream_t*) &taken[taken_count])))
      return;
    taken_count++;
  }
  if (taken_count == PASSED) end();
}

static void passing(void) {
  struct sockaddr_in address;
  int fds[2], i;
  taken_count = 0;
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  if (!is_well(uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE))) return;
  for (i = 0; i < 2; i++)
    if (!is_well(uv_pipe_init(&loop, &channel[i], 1)) || !is_well(uv_pipe_open(&channel[i], fds[i]))) break;
  if (i < 2) {
    for (; i < 2; i++) close(fds[i]);
    return;
  }
  for (i = 0; i < PASSED; i++) {
    uv_buf_t buf = uv_buf_init("x", 1);
    if (!is_well(uv_tcp_init(&loop, &passed[i])) || !is_well(uv_tcp_bind(&passed[i], (struct sockaddr*) &address, 0))) return;
    if (!begins(uv_write2(&passes[i], (uv_stream_t*) &channel[0], &buf, 1, (uv_stream_t*) &passed[i], on_written))) return;
  }
  is_well(uv_read_start((uv_stream_t*) &channel[1], alloc, on_handle));
}

/* Connections that are refused and reset, and whose names are asked for. */

static uv_tcp_t lonely[3];
static uv_connect_t vain[3];
static int vain_told;

static void on_refused(uv_connect_t* req, int status) {
  CHECK(under_way-- > 0);
  if (status != UV_ECONNREFUSED && status != UV_ENOENT && status != UV_ECANCELED) is_well(status);
  CHECK(uv_is_closing((uv_handle_t*) req->handle) || status != UV_ECANCELED);
  if (++vain_told == 2) end();
}

static void refused_ones(void) {
  static uv_pipe_t pipe;
  struct sockaddr_in address;
  int size = sizeof(address);
  char name[200];
  size_t length = sizeof(name);
  vain_told = 0;
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  if (!is_well(uv_tcp_init_ex(&loop, &lonely[0], AF_INET)) || !is_well(uv_tcp_init(&loop, &lonely[1]))) return;
  /* Bound, but nobody listens. */
  if (!is_well(uv_tcp_bind(&lonely[0], (struct sockaddr*) &address, 0))) return;
  if (!is_well(uv_tcp_getsockname(&lonely[0], (struct sockaddr*) &address, &size))) return;
  if (!is_well(uv_tcp_nodelay(&lonely[0], 1)) || !is_well(uv_tcp_keepalive(&lonely[0], 1, 60))) return;
  if (!begins(uv_tcp_connect(&vain[0], &lonely[1], (struct sockaddr*) &address, on_refused))) return;
  if (!is_well(uv_pipe_init(&loop, &pipe, 0))) return;
  if (!begins(uv_pipe_connect2(&vain[1], &pipe, "none", 4, 0, on_refused))) return;
  if (!is_well(uv_pipe_init(&loop, &server.pipe, 0)) || !is_well(uv_pipe_bind2(&server.pipe, "\0abstract-refusals", 18, 0))) return;
  if (!is_well(uv_pipe_getsockname(&server.pipe, name, &length))) return;
  if (is_well(uv_tcp_init_ex(&loop, &lonely[2], AF_INET6))) CHECK(uv_tcp_close_reset(&lonely[2], NULL) == 0);
}

/* Datagrams: sent in a row, to addresses of all kinds, in several pieces; received one by one and many at a time. */

enum { DATAGRAMS = 30 };
static uv_udp_t receiver, sender, connected, many_receiver;
static uv_udp_send_t sends[DATAGRAMS];
static int received;

static void on_datagram(uv_udp_t* udp, ssize_t nread, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) udp, (void) buf, (void) flags;
  if (!is_well(nread) || from == NULL) return;
  if (++received == DATAGRAMS + 1 + 3) end();
}

static void on_sent(uv_udp_send_t* req, int status) {
  (void) req;
  is_told(status);
}

static void udp(void) {
  struct sockaddr_in address, other;
  struct sockaddr* addresses[3];
  uv_buf_t bufs[6], *lists[3];
  unsigned sizes[3] = {1, 2, 6};
  int size = sizeof(address), i, sent;
  received = 0;
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  if (!is_well(uv_udp_init(&loop, &receiver)) || !is_well(uv_udp_init_ex(&loop, &many_receiver, AF_INET | UV_UDP_RECVMMSG)) ||
      !is_well(uv_udp_init(&loop, &sender)))
    return;
  if (!is_well(uv_udp_bind(&receiver, (struct sockaddr*) &address, 0)) ||
      !is_well(uv_udp_bind(&many_receiver, (struct sockaddr*) &address, 0)))
    return;
  if (!is_well(uv_udp_getsockname(&receiver, (struct sockaddr*) &address, &size)) ||
      !is_well(uv_udp_getsockname(&many_receiver, (struct sockaddr*) &other, &size)))
    return;
  if (!is_well(uv_udp_recv_start(&receiver, alloc, on_datagram)) || !is_well(uv_udp_recv_start(&many_receiver, alloc, on_datagram)))
    return;
  if (!is_well(uv_udp_set_membership(&receiver, "239.255.0.1", "127.0.0.1", UV_JOIN_GROUP)) ||
      !is_well(uv_udp_set_ttl(&receiver, 5)) || !is_well(uv_udp_set_multicast_interface(&receiver, "127.0.0.1")))
    return;
  for (i = 0; i < 6; i++) bufs[i] = uv_buf_init(piece, 3);
  for (i = 0; i < DATAGRAMS; i++)
    if (!begins(uv_udp_send(&sends[i], &sender, bufs, 1 + i % 6, (struct sockaddr*) (i % 2 ? &address : &other), on_sent))) return;
  if (!is_well(uv_udp_init(&loop, &connected)) || !is_well(uv_udp_connect(&connected, (struct sockaddr*) &other)) ||
      !is_well(uv_udp_try_send(&connected, bufs, 6, NULL)) || !is_well(uv_udp_connect(&connected, NULL)))
    return;
  for (i = 0; i < 3; i++) lists[i] = bufs, addresses[i] = (struct sockaddr*) &other;
  sent = uv_udp_try_send2(&connected, 3, lists, sizes, addresses, 0);
  if (is_well(sent)) CHECK(sent == 3);
}

/* A terminal, both ways. */

static uv_tty_t tty_in, tty_out;
static uv_write_t shown;
static int terminal;

static void on_typed(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) stream, (void) buf;
  if (is_well(nread) && nread > 0) end();
}

/* A terminal that can be opened anew is, and the descriptor stays the program's. */
static int make_tty(uv_tty_t* handle, int fd) {
  uv_os_fd_t own;
  int is_made = is_well(uv_tty_init(&loop, handle, fd, 0));
  if (!is_made || (uv_fileno((uv_handle_t*) handle, &own) == 0 && own != fd)) close(fd);
  return is_made;
}

static void tty(void) {
  uv_buf_t buf = uv_buf_init("shown", 5);
  int width, height, in, out;
  terminal = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  in = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  out = dup(in);
  CHECK(in >= 0 && out >= 0);
  if (make_tty(&tty_in, in) & make_tty(&tty_out, out) && is_well(uv_tty_set_mode(&tty_in, UV_TTY_MODE_RAW)) &&
      is_well(uv_tty_get_winsize(&tty_in, &width, &height)) &&
      is_well(uv_read_start((uv_stream_t*) &tty_in, alloc, on_typed)) &&
      begins(uv_write(&shown, (uv_stream_t*) &tty_out, &buf, 1, on_written)))
    CHECK(write(terminal, "typed\n", 6) == 6);
  else
    end();
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_tty_reset_mode() == 0);
  close(terminal);
}

/* Descriptors of others. */

enum { POLLED = 20 };
static uv_poll_t polls[POLLED];
static int pairs[POLLED][2], polled;

static void on_poll(uv_poll_t* handle, int status, int events) {
  CHECK(events == UV_WRITABLE || status < 0);
  is_well(status);
  uv_poll_stop(handle);
  if (++polled == POLLED) end();
}

static void poll(void) {
  int i;
  polled = 0;
  for (i = 0; i < POLLED; i++) CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) == 0);
  for (i = 0; i < POLLED; i++)
    if (!is_well(uv_poll_init(&loop, &polls[i], pairs[i][0])) || !is_well(uv_poll_start(&polls[i], UV_WRITABLE | UV_READABLE, on_poll)))
      break;
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  for (i = 0; i < POLLED; i++) close(pairs[i][0]), close(pairs[i][1]);
}

int main(int argc, char** argv) {
  const struct play plays[] = {{"tcp", tcp}, {"pipes", pipes}, {"queues", queues}, {"passing", passing}, {"refused", refused_ones},
                               {"udp", udp}, {"tty", tty}, {"poll", poll}, {NULL, NULL}};
  return refuse_in(plays, argc, argv);
}

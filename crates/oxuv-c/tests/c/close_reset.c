/* Closing with a reset: the peer gets an error instead of the end of the stream. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static uv_tcp_t* accepted;
static int closes;
static int shutdowns;

static void on_close(uv_handle_t* handle) {
  closes++;
  free_handle(handle);
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  (void) req;
  CHECK(status == 0 || status == UV_ECANCELED);
  shutdowns++;
}

static void on_connection(uv_stream_t* server, int status) {
  CHECK(status == 0);
  accepted = new_tcp();
  CHECK(uv_accept(server, (uv_stream_t*) accepted) == 0);
}

static int connect_to(uv_tcp_t** server) {
  int port, fd;
  struct sockaddr_in address;
  *server = new_listener(&port);
  CHECK(uv_listen((uv_stream_t*) *server, 8, on_connection) == 0);
  address = local(port);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(fd, (struct sockaddr*) &address, sizeof(address)) == 0);
  accepted = NULL;
  UNTIL(accepted != NULL);
  return fd;
}

static void the_peer_is_reset(void) {
  uv_tcp_t* server;
  int fd = connect_to(&server);
  char byte;
  uv_tcp_t* tcp = accepted;
  CHECK(uv_tcp_close_reset(tcp, on_close) == 0);
  CHECK(uv_is_closing((uv_handle_t*) tcp) && tcp->io_watcher.fd == -1);
  CHECK(uv_tcp_close_reset(tcp, on_close) == UV_EBADF);
  closes = 0;
  close_tcp(server);
  run_dry();
  CHECK(closes == 1);
  CHECK(read(fd, &byte, 1) == -1 && errno == ECONNRESET);
  close(fd);
}

static void not_while_shutting_down(void) {
  uv_tcp_t* server;
  int fd = connect_to(&server);
  uv_shutdown_t req;
  char byte;
  CHECK(uv_shutdown(&req, (uv_stream_t*) accepted, on_shutdown) == 0);
  CHECK(uv_tcp_close_reset(accepted, on_close) == UV_EINVAL);
  CHECK(!uv_is_closing((uv_handle_t*) accepted) && accepted->io_watcher.fd >= 0);
  shutdowns = closes = 0;
  CHECK(turn() == 1);
  CHECK(shutdowns == 1 && closes == 0);
  CHECK(read(fd, &byte, 1) == 0);
  /* It is shut down by now. */
  CHECK(uv_tcp_close_reset(accepted, on_close) == 0);
  close_tcp(server);
  run_dry();
  CHECK(closes == 1);
  CHECK(write(fd, "x", 1) == -1); /* a reset has come */
  close(fd);
}

static void without_a_socket(void) {
  uv_tcp_t* tcp = new_tcp();
  CHECK(uv_tcp_close_reset(tcp, on_close) == UV_EBADF);
  CHECK(!uv_is_closing((uv_handle_t*) tcp));
  close_tcp(tcp);
  run_dry();
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  CHECK(uv_loop_init(&loop) == 0);
  the_peer_is_reset();
  not_while_shutting_down();
  without_a_socket();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

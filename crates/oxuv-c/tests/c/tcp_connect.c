/* Connecting: what the callback tells, what is refused at once, and the fields of handle and request. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

static int connects;
static int last_status;
static int writes;
static int shutdowns;

static void on_connect(uv_connect_t* req, int status) {
  uv_tcp_t* tcp = (uv_tcp_t*) req->handle;
  CHECK(req->type == UV_CONNECT);
  CHECK(tcp->loop == &loop);
  connects++;
  last_status = status;
  free(memset(req, 0xdb, sizeof(*req)));
}

static void on_write(uv_write_t* req, int status) {
  writes++;
  last_status = status;
  free(req);
}

static void on_shutdown(uv_shutdown_t* req, int status) {
  shutdowns++;
  last_status = status;
  free(req);
}

static int try_connect(uv_tcp_t* tcp, int port) {
  struct sockaddr_in address = local(port);
  uv_connect_t* req = dirty(sizeof(*req));
  void* data = req->data;
  int result = uv_tcp_connect(req, tcp, (struct sockaddr*) &address, on_connect);
  if (result == 0) {
    CHECK(req->handle == (uv_stream_t*) tcp && req->type == UV_CONNECT);
    CHECK(req->data == data); /* left alone */
  } else {
    free(req);
  }
  return result;
}

/* A port at which nobody listens, as long as `holder` is there. */
static int dead_port(uv_tcp_t** holder) {
  struct sockaddr_in address = local(0);
  *holder = new_tcp();
  CHECK(uv_tcp_bind(*holder, (struct sockaddr*) &address, 0) == 0);
  return port_of(*holder);
}

static void a_connection(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* client = new_tcp();
  struct sockaddr_storage name;
  int size = sizeof(name);
  CHECK(!uv_is_readable((uv_stream_t*) client) && !uv_is_writable((uv_stream_t*) client));
  CHECK(uv_tcp_getpeername(client, (struct sockaddr*) &name, &size) == UV_EBADF);
  CHECK(uv_tcp_getpeername(server, (struct sockaddr*) &name, &size) == UV_ENOTCONN);
  CHECK(try_connect(client, port) == 0);
  CHECK(client->io_watcher.fd >= 0);
  CHECK(!uv_is_active((uv_handle_t*) client) && uv_loop_alive(&loop));
  CHECK(uv_is_readable((uv_stream_t*) client) && uv_is_writable((uv_stream_t*) client));
  CHECK(try_connect(client, port) == UV_EALREADY);
  connects = 0;
  UNTIL(connects == 1);
  CHECK(last_status == 0);
  CHECK(uv_tcp_getpeername(client, (struct sockaddr*) &name, &size) == 0);
  CHECK(size == sizeof(struct sockaddr_in));
  CHECK(ntohs(((struct sockaddr_in*) &name)->sin_port) == port);
  size = 3; /* as much as fits, and the whole size */
  memset(&name, 0, sizeof(name));
  CHECK(uv_tcp_getpeername(client, (struct sockaddr*) &name, &size) == 0);
  CHECK(size == sizeof(struct sockaddr_in) && name.ss_family == AF_INET && port_of(client) > 0);
  close_tcp(client);
  CHECK(uv_tcp_getpeername(client, (struct sockaddr*) &name, &size) == UV_EBADF);
  CHECK(uv_tcp_getsockname(client, (struct sockaddr*) &name, &size) == UV_EBADF);
  close_tcp(server);
  run_dry();
}

static void an_unspecified_address_is_this_machine(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* client = new_tcp();
  struct sockaddr_in address = local(port);
  uv_connect_t* req = dirty(sizeof(*req));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  CHECK(uv_tcp_connect(req, client, (struct sockaddr*) &address, on_connect) == 0);
  connects = 0;
  UNTIL(connects == 1);
  CHECK(last_status == 0);
  close_tcp(client);
  close_tcp(server);
  run_dry();
}

static void a_refusal_comes_by_callback(void) {
  uv_tcp_t* holder;
  int port = dead_port(&holder);
  uv_tcp_t* client = new_tcp();
  uv_write_t* write = dirty(sizeof(*write));
  uv_buf_t buf = uv_buf_init("hello", 5);
  CHECK(try_connect(client, port) == 0);
  CHECK(uv_write(write, (uv_stream_t*) client, &buf, 1, on_write) == 0);
  CHECK(client->write_queue_size == 5); /* it waits */
  CHECK(uv_try_write((uv_stream_t*) client, &buf, 1) == UV_EAGAIN);
  connects = writes = 0;
  UNTIL(connects == 1);
  CHECK(writes == 1 && last_status == UV_ECANCELED); /* told right after */
  CHECK(client->write_queue_size == 0);
  CHECK(client->io_watcher.fd >= 0); /* the socket is still there */
  close_tcp(client);

  client = new_tcp();
  CHECK(try_connect(client, port) == 0);
  connects = 0;
  UNTIL(connects == 1);
  CHECK(last_status == UV_ECONNREFUSED);
  close_tcp(client);
  close_tcp(holder);
  run_dry();
}

static void an_address_in_use_comes_by_callback(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* client = new_tcp();
  struct sockaddr_in address = local(port);
  struct sockaddr_storage name;
  int size = sizeof(name);
  CHECK(uv_tcp_bind(client, (struct sockaddr*) &address, 0) == 0);
  CHECK(uv_tcp_getsockname(client, (struct sockaddr*) &name, &size) == UV_EADDRINUSE);
  CHECK(uv_tcp_getpeername(client, (struct sockaddr*) &name, &size) == UV_EADDRINUSE);
  CHECK(uv_listen((uv_stream_t*) client, 8, ignore_connection) == UV_EADDRINUSE);
  connects = 0;
  CHECK(try_connect(client, port) == 0);
  CHECK(connects == 0);
  CHECK(turn() == 1);
  CHECK(connects == 1 && last_status == UV_EADDRINUSE);
  CHECK(uv_tcp_getsockname(client, (struct sockaddr*) &name, &size) == 0); /* told once */
  close_tcp(client);
  close_tcp(server);
  run_dry();
}

static void closed_while_connecting(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* client = new_tcp();
  uv_write_t* write = dirty(sizeof(*write));
  uv_shutdown_t* shutdown = dirty(sizeof(*shutdown));
  uv_buf_t buf = uv_buf_init("hello", 5);
  CHECK(try_connect(client, port) == 0);
  CHECK(uv_write(write, (uv_stream_t*) client, &buf, 1, on_write) == 0);
  CHECK(uv_shutdown(shutdown, (uv_stream_t*) client, on_shutdown) == 0);
  CHECK(shutdown->handle == (uv_stream_t*) client && shutdown->type == UV_SHUTDOWN);
  close_tcp(client);
  close_tcp(server);
  connects = writes = shutdowns = 0;
  run_dry();
  CHECK(connects == 1 && writes == 1 && shutdowns == 1 && last_status == UV_ECANCELED);
}

static void what_is_refused_at_once(void) {
  uv_tcp_t* tcp = new_tcp();
  struct sockaddr_storage strange;
  uv_connect_t req;
  memset(&strange, 0, sizeof(strange));
  strange.ss_family = AF_UNIX;
  CHECK(uv_tcp_connect(&req, tcp, (struct sockaddr*) &strange, on_connect) == UV_EINVAL);
  CHECK(uv_tcp_bind(tcp, (struct sockaddr*) &strange, 0) == UV_EINVAL);
  CHECK(tcp->io_watcher.fd == -1);
  /* Broadcast has no route for TCP. */
  CHECK(uv_ip4_addr("255.255.255.255", 9, (struct sockaddr_in*) &strange) == 0);
  CHECK(uv_tcp_connect(&req, tcp, (struct sockaddr*) &strange, on_connect) < 0);
  CHECK(!uv_loop_alive(&loop));
  CHECK(tcp->io_watcher.fd >= 0); /* it has a socket by now */
  close_tcp(tcp);
  run_dry();
}

/* Callbacks that close their handle, or connect once more */

static void close_it(uv_connect_t* req, int status) {
  CHECK(status == UV_ECONNREFUSED);
  connects++;
  close_tcp((uv_tcp_t*) req->handle);
  free(req);
}

static void connect_again(uv_connect_t* req, int status) {
  struct sockaddr_in address = local(*(int*) req->data);
  uv_tcp_t* tcp = (uv_tcp_t*) req->handle;
  CHECK(status == UV_ECONNREFUSED);
  connects++;
  /* Linux tells once more of the connect that has failed. */
  CHECK(uv_tcp_connect(req, tcp, (struct sockaddr*) &address, close_it) == UV_ECONNABORTED);
  CHECK(uv_tcp_connect(req, tcp, (struct sockaddr*) &address, close_it) == 0);
}

static void callbacks_may_do_anything(void) {
  uv_tcp_t* holder;
  int port = dead_port(&holder);
  uv_connect_t* req = dirty(sizeof(*req));
  struct sockaddr_in address = local(port);
  req->data = &port;
  CHECK(uv_tcp_connect(req, new_tcp(), (struct sockaddr*) &address, connect_again) == 0);
  connects = 0;
  run_dry();
  CHECK(connects == 2);
  /* Nobody is called. */
  req = dirty(sizeof(*req));
  {
    uv_tcp_t* tcp = new_tcp();
    CHECK(uv_tcp_connect(req, tcp, (struct sockaddr*) &address, NULL) == 0);
    run_dry();
    close_tcp(tcp);
  }
  free(req);
  close_tcp(holder);
  run_dry();
}

#ifndef ON_LIBUV
/* libuv connects these, or ends the process. */
static void misuse_is_an_error(void) {
  int port;
  uv_tcp_t* server = new_listener(&port);
  uv_tcp_t* client = new_tcp();
  uv_tcp_t zero;
  CHECK(try_connect(client, port) == 0);
  connects = 0;
  UNTIL(connects == 1);
  CHECK(last_status == 0);
  CHECK(try_connect(client, port) == UV_EISCONN);
  close_tcp(client);
  CHECK(try_connect(client, port) == UV_EINVAL);
  close_tcp(server);
  run_dry();
  memset(&zero, 0, sizeof(zero));
  CHECK(try_connect(&zero, port) == UV_EINVAL);
}
#endif

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  a_connection();
  an_unspecified_address_is_this_machine();
  a_refusal_comes_by_callback();
  an_address_in_use_comes_by_callback();
  closed_while_connecting();
  what_is_refused_at_once();
  callbacks_may_do_anything();
#ifndef ON_LIBUV
  misuse_is_an_error();
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

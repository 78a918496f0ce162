/* Terminals as streams: what is typed and printed, and how that ends. */
#define _GNU_SOURCE
#include "pty.h"

#include <poll.h>

static int writes, shutdowns;

static void count_write(uv_write_t* req, int status) {
  CHECK(status == 0);
  free(req);
  writes++;
}

static void print(uv_tty_t* tty, const char* text, size_t size) {
  uv_buf_t buf = uv_buf_init((char*) text, size);
  uv_write_t* req = (uv_write_t*) dirty(sizeof(*req));
  CHECK(uv_write(req, (uv_stream_t*) tty, &buf, 1, count_write) == 0);
}

/* The other side gives these bytes, in as many parts as it likes. */
static void expect(int fd, const char* text) {
  char got[64];
  size_t size = 0;
  while (size < strlen(text)) {
    ssize_t count = read(fd, got + size, strlen(text) - size);
    CHECK(count > 0);
    size += count;
  }
  CHECK(memcmp(got, text, size) == 0);
}

static void lines_are_read_and_printed(void) {
  int master, slave;
  uv_buf_t buf = uv_buf_init((char*) "two", 3);
  uv_tty_t* tty;
  new_pty(&master, &slave);
  tty = new_tty(slave);
  start_gathering(tty);
  CHECK(uv_is_active((uv_handle_t*) tty));
  CHECK(write(master, "half a", 6) == 6);
  CHECK(turn() != 0 && turn() != 0);
  CHECK(length == 0); /* no line yet */
  CHECK(write(master, " line\r", 6) == 6);
  UNTIL(length > 0);
  CHECK(has_read("half a line\n"));
  expect(master, "half a line\r\n"); /* the echo */
  length = 0;
  CHECK(uv_tty_set_mode(tty, UV_TTY_MODE_RAW) == 0);
  CHECK(write(master, "x\r\3", 3) == 3); /* not a line, nor an interrupt */
  UNTIL(length >= 3);
  CHECK(has_read("x\r\3"));

  writes = 0;
  print(tty, "one\n", 4);
  CHECK(uv_try_write((uv_stream_t*) tty, &buf, 1) == 3);
  UNTIL(writes == 1);
  expect(master, "one\r\ntwo");
  CHECK(uv_read_stop((uv_stream_t*) tty) == 0 && !uv_is_active((uv_handle_t*) tty));
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

static void count_shutdown(uv_shutdown_t* req, int status) {
  (void) req;
  CHECK(status == UV_ENOTSOCK);
  shutdowns++;
}

static void much_is_printed_in_parts_and_nothing_blocks(void) {
  int master, slave;
  static char text[100000], printed[sizeof(text) + 1];
  size_t got = 0, i;
  uv_shutdown_t req;
  uv_tty_t* tty;
  for (i = 0; i < sizeof(text); i++) text[i] = (char) (i * 7919 >> 5);
  new_plain_pty(&master, &slave);
  tty = new_tty(slave);
  writes = shutdowns = 0;
  print(tty, text, sizeof(text));
  CHECK(tty->write_queue_size > 0 && tty->write_queue_size < sizeof(text));
  CHECK(uv_shutdown(&req, (uv_stream_t*) tty, count_shutdown) == 0);
  CHECK(!uv_is_writable((uv_stream_t*) tty));
  while (got < sizeof(text)) {
    ssize_t count;
    CHECK(shutdowns <= writes);
    turn();
    count = read(master, printed + got, sizeof(printed) - got);
    CHECK(count > 0);
    got += count;
  }
  UNTIL(shutdowns == 1);
  CHECK(writes == 1 && got == sizeof(text) && memcmp(text, printed, got) == 0);
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

/* A master that is blocking is never read when there might be nothing. */
static char memory_of_8[8];
static void give_8(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(memory_of_8, sizeof(memory_of_8));
}

static void a_blocking_master_is_read_and_written(void) {
  int master, slave;
  uv_tty_t* tty;
  new_plain_pty(&master, &slave);
  tty = new_tty(master);
  writes = 0;
  print(tty, "typed", 5);
  UNTIL(writes == 1);
  expect(slave, "typed");
  length = 0;
  end = 0;
#ifdef ON_LIBUV
  CHECK(uv_read_start((uv_stream_t*) tty, give_memory, gather) == 0);
#else
  CHECK(uv_read_start((uv_stream_t*) tty, give_8, gather) == 0);
#endif
  CHECK(write(slave, "12345678", 8) == 8); /* all that there is fills the buffer */
  UNTIL(length == 8);
  CHECK(has_read("12345678"));
  CHECK(write(slave, "12345678abc", 11) == 11);
  UNTIL(length == 19);
  CHECK(memcmp(bytes + 16, "abc", 3) == 0);
  close(slave);
  UNTIL(end != 0);
  CHECK(end == UV_EIO && length == 19);
  CHECK(!uv_is_readable((uv_stream_t*) tty) && !uv_is_writable((uv_stream_t*) tty));
  CHECK(!uv_is_active((uv_handle_t*) tty));
  (void) give_8;
  close_tty(tty);
  run_dry();
}

static void a_slave_reads_the_end_when_its_master_is_closed(void) {
  int master, slave;
  uv_tty_t* tty;
  new_plain_pty(&master, &slave);
  tty = new_tty(slave);
  CHECK(write(master, "last", 4) == 4);
  close(master);
  start_gathering(tty);
  UNTIL(end != 0);
  CHECK(end == UV_EOF); /* what was typed before is gone with the master */
  CHECK(!uv_is_active((uv_handle_t*) tty));
  close_tty(tty);
  run_dry();
  close(slave);
}

static void what_was_typed_before_the_master_was_closed(void) {
  int master, slave;
  uv_tty_t* tty;
  struct pollfd typed;
  new_plain_pty(&master, &slave);
  tty = new_tty(slave);
  start_gathering(tty);
  CHECK(write(master, "last", 4) == 4);
  typed.fd = slave;
  typed.events = POLLIN;
  CHECK(poll(&typed, 1, 10000) == 1);
  UNTIL(length == 4);
  close(master);
  UNTIL(end != 0);
  CHECK(end == UV_EOF && has_read("last"));
  close_tty(tty);
  run_dry();
  close(slave);
}

/* libuv#4992, libuv#2319, neovim#3030: the end of a terminal is not told before the bytes that are in front of it. */
#define TAIL 65536
static int tail_fd;

static void print_the_tail(void* arg) {
  size_t sent = 0;
  static char text[TAIL];
  (void) arg;
  while (sent < TAIL) {
    ssize_t count = write(tail_fd, text + sent, TAIL - sent < 4096 ? TAIL - sent : 4096);
    CHECK(count > 0);
    sent += count;
  }
  close(tail_fd);
}

static uv_tty_t* as_a_tty(int master) { return new_tty(master); }

static uv_tty_t* as_a_pipe(int master) {
  uv_pipe_t* pipe = (uv_pipe_t*) dirty(sizeof(*pipe));
  CHECK(uv_pipe_init(&loop, pipe, 0) == 0);
  CHECK(uv_pipe_open(pipe, master) == 0);
  return (uv_tty_t*) pipe; /* as a stream */
}

static void the_end_is_never_early(uv_tty_t* (*opened)(int), int expected) {
  int i;
  for (i = 0; i < 1000; i++) {
    int master, slave;
    uv_tty_t* tty;
    uv_thread_t thread;
    new_plain_pty(&master, &slave);
    tail_fd = slave;
    tty = opened(master);
    start_gathering(tty);
    CHECK(uv_thread_create(&thread, print_the_tail, NULL) == 0);
    run_dry();
    CHECK(uv_thread_join(&thread) == 0);
    if (length != TAIL || end != expected) {
      fprintf(stderr, "number %d: %zu bytes, and then %s\n", i, length, uv_err_name(end));
      exit(1);
    }
    uv_close((uv_handle_t*) tty, free_handle);
    run_dry();
  }
}

static void close_it(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) buf;
  if (nread == 0) return;
  end = nread;
  uv_close((uv_handle_t*) stream, free_handle);
}

static void closed_in_its_read_callback(void) {
  int master, slave;
  uv_tty_t* tty;
  new_plain_pty(&master, &slave);
  tty = new_tty(slave);
  end = 0;
  CHECK(uv_read_start((uv_stream_t*) tty, give_memory, close_it) == 0);
  CHECK(write(master, "bye", 3) == 3);
  run_dry();
  CHECK(end == 3);
  close(slave);
  close(master);
}

static void ignore(uv_stream_t* stream, int status) {
  (void) stream;
  (void) status;
}

static void what_terminals_cannot(void) {
  int master, slave, size = 0;
  uv_tty_t* tty;
  new_pty(&master, &slave);
  tty = new_tty(slave);
  CHECK(uv_listen((uv_stream_t*) tty, 1, ignore) == UV_EINVAL);
  CHECK(uv_send_buffer_size((uv_handle_t*) tty, &size) == UV_ENOTSUP);
  CHECK(uv_stream_set_blocking((uv_stream_t*) tty, 1) == 0 && !is_nonblocking(slave));
  CHECK(uv_stream_set_blocking((uv_stream_t*) tty, 0) == 0 && is_nonblocking(slave));
  close_tty(tty);
  run_dry();
  close(slave);
  close(master);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  lines_are_read_and_printed();
  much_is_printed_in_parts_and_nothing_blocks();
  a_blocking_master_is_read_and_written();
  a_slave_reads_the_end_when_its_master_is_closed();
  what_was_typed_before_the_master_was_closed();
  the_end_is_never_early(as_a_tty, UV_EIO);
#ifndef ON_LIBUV /* where some bytes are lost, once in a while, or the end is UV_EIO */
  the_end_is_never_early(as_a_pipe, UV_EOF);
#endif
  closed_in_its_read_callback();
  what_terminals_cannot();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* A bit of everything at once. Whatever the system refuses is to come back as an error, once, to whom it belongs, and the rest
 * goes on: no end, no wait for ever, no descriptor that stays open, no loop that turns for nothing. scripts/faults runs it where
 * calls fail; where nothing is reported, it says ok. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum part { TIMER, ASYNC, SIGNAL, WORK, RANDOM, TCP, PIPE, UDP, CHILD, WATCH, FILES, PARTS };
enum { ROOM = 256, DATAGRAMS = 5, MOST_TURNS = 2000, REPORTED = 3 };

static uv_loop_t loop;
static int is_done[PARTS], parts_left = PARTS;
static int under_way, reported;
static char directory[] = "/tmp/everything-XXXXXX";

/* Says an error, which is not one of ours. */
static int failed(const char* what, int result) {
  if (result >= 0) return 0;
  reported++;
  fprintf(stderr, "%s: %s\n", what, uv_err_name(result));
  return 1;
}

/* A request that is begun will be told of. */
static int began(const char* what, int result) {
  if (failed(what, result)) return 0;
  under_way++;
  return 1;
}

static void told(const char* what, int result) {
  CHECK(--under_way >= 0);
  failed(what, result);
}

static void close_one(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void done(enum part part) {
  if (is_done[part]) return;
  is_done[part] = 1;
  if (--parts_left == 0) uv_walk(&loop, close_one, NULL);
}

static void too_late(uv_timer_t* timer) {
  int part;
  (void) timer;
  for (part = 0; part < PARTS; part++)
    if (!is_done[part]) fprintf(stderr, "part %d has not ended\n", part);
  reported++;
  uv_walk(&loop, close_one, NULL);
}

/* Streams: what is written comes back, and then the end. */

static char room[ROOM];

static void alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(room, ROOM);
}

static void on_written(uv_write_t* req, int status) {
  (void) req;
  told("write", status);
}

static void on_shut_down(uv_shutdown_t* req, int status) {
  (void) req;
  told("shutdown", status);
}

static void ask(uv_stream_t* stream, uv_write_t* req, uv_shutdown_t* shutdown) {
  uv_buf_t bufs[2];
  bufs[0] = uv_buf_init("ques", 4);
  bufs[1] = uv_buf_init("tion", 4);
  if (began("uv_write", uv_write(req, stream, bufs, 2, on_written)))
    began("uv_shutdown", uv_shutdown(shutdown, stream, on_shut_down));
}

static int answered[PARTS];

/* The part is over with this stream. */
static void on_answer(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  enum part part = *(enum part*) stream->data;
  if (nread >= 0) {
    CHECK(strncmp("question" + answered[part], buf->base, nread) == 0);
    answered[part] += (int) nread;
    return;
  }
  if (nread != UV_EOF) failed("read", (int) nread);
  else if (answered[part] != 8) failed("an answer", UV_EIO);
  uv_close((uv_handle_t*) stream, NULL);
  done(part);
}

/* A server's side. */
static uv_write_t answers[2];
static uv_shutdown_t ends[2];

static void at_the_end(uv_shutdown_t* req, int status) {
  told("shutdown", status);
  if (!uv_is_closing((uv_handle_t*) req->handle)) uv_close((uv_handle_t*) req->handle, NULL);
}

static void on_question(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  int is_tcp = *(enum part*) stream->data == TCP;
  uv_write_t* req = &answers[is_tcp];
  uv_buf_t answer = uv_buf_init(buf->base, nread > 0 ? (unsigned) nread : 0);
  if (nread > 0) {
    if (uv_try_write(stream, &answer, 1) == nread) return;
    if (req->data == NULL && began("uv_write", uv_write(req, stream, &answer, 1, on_written))) req->data = req;
  } else if (nread < 0) {
    if (nread != UV_EOF) failed("read", (int) nread);
    if (!began("uv_shutdown", uv_shutdown(&ends[is_tcp], stream, at_the_end))) uv_close((uv_handle_t*) stream, NULL);
  }
}

static enum part tcp = TCP, named = PIPE, child = CHILD;
static uv_tcp_t tcp_server, tcp_peer, tcp_client;
static uv_pipe_t pipe_server, pipe_peer, pipe_client;
static uv_connect_t connects[2];
static uv_write_t questions[3];
static uv_shutdown_t shutdowns[3];

static void on_connection(uv_stream_t* server, int status) {
  enum part part = *(enum part*) server->data;
  uv_stream_t* peer = part == TCP ? (uv_stream_t*) &tcp_peer : (uv_stream_t*) &pipe_peer;
  if (failed("connection", status) || peer->data != NULL) return;
  if (failed("init", part == TCP ? uv_tcp_init(&loop, &tcp_peer) : uv_pipe_init(&loop, &pipe_peer, 0))) return;
  peer->data = server->data;
  if (failed("uv_accept", uv_accept(server, peer)) || failed("uv_read_start", uv_read_start(peer, alloc, on_question))) {
    uv_close((uv_handle_t*) peer, NULL);
    done(part);
  }
}

static void on_connect(uv_connect_t* req, int status) {
  enum part part = *(enum part*) req->handle->data;
  told("connect", status);
  if (status < 0 || failed("uv_read_start", uv_read_start(req->handle, alloc, on_answer))) done(part);
  else ask(req->handle, &questions[part == TCP], &shutdowns[part == TCP]);
}

static void use_tcp(void) {
  struct sockaddr_in address;
  int size = sizeof(address), result;
  CHECK(uv_tcp_init(&loop, &tcp_server) == 0 && uv_tcp_init(&loop, &tcp_client) == 0);
  tcp_server.data = tcp_client.data = &tcp;
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  result = uv_tcp_bind(&tcp_server, (struct sockaddr*) &address, 0);
  if (result == 0) result = uv_listen((uv_stream_t*) &tcp_server, 1, on_connection);
  if (result == 0) result = uv_tcp_getsockname(&tcp_server, (struct sockaddr*) &address, &size);
  if (failed("a server", result) ||
      !began("uv_tcp_connect", uv_tcp_connect(&connects[1], &tcp_client, (struct sockaddr*) &address, on_connect)))
    done(TCP);
}

static void use_pipe(void) {
  char path[64];
  int result;
  sprintf(path, "%s/pipe", directory);
  CHECK(uv_pipe_init(&loop, &pipe_server, 0) == 0 && uv_pipe_init(&loop, &pipe_client, 0) == 0);
  pipe_server.data = pipe_client.data = &named;
  result = uv_pipe_bind(&pipe_server, path);
  if (result == 0) result = uv_listen((uv_stream_t*) &pipe_server, 1, on_connection);
  if (failed("a pipe's server", result)) {
    done(PIPE);
  } else {
    under_way++;
    uv_pipe_connect(&connects[0], &pipe_client, path, on_connect);
  }
}

/* A child that sends back what it gets: this program, whose end is not to depend on what else may fail. */

static void be_a_child(void) {
  char bytes[ROOM];
  ssize_t size, written;
  while ((size = read(0, bytes, ROOM)) != 0) {
    if (size < 0) continue;
    do written = write(1, bytes, size);
    while (written < 0 && errno == EINTR);
    if (written < 0) exit(1);
  }
  exit(0);
}

static char* self;
static uv_process_t process;
static uv_pipe_t child_in, child_out;

static void on_exit_of_child(uv_process_t* handle, int64_t status, int signal) {
  (void) signal;
  if (status != 0) failed("the child", (int) -status);
  uv_close((uv_handle_t*) handle, NULL);
}

static void use_child(void) {
  char* args[] = {self, "child", NULL};
  uv_stdio_container_t stdio[2];
  uv_process_options_t options;
  memset(&options, 0, sizeof(options));
  CHECK(uv_pipe_init(&loop, &child_in, 0) == 0 && uv_pipe_init(&loop, &child_out, 0) == 0);
  child_in.data = child_out.data = &child;
  stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
  stdio[0].data.stream = (uv_stream_t*) &child_in;
  stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
  stdio[1].data.stream = (uv_stream_t*) &child_out;
  options.file = args[0];
  options.args = args;
  options.stdio = stdio;
  options.stdio_count = 2;
  options.exit_cb = on_exit_of_child;
  if (failed("uv_spawn", uv_spawn(&loop, &process, &options)) ||
      failed("uv_process_kill", uv_process_kill(&process, 0)) ||
      failed("uv_read_start", uv_read_start((uv_stream_t*) &child_out, alloc, on_answer)))
    done(CHILD);
  else
    ask((uv_stream_t*) &child_in, &questions[2], &shutdowns[2]);
}

/* Datagrams, several at a time. */

static uv_udp_t receiver, sender;
static uv_udp_send_t sends[DATAGRAMS];
static int received;
static char datagrams[4 * 65536];

static void alloc_several(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle;
  (void) size;
  *buf = uv_buf_init(datagrams, sizeof(datagrams));
}

static void on_datagram(
    uv_udp_t* udp, ssize_t nread, const uv_buf_t* buf, const struct sockaddr* from, unsigned flags) {
  (void) buf;
  (void) flags;
  if (nread > 0 && from != NULL && ++received == DATAGRAMS) done(UDP);
  if (!failed("receive", (int) nread)) return;
  /* Or it is told as long as it lasts. */
  CHECK(uv_udp_recv_stop(udp) == 0);
  done(UDP);
}

static void on_sent(uv_udp_send_t* req, int status) {
  (void) req;
  told("send", status);
  if (status < 0) done(UDP);
}

static void use_udp(void) {
  struct sockaddr_in address;
  int size = sizeof(address), i, result;
  CHECK(uv_udp_init_ex(&loop, &receiver, UV_UDP_RECVMMSG) == 0 && uv_udp_init(&loop, &sender) == 0);
  CHECK(uv_ip4_addr("127.0.0.1", 0, &address) == 0);
  result = uv_udp_bind(&receiver, (struct sockaddr*) &address, 0);
  if (result == 0) result = uv_udp_recv_start(&receiver, alloc_several, on_datagram);
  if (result == 0) result = uv_udp_getsockname(&receiver, (struct sockaddr*) &address, &size);
  if (failed("a receiver", result)) done(UDP);
  for (i = 0; i < DATAGRAMS && !is_done[UDP]; i++) {
    /* Of one size they would go as one. */
    uv_buf_t buf = uv_buf_init("datagram", 8 - i);
    if (!began("uv_udp_send", uv_udp_send(&sends[i], &sender, &buf, 1, (struct sockaddr*) &address, on_sent))) done(UDP);
  }
}

/* Files, one step after the other, each whatever became of the one before. */

static uv_fs_t fs;
static uv_file file = -1, sink = -1;
static int step;
static char path[64], copy[64], halves[2][4];

static void next_step(uv_fs_t* req);

static int begin_step(void) {
  uv_buf_t bufs[2];
  bufs[0] = uv_buf_init(halves[0], 4);
  bufs[1] = uv_buf_init(halves[1], 4);
  switch (step++) {
    case 0: return uv_fs_open(&loop, &fs, path, O_RDWR | O_CREAT, 0600, next_step);
    case 1: return uv_fs_write(&loop, &fs, file, bufs, 2, 0, next_step);
    case 2: return uv_fs_write(&loop, &fs, file, bufs, 2, -1, next_step);
    case 3: return uv_fs_read(&loop, &fs, file, bufs, 2, 0, next_step);
    case 4: return uv_fs_read(&loop, &fs, file, bufs, 1, 2, next_step);
    case 5: return uv_fs_fstat(&loop, &fs, file, next_step);
    case 6: return uv_fs_ftruncate(&loop, &fs, file, 6, next_step);
    case 7: return uv_fs_fsync(&loop, &fs, file, next_step);
    case 8: return uv_fs_copyfile(&loop, &fs, path, copy, 0, next_step);
    case 9: return uv_fs_stat(&loop, &fs, path, next_step);
    case 10: return uv_fs_lstat(&loop, &fs, directory, next_step);
    case 11: return uv_fs_scandir(&loop, &fs, directory, 0, next_step);
    case 12: return uv_fs_utime(&loop, &fs, path, 1, 2, next_step);
    case 13: return uv_fs_rename(&loop, &fs, path, copy, next_step);
    case 14: return uv_fs_realpath(&loop, &fs, directory, next_step);
    /* To one that is only added to, by other means than from file to file. */
    case 15: return uv_fs_open(&loop, &fs, copy, O_WRONLY | O_APPEND, 0, next_step);
    case 16: return uv_fs_sendfile(&loop, &fs, sink, file, 0, 6, next_step);
    case 17: return sink < 0 ? UV_EBADF : uv_fs_close(&loop, &fs, sink, next_step);
    case 18: return file < 0 ? UV_EBADF : uv_fs_close(&loop, &fs, file, next_step);
    default: return 1;
  }
}

static void go_on(void) {
  int result;
  do {
    result = begin_step();
    if (result == 1) done(FILES);
  } while (result == 1 ? 0 : !began("a step", result));
}

static void next_step(uv_fs_t* req) {
  char what[32];
  sprintf(what, "step %d", step - 1);
  told(what, (int) req->result);
  if (req->fs_type == UV_FS_OPEN) *(step == 1 ? &file : &sink) = (uv_file) req->result;
  if (req->fs_type == UV_FS_CLOSE && req->result == 0) *(step == 18 ? &sink : &file) = -1;
  uv_fs_req_cleanup(req);
  go_on();
}

/* The rest. */

static uv_timer_t timer, deadline;
static uv_async_t async;
static uv_signal_t signals;
static uv_work_t work;
static uv_random_t random_req;
static char random_bytes[8];
static uv_fs_event_t watch;
static uv_thread_t thread;

static void on_timer(uv_timer_t* handle) { (void) handle, done(TIMER); }
static void on_async(uv_async_t* handle) { (void) handle, done(ASYNC); }
static void send_it(void* arg) { CHECK(uv_async_send(arg) == 0); }
static void on_signal(uv_signal_t* handle, int number) { (void) handle, (void) number, done(SIGNAL); }
static void do_work(uv_work_t* req) { (void) req; }

static void after_work(uv_work_t* req, int status) {
  (void) req;
  told("work", status);
  done(WORK);
}

static void on_random(uv_random_t* req, int status, void* bytes, size_t size) {
  (void) req, (void) bytes, (void) size;
  told("random", status);
  done(RANDOM);
}

static void on_change(uv_fs_event_t* handle, const char* name, int events, int status) {
  (void) handle, (void) name, (void) events;
  failed("a change", status);
  done(WATCH);
}

static void begin_all(void) {
  const char* limit = getenv("EVERYTHING_MS");
  int has_thread;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, on_timer, 1, 0) == 0);
  CHECK(uv_timer_init(&loop, &deadline) == 0 && uv_timer_start(&deadline, too_late, limit == NULL ? 60000 : atoi(limit), 0) == 0);
  CHECK(uv_signal_init(&loop, &signals) == 0 && uv_fs_event_init(&loop, &watch) == 0);
  if (failed("uv_fs_event_start", uv_fs_event_start(&watch, on_change, directory, 0))) done(WATCH);
  if (failed("uv_signal_start", uv_signal_start(&signals, on_signal, SIGUSR1))) done(SIGNAL);
  else CHECK(raise(SIGUSR1) == 0);
  if (!began("uv_queue_work", uv_queue_work(&loop, &work, do_work, after_work))) done(WORK);
  if (!began("uv_random", uv_random(&loop, &random_req, random_bytes, sizeof(random_bytes), 0, on_random))) done(RANDOM);
  use_tcp();
  use_pipe();
  use_udp();
  use_child();
  go_on();
  has_thread = !failed("uv_async_init", uv_async_init(&loop, &async, on_async)) &&
               !failed("uv_thread_create", uv_thread_create(&thread, send_it, &async));
  if (!has_thread) done(ASYNC);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  if (has_thread) CHECK(uv_thread_join(&thread) == 0);
}

/* By a call that nothing else here makes: it is not one of those that fail. */
static int descriptors(void) {
  struct pollfd fds[ROOM];
  struct stat status;
  int i, count = 0;
  for (i = 0; i < ROOM; i++) fds[i].fd = i, fds[i].events = 0;
  CHECK(poll(fds, ROOM, 0) >= 0);
  /* The standard library keeps a source of random bytes, where it has to open one. */
  for (i = 0; i < ROOM; i++)
    count += !(fds[i].revents & POLLNVAL) && !(fstat(i, &status) == 0 && status.st_rdev == makedev(1, 9));
  return count;
}

/* What scripts/faults must see. */
static void commit(const char* fault) {
  if (strcmp(fault, "leak") == 0) CHECK(dup(1) >= 0);
  if (strcmp(fault, "spin") == 0) for (;;) continue;
  if (strcmp(fault, "abort") == 0) abort();
  if (strcmp(fault, "hang") == 0) pause();
  if (strcmp(fault, "forget") == 0) under_way++;
}

int main(int argc, char** argv) {
  uv_metrics_t metrics;
  /* On a disk that is full, for example. */
  const char* files = getenv("EVERYTHING_FILES") != NULL ? getenv("EVERYTHING_FILES") : directory;
  int before;
  if (argc > 1 && strcmp(argv[1], "child") == 0) be_a_child();
  /* It is the program's, and this one wants the error. */
  signal(SIGPIPE, SIG_IGN);
  self = argv[0];
  before = descriptors();
  if (mkdtemp(directory) == NULL) return 2;
  uv_disable_stdio_inheritance();
  sprintf(path, "%.40s/file", files);
  sprintf(copy, "%.40s/copy", files);
  if (!failed("uv_loop_init", uv_loop_init(&loop))) {
    begin_all();
    CHECK(under_way == 0 || !"a request was forgotten");
    CHECK(uv_metrics_info(&loop, &metrics) == 0 && metrics.loop_count < MOST_TURNS);
    CHECK(uv_loop_close(&loop) == 0);
  }
  uv_library_shutdown();
  if (argc > 1) commit(argv[1]);
  if (file >= 0) close(file);
  if (sink >= 0) close(sink);
  CHECK(under_way == 0 && descriptors() == before);
  unlink(path), unlink(copy), rmdir(directory);
  if (reported > 0) return REPORTED;
  puts("ok");
  return 0;
}

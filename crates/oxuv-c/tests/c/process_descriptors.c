/* What descriptors a child has: those asked for, and no others.
 *
 * The program runs itself as the child, which says what it has.
 *
 * not under TSan: children get the pipes by which it asks for the names of functions */
#define _GNU_SOURCE
#include "counts.h"
#include "processes.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char* self;

/* Prints each descriptor: its number, the file's number, and B if it is blocking. */
static int say_what_there_is(void) {
  DIR* directory = opendir("/proc/self/fd");
  struct dirent* entry;
  CHECK(directory != NULL);
  while ((entry = readdir(directory)) != NULL) {
    int fd = atoi(entry->d_name);
    struct stat found;
    if (entry->d_name[0] == '.' || fd == dirfd(directory)) continue;
    CHECK(fstat(fd, &found) == 0);
    printf("%d:%llu%s ", fd, (unsigned long long) found.st_ino, fcntl(fd, F_GETFL) & O_NONBLOCK ? "" : "B");
  }
  closedir(directory);
  return 0;
}

static unsigned long long number_of(int fd) {
  struct stat found;
  CHECK(fstat(fd, &found) == 0);
  return (unsigned long long) found.st_ino;
}

/* What the child says of a descriptor: the file's number, 0 if it has none. */
static unsigned long long has(int fd) {
  char start[16], *found = output, *line;
  snprintf(start, sizeof(start), "%d:", fd);
  for (line = found; line != NULL; line = strchr(line, ' ')) {
    if (*line == ' ') line++;
    if (strncmp(line, start, strlen(start)) == 0) return strtoull(line + strlen(start), NULL, 10);
  }
  return 0;
}

static int count(void) {
  int found = 0;
  const char* at;
  for (at = output; (at = strchr(at, ':')) != NULL; at++) found++;
  return found;
}

static unsigned long long null_number(void) {
  struct stat found;
  CHECK(stat("/dev/null", &found) == 0);
  return (unsigned long long) found.st_ino;
}

static void a_child_has_three(void) {
  COMMAND(options, self, "child");
  printed_by(&options);
  CHECK(count() == 3 && has(0) == null_number() && has(1) != 0 && has(2) == number_of(2));
}

/* Before there is a loop: files as descriptors 3 to 14. */
static void open_files(void) {
  int i;
  for (i = 3; i < 15; i++) {
    char path[] = "/tmp/oxuv-fd-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    CHECK(fd >= 0 && unlink(path) == 0);
    if (fd != i) {
      CHECK(dup3(fd, i, O_CLOEXEC) == i);
      close(fd);
    }
  }
}

static void numbers_may_overlap(void) {
  /* Sources below, within and behind the targets; swapped, in a ring, and twice. */
  int i;
  uv_stdio_container_t stdio[12] = {{0}};
  unsigned long long numbers[12];
  COMMAND(options, self, "child");
  for (i = 0; i < 12; i++) numbers[i] = number_of(i + 3);
#define SLOT(slot, source)                                                                         \
  stdio[slot].flags = UV_INHERIT_FD;                                                               \
  stdio[slot].data.fd = (source)
  SLOT(3, 4);   /* swapped */
  SLOT(4, 3);
  SLOT(5, 6);   /* a ring */
  SLOT(6, 7);
  SLOT(7, 5);
  SLOT(8, 14);  /* from behind, twice */
  SLOT(9, 14);
  SLOT(10, 10); /* as it is */
  SLOT(11, 3);  /* once more */
  options.stdio = stdio;
  options.stdio_count = 12;
  printed_by(&options);
  CHECK(has(3) == numbers[4 - 3] && has(4) == numbers[3 - 3]);
  CHECK(has(5) == numbers[6 - 3] && has(6) == numbers[7 - 3] && has(7) == numbers[5 - 3]);
  CHECK(has(8) == numbers[14 - 3] && has(9) == numbers[14 - 3]);
  CHECK(has(10) == numbers[10 - 3] && has(11) == numbers[3 - 3]);
  CHECK(count() == 12);
  /* Ours are as they were. */
  for (i = 0; i < 12; i++) {
    CHECK(number_of(i + 3) == numbers[i] && fcntl(i + 3, F_GETFD) == FD_CLOEXEC);
    close(i + 3);
  }
}

static void many_slots(void) {
  static uv_stdio_container_t stdio[200];
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), i;
  COMMAND(options, self, "child");
  for (i = 0; i < 200; i++) {
    stdio[i].flags = i % 2 == 0 || i < 3 ? UV_INHERIT_FD : UV_IGNORE;
    stdio[i].data.fd = fd;
  }
  options.stdio = stdio;
  options.stdio_count = 200;
  printed_by(&options);
  CHECK(has(0) == number_of(fd) && has(198) == number_of(fd) && has(199) == 0);
  CHECK(count() == 3 + 98);
  close(fd);
}

static void standard_streams_are_blocking(void) {
  int fds[2];
  char text[32];
  uv_stdio_container_t stdio[4] = {{0}};
  COMMAND(options, self, "child");
  CHECK(uv_pipe(fds, UV_NONBLOCK_PIPE, UV_NONBLOCK_PIPE) == 0);
  SLOT(0, fds[0]);
  SLOT(3, fds[1]);
  options.stdio = stdio;
  options.stdio_count = 4;
  printed_by(&options);
  snprintf(text, sizeof(text), "0:%lluB", number_of(fds[0]));
  CHECK(strstr(output, text) != NULL);
  CHECK(strstr(output, "1:") != NULL && strchr(strstr(output, "1:"), 'B') != NULL);
  snprintf(text, sizeof(text), "3:%llu ", number_of(fds[1]));
  CHECK(strstr(output, text) != NULL);
  close(fds[0]);
  close(fds[1]);
}

static void streams_are_handed_on(void) {
  int port, i;
  uv_tcp_t* tcp = new_listener(&port);
  uv_udp_t udp;
  uv_pipe_t* pipe = reader();
  struct sockaddr_in address = local(0);
  uv_os_sock_t fds[2];
  uv_stdio_container_t stdio[6] = {{0}};
  COMMAND(options, self, "child");
  CHECK(uv_udp_init(&loop, &udp) == 0 && uv_udp_bind(&udp, (struct sockaddr*) &address, 0) == 0);
  CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, 0) == 0 && uv_pipe_open(pipe, fds[0]) == 0);
  for (i = 3; i < 6; i++) stdio[i].flags = UV_INHERIT_STREAM;
  stdio[3].data.stream = (uv_stream_t*) tcp;
  stdio[4].data.stream = (uv_stream_t*) &udp;
  stdio[5].data.stream = (uv_stream_t*) pipe;
  options.stdio = stdio;
  options.stdio_count = 6;
  uv_unref((uv_handle_t*) tcp);
  printed_by(&options);
  CHECK(has(3) == number_of(tcp->io_watcher.fd) && has(4) == number_of(udp.io_watcher.fd));
  CHECK(has(5) == number_of(pipe->io_watcher.fd) && count() == 6);
  close_tcp(tcp);
  uv_close((uv_handle_t*) pipe, free_handle);
  uv_close((uv_handle_t*) &udp, NULL);
  run_dry();
  close(fds[1]);
}

static void both_ways(void) {
  /* What goes in comes out, through one pipe; the child has nothing else. */
  static uv_process_t process;
  static uv_write_t write;
  static uv_shutdown_t shutdown;
  uv_buf_t text = uv_buf_init("there and back", 14);
  uv_pipe_t* pipe = reader();
  uv_stdio_container_t stdio[4] = {{0}};
  COMMAND(options, "sh", "-c", "cat <&3 >&3");
  stdio[3].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE | UV_NONBLOCK_PIPE);
  stdio[3].data.stream = (uv_stream_t*) pipe;
  options.stdio = stdio;
  options.stdio_count = 4;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(uv_is_readable((uv_stream_t*) pipe) && uv_is_writable((uv_stream_t*) pipe));
  exits = ends = 0;
  output_size = 0;
  CHECK(uv_write(&write, (uv_stream_t*) pipe, &text, 1, NULL) == 0);
  CHECK(uv_shutdown(&shutdown, (uv_stream_t*) pipe, NULL) == 0);
  CHECK(uv_read_start((uv_stream_t*) pipe, give_room, collect) == 0);
  run_dry();
  CHECK(output_size == 14 && memcmp(output, "there and back", 14) == 0 && exits == 1 && ends == 1);
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

static void one_way(void) {
  static uv_process_t process;
  static uv_write_t write;
  uv_buf_t text = uv_buf_init("x", 1);
  uv_pipe_t *in = reader(), *out = reader(), *none = reader();
  uv_stdio_container_t stdio[4] = {{0}};
  COMMAND(options, "cat");
  stdio[0].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[0].data.stream = (uv_stream_t*) in;
  stdio[1].flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[1].data.stream = (uv_stream_t*) out;
  stdio[3].flags = UV_CREATE_PIPE;
  stdio[3].data.stream = (uv_stream_t*) none;
  options.stdio = stdio;
  options.stdio_count = 4;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  CHECK(!uv_is_readable((uv_stream_t*) in) && uv_is_writable((uv_stream_t*) in));
  CHECK(uv_is_readable((uv_stream_t*) out) && !uv_is_writable((uv_stream_t*) out));
  CHECK(!uv_is_readable((uv_stream_t*) none) && !uv_is_writable((uv_stream_t*) none));
  CHECK(uv_read_start((uv_stream_t*) in, give_room, collect) == UV_ENOTCONN);
  CHECK(uv_write(&write, (uv_stream_t*) out, &text, 1, NULL) == UV_EPIPE);
  uv_close((uv_handle_t*) in, free_handle);
  uv_close((uv_handle_t*) out, free_handle);
  uv_close((uv_handle_t*) none, free_handle);
  run_dry();
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
}

static void on_stat(uv_fs_t* req) { uv_fs_req_cleanup(req); }

static int stop_threads;

/* Makes whatever has a descriptor, over and over. */
static void open_and_close(void* arg) {
  uv_loop_t own;
  (void) arg;
  while (!__atomic_load_n(&stop_threads, __ATOMIC_ACQUIRE)) {
    uv_os_sock_t fds[2];
    uv_file pipe[2];
    uv_tcp_t tcp;
    struct sockaddr_in address = local(0);
    CHECK(uv_loop_init(&own) == 0);
    CHECK(uv_socketpair(SOCK_STREAM, 0, fds, 0, 0) == 0);
    CHECK(uv_pipe(pipe, 0, 0) == 0);
    CHECK(uv_tcp_init(&own, &tcp) == 0 && uv_tcp_bind(&tcp, (struct sockaddr*) &address, 0) == 0);
    close(fds[0]);
    close(fds[1]);
    close(pipe[0]);
    close(pipe[1]);
    uv_close((uv_handle_t*) &tcp, NULL);
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0 && uv_loop_close(&own) == 0);
  }
}

/* Makes children with a pipe each; nobody else's child may keep that open. */
static void spawn_and_wait(void* arg) {
  (void) arg;
  while (!__atomic_load_n(&stop_threads, __ATOMIC_ACQUIRE)) {
    uv_loop_t own;
    uv_process_t process;
    uv_pipe_t pipe;
    uv_stdio_container_t input = {0};
    COMMAND(options, "cat");
    options.exit_cb = NULL;
    input.flags = (uv_stdio_flags) (UV_CREATE_PIPE | UV_READABLE_PIPE);
    input.data.stream = (uv_stream_t*) &pipe;
    options.stdio = &input;
    options.stdio_count = 1;
    CHECK(uv_loop_init(&own) == 0 && uv_pipe_init(&own, &pipe, 0) == 0);
    CHECK(uv_spawn(&own, &process, &options) == 0);
    uv_close((uv_handle_t*) &pipe, NULL);
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
    uv_close((uv_handle_t*) &process, NULL);
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0 && uv_loop_close(&own) == 0);
  }
}

static void whatever_else_is_open_stays_ours(void) {
  /* A pool, a second loop, sockets, asyncs; and threads that open descriptors all the time. */
  uv_thread_t threads[3];
  uv_fs_t stat;
  uv_async_t async;
  int port, i;
  uv_tcp_t* tcp = new_listener(&port);
  CHECK(uv_fs_stat(&loop, &stat, "/", on_stat) == 0);
  CHECK(uv_async_init(&loop, &async, NULL) == 0 && uv_async_send(&async) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0);
  uv_unref((uv_handle_t*) &async);
  uv_unref((uv_handle_t*) tcp);
  for (i = 0; i < 2; i++) CHECK(uv_thread_create(&threads[i], open_and_close, NULL) == 0);
  CHECK(uv_thread_create(&threads[2], spawn_and_wait, NULL) == 0);
  for (i = 0; i < 30; i++) {
    COMMAND(options, self, "child");
    printed_by(&options);
    CHECK(count() == 3);
  }
  __atomic_store_n(&stop_threads, 1, __ATOMIC_RELEASE);
  for (i = 0; i < 3; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  uv_close((uv_handle_t*) &async, NULL);
  close_tcp(tcp);
  run_dry();
}

static void failures_leave_no_descriptor(void) {
  static uv_process_t process;
  uv_stdio_container_t stdio[3] = {{0}};
  int before, i;
  COMMAND(options, "no such program");
  before = count_descriptors();
  for (i = 0; i < 10; i++) {
    uv_pipe_t *one = reader(), *other = reader();
    stdio[0].flags = stdio[1].flags = UV_CREATE_PIPE;
    stdio[0].data.stream = (uv_stream_t*) one;
    stdio[1].data.stream = (uv_stream_t*) other;
    stdio[2].flags = i % 2 == 0 ? UV_IGNORE : UV_INHERIT_FD;
    stdio[2].data.fd = 987;
    options.stdio = stdio;
    options.stdio_count = 3;
    CHECK(uv_spawn(&loop, &process, &options) == (i % 2 == 0 ? UV_ENOENT : UV_EBADF));
    /* The pipes are there all the same. */
    CHECK(one->io_watcher.fd >= 0 && other->io_watcher.fd >= 0);
    uv_close((uv_handle_t*) one, free_handle);
    uv_close((uv_handle_t*) other, free_handle);
    run_dry();
    CHECK(count_descriptors() == before);
  }
}

static void without_standard_streams(void) {
  /* The numbers 0 to 2 are free: what is made for the child must not stay open here. */
  int saved[3], i;
  COMMAND(options, self, "child");
  for (i = 0; i < 3; i++) saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
  close(0);
  close(1);
  printed_by(&options);
  CHECK(has_closed(0) && has_closed(1));
  for (i = 0; i < 3; i++) {
    CHECK(dup2(saved[i], i) == i);
    close(saved[i]);
  }
  CHECK(count() == 3 && has(0) == null_number());
}

static void inheritance_can_be_disabled(void) {
  int fd = open("/dev/zero", O_RDONLY), far = fcntl(fd, F_DUPFD, 500);
  COMMAND(options, self, "child");
  CHECK(fd >= 0 && far >= 500);
  printed_by(&options);
  CHECK(has(fd) == number_of(fd) && has(far) == number_of(far) && count() == 5);
  uv_disable_stdio_inheritance();
  CHECK(fcntl(0, F_GETFD) == FD_CLOEXEC && fcntl(far, F_GETFD) == FD_CLOEXEC);
  printed_by(&options);
  CHECK(count() == 3);
  close(fd);
  close(far);
}

static void living_children_leave_us_descriptors(void) {
  enum { CHILDREN = 100, OWN = 12 };
  static uv_process_t processes[CHILDREN];
  struct rlimit before, small;
  int own[OWN], i;
  COMMAND(options, "sleep", "1000");
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  small = before;
  small.rlim_cur = 64;
  CHECK(setrlimit(RLIMIT_NOFILE, &small) == 0);
  for (i = 0; i < CHILDREN; i++) CHECK(uv_spawn(&loop, &processes[i], &options) == 0);
  for (i = 0; i < OWN; i++) CHECK((own[i] = open("/dev/null", O_RDONLY)) >= 0);
  for (i = 0; i < OWN; i++) close(own[i]);
  exits = 0;
  for (i = 0; i < CHILDREN; i++) CHECK(uv_process_kill(&processes[i], SIGTERM) == 0);
  run_dry();
  CHECK(exits == CHILDREN && last_signal == SIGTERM);
  for (i = 0; i < CHILDREN; i++) uv_close((uv_handle_t*) &processes[i], NULL);
  run_dry();
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

int main(int argc, char** argv) {
  int fd;
  self = argv[0];
  if (argc > 1) return say_what_there_is();
  /* Whoever has started this program may have left some open. */
  for (fd = 3; fd < 1000; fd++) close(fd);
  CHECK(dup2(open("/dev/null", O_RDWR), 2) == 2);
  open_files();
  CHECK(uv_loop_init(&loop) == 0);
  numbers_may_overlap();
  a_child_has_three();
  many_slots();
  standard_streams_are_blocking();
  streams_are_handed_on();
  both_ways();
  one_way();
  whatever_else_is_open_stays_ours();
  failures_leave_no_descriptor();
  without_standard_streams();
  living_children_leave_us_descriptors();
  inheritance_can_be_disabled();
  CHECK(uv_loop_close(&loop) == 0);
  no_children();
  puts("ok");
  return 0;
}

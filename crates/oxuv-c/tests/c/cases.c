/* Bugs that were reported of libuv, and that no other program is about. */
#define _GNU_SOURCE
#include "pipes.h"

#include <netdb.h>

static int reads;

static void read_on(uv_stream_t* stream, ssize_t size, const uv_buf_t* buf) {
  (void) buf;
  CHECK(size == UV_EOF);
  if (++reads == 1) CHECK(uv_read_start(stream, alloc_static, read_on) == 0);
}

static void on_timeout(uv_timer_t* timer) { uv_close((uv_handle_t*) timer, NULL); }

/* libuv PR 2382: reading is started again in the callback that tells the end. As in libuv 1.53, the end is told once more for
 * that, and then the loop sleeps. */
static void the_end_is_told_once_for_each_start(void) {
  uv_metrics_t before, after;
  uv_timer_t timer;
  int other;
  uv_tcp_t* tcp = new_pair(&other);
  CHECK(close(other) == 0);
  CHECK(uv_read_start((uv_stream_t*) tcp, alloc_static, read_on) == 0);
  UNTIL(reads == 2);
  CHECK(!uv_is_active((uv_handle_t*) tcp));
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, on_timeout, 100, 0) == 0);
  CHECK(uv_metrics_info(&loop, &before) == 0);
  run_dry();
  CHECK(uv_metrics_info(&loop, &after) == 0);
  CHECK(reads == 2 && after.loop_count - before.loop_count <= 5);
  close_tcp(tcp);
  run_dry();
}

static unsigned int mode_of(const char* path) {
  struct stat file;
  CHECK(stat(path, &file) == 0);
  return file.st_mode & 0777;
}

/* libuv#2040: a link has taken the place of a pipe's file. */
static void permissions_follow_no_link(void) {
  char other[100], path[100];
  uv_pipe_t* pipe = new_pipe(0);
  int file;
  strcpy(other, own_path("other"));
  strcpy(path, own_path("link"));
  file = open(other, O_CREAT | O_WRONLY, 0600);
  CHECK(file >= 0 && close(file) == 0);
  CHECK(uv_pipe_bind(pipe, path) == 0);
  CHECK(uv_pipe_chmod(pipe, UV_READABLE | UV_WRITABLE) == 0 && mode_of(path) == 0666);
  CHECK(unlink(path) == 0 && symlink(other, path) == 0);
  CHECK(uv_pipe_chmod(pipe, UV_READABLE | UV_WRITABLE) == UV_ENOTSOCK);
  CHECK(mode_of(other) == 0600);
  close_pipe(pipe);
  run_dry();
  unlink(path);
  CHECK(unlink(other) == 0);
}

/* This is found in the place of the C library's: it waits until it may fail. */
static uv_sem_t has_begun, may_end;

int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints, struct addrinfo** found) {
  (void) service;
  (void) hints;
  (void) found;
  CHECK(strcmp(host, "slow.example") == 0);
  uv_sem_post(&has_begun);
  uv_sem_wait(&may_end);
  return EAI_NONAME;
}

static int looked_up;

static void on_look_up(uv_getaddrinfo_t* req, int status, struct addrinfo* found) {
  (void) req;
  CHECK(status == UV_EAI_NONAME && found == NULL);
  looked_up++;
}

/* libuv#2481: a look-up that is under way goes its way. */
static void a_look_up_under_way_is_not_cancelled(void) {
  uv_getaddrinfo_t req;
  CHECK(uv_sem_init(&has_begun, 0) == 0 && uv_sem_init(&may_end, 0) == 0);
  CHECK(uv_getaddrinfo(&loop, &req, on_look_up, "slow.example", NULL, NULL) == 0);
  uv_sem_wait(&has_begun);
  CHECK(uv_cancel((uv_req_t*) &req) == UV_EBUSY);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0 && looked_up == 0);
  uv_sem_post(&may_end);
  run_dry();
  CHECK(looked_up == 1);
  uv_sem_destroy(&has_begun);
  uv_sem_destroy(&may_end);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  the_end_is_told_once_for_each_start();
  permissions_follow_no_link();
  a_look_up_under_way_is_not_cancelled();
  CHECK(uv_loop_close(&loop) == 0);
  uv_library_shutdown();
  puts("ok");
  return 0;
}

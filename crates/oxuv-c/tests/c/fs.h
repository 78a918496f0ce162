/* What the tests of files share: each call is made at once, and by way of a loop. */
#ifndef FS_H
#define FS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static uv_loop_t loop;
static uv_fs_t req;
static int async, callbacks;

static inline void heard(uv_fs_t* request) {
  CHECK(request == &req && request->type == UV_FS && request->loop == &loop);
  callbacks++;
}

/* The request, with nothing in it that could be relied on. */
static inline uv_fs_t* fresh(void) {
  memset(&req, 0xdb, sizeof(req));
  callbacks = 0;
  return &req;
}

/* What comes of a call. One that is refused says so at once in either case. */
static inline ssize_t outcome(int returned) {
  CHECK(req.type == UV_FS && req.new_path != (void*)0xdbdbdbdbdbdbdbdb);
  if (async && returned == 0) {
    CHECK(callbacks == 0 && uv_loop_alive(&loop));
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
    CHECK(callbacks == 1);
    returned = (int)req.result;
  }
  CHECK(req.bufs == NULL);
  CHECK(returned == (int)req.result || ((returned == UV_EINVAL || returned == UV_ENOMEM) && req.result == 0));
  return returned == (int)req.result ? req.result : returned;
}

/* Calls the function; the request is left for looking at. */
#define CALL(function, ...)                                                                        \
  outcome(function(async ? &loop : NULL, fresh(), __VA_ARGS__, async ? heard : NULL))

static inline ssize_t cleaned(ssize_t result) {
  uv_fs_req_cleanup(&req);
  CHECK(req.path == NULL && req.new_path == NULL && req.ptr == NULL && req.bufs == NULL);
  return result;
}

/* The same, and lets go of what the request holds. */
#define DO(function, ...) cleaned(CALL(function, __VA_ARGS__))

/* Makes a file with these bytes. */
static inline void make(const char* path, const char* text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
}

/* Whether a file has these bytes. */
static inline int has(const char* path, const char* text) {
  char bytes[4096];
  int file = open(path, O_RDONLY);
  ssize_t size = file < 0 ? -1 : read(file, bytes, sizeof(bytes));
  if (file >= 0) close(file);
  return size == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)size) == 0;
}

static inline int is_there(const char* path) {
  struct stat about;
  return lstat(path, &about) == 0;
}

/* Runs the test at once and by way of a loop, each in a new directory, of which it leaves nothing. */
static inline int in_both_ways(void (*test)(void)) {
  for (async = 0; async < 2; async++) {
    char directory[] = "/tmp/oxuv-fs-XXXXXX";
    CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
    CHECK(uv_loop_init(&loop) == 0);
    test();
    CHECK(uv_loop_close(&loop) == 0);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
  }
  puts("ok");
  return 0;
}

#endif

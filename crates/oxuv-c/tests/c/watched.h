/* What the tests of watched files share: a directory to work in, and notes of what is told. */
#ifndef WATCHED_H
#define WATCHED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static uv_loop_t loop;
static char told[4096];

static inline void note(const char* line) {
  CHECK(strlen(told) + strlen(line) + 2 < sizeof(told));
  strcat(strcat(told, line), ";");
}

/* Whether this was told since the last time; the rest of the turn's events are there, too. */
#define TOLD(expected)                                                                             \
  do {                                                                                             \
    if (strcmp(told, expected) != 0) {                                                             \
      fprintf(stderr, "%s:%d: told: %s\n", __FILE__, __LINE__, told);                              \
      exit(1);                                                                                     \
    }                                                                                              \
    told[0] = 0;                                                                                   \
  } while (0)

static inline void turns(int count) {
  while (count-- > 0) uv_run(&loop, UV_RUN_NOWAIT);
}

static inline void append(const char* path) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  CHECK(file >= 0 && write(file, "x", 1) == 1 && close(file) == 0);
}

/* Makes a file without telling of more than that. */
static inline void make(const char* path) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  CHECK(file >= 0 && close(file) == 0);
}

/* Runs a test with a loop of its own in an empty directory. */
static inline void in_place(void (*test)(void)) {
  char directory[] = "/tmp/oxuv-watched-XXXXXX";
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  CHECK(uv_loop_init(&loop) == 0);
  told[0] = 0;
  test();
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

#endif

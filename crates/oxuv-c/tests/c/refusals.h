/* Each allocation that a play makes is refused in turn, alone and with all that follow. Each time the play begins in a process of
 * its own, as the first thing that this library does there; whatever comes of it, what was begun is told of, the loop closes,
 * and the same play, with memory again, goes well and leaves as much behind as ever.
 *
 * not under valgrind: it would take it hours.
 * not under TSan: it is about memory, and by hundreds of processes. */
#ifndef REFUSALS_H
#define REFUSALS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "counts.h"

#include <ftw.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NONE_REFUSED = 0, FAILED = 1, SOME_REFUSED = 2, SECONDS = 20, MOST = 2000 };

static long asked, blocks, refused, refused_from = -1;
static int all_that_follow;

static int refuse(void) {
  long nth = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
  if (refused_from < 0 || nth < refused_from || (nth > refused_from && !all_that_follow)) return 0;
  __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
  return 1;
}

static void count(long change) { __atomic_fetch_add(&blocks, change, __ATOMIC_RELAXED); }

static void* refusing_malloc(size_t size) {
  if (refuse()) return NULL;
  count(1);
  return malloc(size);
}

static void* refusing_calloc(size_t number, size_t size) {
  if (refuse()) return NULL;
  count(1);
  return calloc(number, size);
}

static void* refusing_realloc(void* memory, size_t size) {
  if (refuse()) return NULL;
  if (memory == NULL) count(1);
  return realloc(memory, size);
}

static void counting_free(void* memory) {
  if (memory != NULL) count(-1);
  free(memory);
}

static int was_refused(void) { return __atomic_load_n(&refused, __ATOMIC_RELAXED) > 0; }

static uv_loop_t loop;
static int has_loop, under_way;

static inline void close_one(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

/* The play is over, as all of it was seen, or as a part of it failed. */
static inline void end(void) {
  if (has_loop) uv_walk(&loop, close_one, NULL);
}

/* Nothing else fails than what there is no memory for. Then the play is over. */
static inline int is_well(ssize_t result) {
  if (result >= 0) return 1;
  if (!was_refused() || result != UV_ENOMEM) fprintf(stderr, "%s\n", uv_err_name((int) result));
  CHECK(was_refused() && result == UV_ENOMEM);
  end();
  return 0;
}

/* A request that begins will be told of. */
static inline int begins(int result) {
  if (is_well(result)) under_way++;
  return result >= 0;
}

/* What ended early since another part failed is no failure of its own. */
static inline int is_told(ssize_t result) {
  CHECK(under_way-- > 0);
  if (result == UV_ECANCELED && was_refused()) return 0;
  return is_well(result);
}

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* place) {
  (void) status, (void) kind, (void) place;
  return remove(path);
}

/* In an empty directory, which is gone afterwards. */
static void once(void (*play)(void)) {
  char directory[] = "/tmp/refusals-XXXXXX";
  has_loop = is_well(uv_loop_init(&loop));
  if (!has_loop) return;
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  play();
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(under_way == 0 || !"a request was forgotten");
  CHECK(uv_loop_close(&loop) == 0);
  has_loop = 0;
  CHECK(chdir("/") == 0 && nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

struct left { long blocks; int descriptors; };

/* In a process of its own. */
static void try(void (*play)(void), long from, int follow, int to_parent) {
  struct left left;
  alarm(SECONDS);
  CHECK(uv_replace_allocator(refusing_malloc, refusing_realloc, refusing_calloc, counting_free) == 0);
  all_that_follow = follow;
  refused_from = from;
  once(play);
  refused_from = -1;
  CHECK(from >= 0 || asked > 0);
  from = was_refused();
  refused = 0;
  once(play);
  uv_library_shutdown();
  left.blocks = blocks;
  left.descriptors = count_descriptors();
  CHECK(write(to_parent, &left, sizeof(left)) == sizeof(left));
  exit(from ? SOME_REFUSED : NONE_REFUSED);
}

static int try_in_a_child(const char* name, void (*play)(void), long from, int follow, struct left* left) {
  int fds[2], status;
  pid_t child;
  CHECK(pipe(fds) == 0);
  fflush(NULL);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) try(play, from, follow, fds[1]);
  CHECK(waitpid(child, &status, 0) == child);
  close(fds[1]);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == FAILED || read(fds[0], left, sizeof(*left)) != sizeof(*left)) {
    fprintf(stderr, "%s, allocation %ld%s: ends with status %#x\n", name, from, follow ? " and all that follow" : "", status);
    close(fds[0]);
    return FAILED;
  }
  close(fds[0]);
  return WEXITSTATUS(status);
}

static int failures;

static void each_refused(const char* name, void (*play)(void)) {
  struct left usual, left;
  int follow, result;
  CHECK(try_in_a_child(name, play, -1, 0, &usual) == NONE_REFUSED);
  for (follow = 0; follow < 2; follow++) {
    long nth = 0;
    do {
      result = try_in_a_child(name, play, nth, follow, &left);
      if (result == FAILED) {
        failures++;
      } else if (left.blocks > usual.blocks || left.descriptors != usual.descriptors) {
        fprintf(stderr, "%s, allocation %ld%s: leaves %ld blocks and %d descriptors, not %ld and %d\n", name, nth,
                follow ? " and all that follow" : "", left.blocks, left.descriptors, usual.blocks, usual.descriptors);
        failures++;
      }
      CHECK(++nth < MOST && failures < 10);
    } while (result != NONE_REFUSED);
    if (getenv("COUNTS") != NULL) fprintf(stderr, "%s: %ld refused%s\n", name, nth - 1, follow ? " with all that follow" : "");
  }
}

struct play { const char* name; void (*play)(void); };

/* All plays, or those that are named. */
static int refuse_in(const struct play* plays, int argc, char** argv) {
  for (; plays->name != NULL; plays++) {
    int i, is_wanted = argc < 2;
    for (i = 1; i < argc; i++) is_wanted |= strcmp(argv[i], plays->name) == 0;
    if (is_wanted) each_refused(plays->name, plays->play);
  }
  if (failures > 0) return FAILED;
  puts("ok");
  return 0;
}

#endif

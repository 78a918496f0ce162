/* Watching files while memory is short: an error, nothing left behind, and what can be told is told. */
#include "watched.h"
#include "failing.h"

static int told_of_made, errors;

static void hear(uv_fs_event_t* handle, const char* name, int events, int status) {
  (void)handle;
  CHECK(status == 0 || (status == UV_ENOMEM && events == 0));
  /* Without memory there is no name. */
  CHECK(failed || (status == 0 && name != NULL));
  if (status == 0 && name != NULL && strcmp(name, "root/made") == 0) told_of_made = 1;
  if (status != 0) errors++;
}

static void look(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  (void)before, (void)now;
  CHECK(status == UV_ENOENT || (failed && status == UV_ENOMEM));
  uv_close((uv_handle_t*)handle, NULL);
}

/* The first error. */
static int first(int result, int next) { return result == 0 ? next : result; }

static int tree(void) {
  uv_fs_event_t deep, flat;
  int result = uv_loop_init(&loop), has_flat;
  if (result != 0) return result;
  result = uv_fs_event_init(&loop, &deep);
  if (result == 0) {
    result = first(result, uv_fs_event_start(&deep, hear, ".", UV_FS_EVENT_RECURSIVE));
    CHECK((result == 0) == uv_is_active((uv_handle_t*)&deep));
    has_flat = result == 0 && uv_fs_event_init(&loop, &flat) == 0;
    if (has_flat) uv_fs_event_start(&flat, hear, "root", 0);
    CHECK(mkdir("root/new", 0700) == 0);
    make("root/new/file");
    make("root/made");
    told_of_made = 0;
    turns(5);
    CHECK(result != 0 || failed || told_of_made);
    CHECK(unlink("root/made") == 0 && unlink("root/new/file") == 0 && rmdir("root/new") == 0);
    turns(2);
    if (has_flat) uv_close((uv_handle_t*)&flat, NULL);
    uv_close((uv_handle_t*)&deep, NULL);
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  }
  CHECK(uv_loop_close(&loop) == 0);
  return result;
}

static int looks(void) {
  uv_fs_poll_t handle;
  int result = uv_loop_init(&loop);
  if (result != 0) return result;
  result = uv_fs_poll_init(&loop, &handle);
  if (result == 0) {
    result = uv_fs_poll_start(&handle, look, "none", 1);
    if (result != 0) uv_close((uv_handle_t*)&handle, NULL);
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  }
  CHECK(uv_loop_close(&loop) == 0);
  return result;
}

/* A thread lets go of what it has worked on a little later than the loop hears of it. */
static int settled(int most) {
  int patience = 5000;
  while (blocks > most && patience-- > 0) usleep(1000);
  return blocks;
}

static void check(int (*function)(void)) {
  int nth = 0, before, result;
  /* What is kept for good: the pool's threads. */
  left_until_failure = 1 << 30;
  CHECK(function() == 0);
  before = blocks;
  do {
    failed = 0;
    left_until_failure = nth++;
    result = function();
    left_until_failure = 1 << 30;
    CHECK(result == 0 || (failed && result == UV_ENOMEM));
    CHECK(settled(before) <= before);
  } while (failed);
  CHECK(nth > 5 && nth < 1000);
}

static void all(void) {
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(mkdir("root", 0700) == 0 && mkdir("root/a", 0700) == 0 && mkdir("root/a/b", 0700) == 0);
  check(tree);
  CHECK(errors > 0);
  check(looks);
  CHECK(rmdir("root/a/b") == 0 && rmdir("root/a") == 0 && rmdir("root") == 0);
  CHECK(uv_loop_init(&loop) == 0);
}

int main(void) {
  CHECK(uv_replace_allocator(short_malloc, short_realloc, short_calloc, counting_free) == 0);
  CHECK(setenv("UV_THREADPOOL_SIZE", "1", 1) == 0);
  in_place(all);
  puts("ok");
  return 0;
}

/* The program's own allocator: all memory comes from it, and when it has none, that is UV_ENOMEM. */
#include "check.h"

#include <dirent.h>
#include <signal.h>

static long live, calls, fail_from = -1;

static int refuse(void) { return fail_from >= 0 && calls++ >= fail_from; }

static void* our_malloc(size_t size) {
  void* memory;
  if (refuse()) return NULL;
  memory = malloc(size);
  if (memory != NULL) live++;
  return memory;
}

static void* our_calloc(size_t count, size_t size) {
  void* memory;
  if (refuse()) return NULL;
  memory = calloc(count, size);
  if (memory != NULL) live++;
  return memory;
}

static void* our_realloc(void* memory, size_t size) {
  void* wider;
  if (refuse()) return NULL;
  wider = realloc(memory, size);
  if (memory == NULL && wider != NULL) live++;
  return wider;
}

static void our_free(void* memory) {
  if (memory != NULL) live--;
  free(memory);
}

/* Calls until it succeeds, each time with one more allocation allowed. The last time none was refused. */
static int attempts(int (*call)(void)) {
  int count = 0;
  for (;;) {
    int result;
    fail_from = count;
    calls = 0;
    result = call();
    fail_from = -1;
    count++;
    if (result == 0) return count;
    CHECK(result == UV_ENOMEM);
    CHECK(count < 10000);
  }
}

static uv_loop_t loop;

#define HANDLES 100
static uv_timer_t timers[HANDLES];
static uv_async_t asyncs[HANDLES];
static int timer_count, async_count;

static int descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  CHECK(directory != NULL);
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

/* libuv#4755: refused, it leaves nothing behind. */
static int make_loop(void) {
  long live_before = live;
  int descriptors_before = descriptors();
  int result = uv_loop_init(&loop);
  if (result != 0) CHECK(live == live_before && descriptors() == descriptors_before);
  return result;
}

static int make_timer(void) {
  int result = uv_timer_init(&loop, &timers[timer_count]);
  if (result == 0) timer_count++;
  return result;
}

static void on_timer(uv_timer_t* timer) { CHECK(timer->type == UV_TIMER); }

static int start_timer(void) { return uv_timer_start(&timers[timer_count - 1], on_timer, 1000, 0); }

static int make_async(void) {
  int result = uv_async_init(&loop, &asyncs[async_count], NULL);
  if (result == 0) async_count++;
  return result;
}

enum { CHILDREN = 3 };

static uv_process_t children[CHILDREN];
static int child_count, ended;

static void on_exit_(uv_process_t* child, int64_t status, int signal) {
  CHECK(child->pid > 0 && status == 0 && signal == 0);
  ended++;
}

/* No child is made for which there is no memory. */
static int make_child(void) {
  char* args[] = {"true", NULL};
  uv_stdio_container_t stdio[5] = {{UV_IGNORE, {NULL}}};
  uv_process_options_t options = {0};
  int result;
  options.file = args[0];
  options.args = args;
  options.exit_cb = on_exit_;
  options.stdio = stdio;
  options.stdio_count = 5;
  result = uv_spawn(&loop, &children[child_count], &options);
  if (result == 0) child_count++;
  return result;
}

static void on_signal(uv_signal_t* handle, int signum) { CHECK(handle->signum == signum); }

/* What it takes to catch signals stays, for the next loop that does. Children need it where they have no descriptors. */
static long kept_for_signals(void) {
  uv_signal_t handle;
  CHECK(uv_loop_init(&loop) == 0 && uv_signal_init(&loop, &handle) == 0);
  CHECK(uv_signal_start(&handle, on_signal, SIGCHLD) == 0);
  uv_close((uv_handle_t*) &handle, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0);
  return live;
}

int main(void) {
  int i, refused = 0;
  long kept;
  CHECK(uv_replace_allocator(NULL, our_realloc, our_calloc, our_free) == UV_EINVAL);
  CHECK(uv_replace_allocator(our_malloc, NULL, our_calloc, our_free) == UV_EINVAL);
  CHECK(uv_replace_allocator(our_malloc, our_realloc, NULL, our_free) == UV_EINVAL);
  CHECK(uv_replace_allocator(our_malloc, our_realloc, our_calloc, NULL) == UV_EINVAL);
  CHECK(uv_replace_allocator(our_malloc, our_realloc, our_calloc, our_free) == 0);

  kept = kept_for_signals();
  CHECK(attempts(make_loop) > 1);
  CHECK(live > kept);
  for (i = 0; i < HANDLES; i++) {
    refused += attempts(make_timer) - 1;
    refused += attempts(start_timer) - 1;
    refused += attempts(make_async) - 1;
  }
  CHECK(refused > HANDLES);
  for (i = 0; i < CHILDREN; i++) CHECK(attempts(make_child) > 1);
  CHECK(child_count == CHILDREN);
  CHECK(timer_count == HANDLES && async_count == HANDLES);

  while (ended < CHILDREN) CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
  for (i = 0; i < CHILDREN; i++) uv_close((uv_handle_t*) &children[i], NULL);
  for (i = 0; i < HANDLES; i++) {
    uv_close((uv_handle_t*) &timers[i], NULL);
    uv_close((uv_handle_t*) &asyncs[i], NULL);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(live == kept);
  puts("ok");
  return 0;
}

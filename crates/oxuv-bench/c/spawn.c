/* A child after the other, each of which ends at once, of a parent that has so many megabytes of memory in use. */
#include "workloads.h"

#include <string.h>

static uv_loop_t loop;
static uv_process_t process;
static uv_process_options_t options;
static long left;

static void start(void);

static void on_close(uv_handle_t *handle) {
  (void) handle;
  if (--left > 0)
    start();
}

static void on_exit_(uv_process_t *child, int64_t status, int signal) {
  CHECK(status == 0 && signal == 0 ? 0 : -1);
  uv_close((uv_handle_t *) child, on_close);
}

static void start(void) {
  CHECK(uv_spawn(&loop, &process, &options));
}

static void run(void) {
  start();
  uv_run(&loop, UV_RUN_DEFAULT);
}

void spawn(long handles, long operations) {
  static char *args[] = {"/bin/true", NULL};
  size_t size = (size_t) handles << 20;
  char *memory = malloc(size);

  CHECK(memory == NULL ? -1 : 0);
  memset(memory, 1, size);
  CHECK(uv_loop_init(&loop));
  options.file = args[0];
  options.args = args;
  options.exit_cb = on_exit_;
  left = operations;
  timed_section(run);
  free(memory);
}

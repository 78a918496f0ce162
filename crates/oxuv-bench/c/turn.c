/* Turns of the loop: with one idle, one prepare and one check handle, and with many idle handles. */

#include "workloads.h"

static uv_loop_t loop;
static long left;

static void run(void) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void on_idle(uv_idle_t *idle) {
  (void) idle;
}

static void on_prepare(uv_prepare_t *prepare) {
  (void) prepare;
}

static void on_check(uv_check_t *check) {
  if (--left == 0)
    uv_stop(check->loop);
}

void turn(long handles, long operations) {
  uv_idle_t idle;
  uv_prepare_t prepare;
  uv_check_t check;

  (void) handles;
  left = operations;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_idle_init(&loop, &idle));
  CHECK(uv_prepare_init(&loop, &prepare));
  CHECK(uv_check_init(&loop, &check));
  CHECK(uv_idle_start(&idle, on_idle));
  CHECK(uv_prepare_start(&prepare, on_prepare));
  CHECK(uv_check_start(&check, on_check));
  timed_section(run);
}

static void on_one_of_many(uv_idle_t *idle) {
  if (--left == 0)
    uv_stop(idle->loop);
}

void idle(long handles, long operations) {
  uv_idle_t *all = calloc(handles, sizeof *all);
  long i;

  CHECK(all == NULL ? -1 : 0);
  left = operations;
  CHECK(uv_loop_init(&loop));
  for (i = 0; i < handles; i++) {
    CHECK(uv_idle_init(&loop, &all[i]));
    CHECK(uv_idle_start(&all[i], on_one_of_many));
  }
  timed_section(run);
}

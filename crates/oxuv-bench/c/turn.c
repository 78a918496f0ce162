/* Turns of the loop: with one idle, one prepare and one check handle, and with a thousand idle handles. */

#include "workloads.h"

#define HANDLES 1000

static long left;

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

void turn(long operations) {
  uv_loop_t loop;
  uv_idle_t idle;
  uv_prepare_t prepare;
  uv_check_t check;

  left = operations;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_idle_init(&loop, &idle));
  CHECK(uv_prepare_init(&loop, &prepare));
  CHECK(uv_check_init(&loop, &check));
  CHECK(uv_idle_start(&idle, on_idle));
  CHECK(uv_prepare_start(&prepare, on_prepare));
  CHECK(uv_check_start(&check, on_check));
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void on_one_of_many(uv_idle_t *idle) {
  if (--left == 0)
    uv_stop(idle->loop);
}

void idle(long operations) {
  static uv_idle_t handles[HANDLES];
  uv_loop_t loop;
  int i;

  left = operations;
  CHECK(uv_loop_init(&loop));
  for (i = 0; i < HANDLES; i++) {
    CHECK(uv_idle_init(&loop, &handles[i]));
    CHECK(uv_idle_start(&handles[i], on_one_of_many));
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

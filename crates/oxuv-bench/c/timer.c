/* Timers: a thousand started and fired at a time; and one started and stopped beside a thousand others. */

#include "workloads.h"

#define TIMERS 1000
#define LONGEST_MS 16

static void on_timer(uv_timer_t *timer) {
  (void) timer;
}

void timer_fire(long operations) {
  static uv_timer_t timers[TIMERS];
  struct timespec until_all_are_due = {0, (LONGEST_MS + 1) * 1000000L};
  uv_loop_t loop;
  int i;

  CHECK(uv_loop_init(&loop));
  for (i = 0; i < TIMERS; i++)
    CHECK(uv_timer_init(&loop, &timers[i]));
  for (; operations > 0; operations -= TIMERS) {
    for (i = 0; i < TIMERS; i++)
      CHECK(uv_timer_start(&timers[i], on_timer, 1 + next_random() % LONGEST_MS, 0));
    nanosleep(&until_all_are_due, NULL);
    CHECK(uv_run(&loop, UV_RUN_DEFAULT));
  }
}

void timer_stop(long operations) {
  static uv_timer_t timers[TIMERS];
  uv_timer_t timer;
  uv_loop_t loop;
  int i;

  CHECK(uv_loop_init(&loop));
  for (i = 0; i < TIMERS; i++) {
    CHECK(uv_timer_init(&loop, &timers[i]));
    CHECK(uv_timer_start(&timers[i], on_timer, 1 + next_random() % 60000, 0));
  }
  CHECK(uv_timer_init(&loop, &timer));
  for (; operations > 0; operations--) {
    CHECK(uv_timer_start(&timer, on_timer, 1 + next_random() % 60000, 0));
    CHECK(uv_timer_stop(&timer));
  }
}

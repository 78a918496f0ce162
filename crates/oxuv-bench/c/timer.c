/* Many timers: all started, all fired, all stopped, all put off, over and over. What is not the subject is not timed. */

#include "workloads.h"

#define LONGEST_MS 60000

static uv_loop_t loop;
static uv_timer_t *timers;
static long count;
static unsigned long long longest;

static void on_timer(uv_timer_t *timer) {
  (void) timer;
}

static void init(long handles) {
  long i;

  count = handles;
  timers = calloc(handles, sizeof *timers);
  CHECK(timers == NULL ? -1 : 0);
  CHECK(uv_loop_init(&loop));
  for (i = 0; i < count; i++)
    CHECK(uv_timer_init(&loop, &timers[i]));
}

static void start_all(void) {
  long i;

  for (i = 0; i < count; i++)
    CHECK(uv_timer_start(&timers[i], on_timer, 1 + next_random() % longest, 0));
}

/* In another order than that of the start: 7919 is a prime, and no divisor of the counts used. */
static uv_timer_t *in_another_order(long i) {
  return &timers[i * 7919 % count];
}

static void stop_all(void) {
  long i;

  for (i = 0; i < count; i++)
    CHECK(uv_timer_stop(in_another_order(i)));
}

static void put_all_off(void) {
  long i;

  for (i = 0; i < count; i++)
    CHECK(uv_timer_start(in_another_order(i), on_timer, LONGEST_MS + 1, 0));
}

static void run(void) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

void timer_insert(long handles, long operations) {
  init(handles);
  longest = LONGEST_MS;
  for (; operations > 0; operations -= count) {
    timed_section(start_all);
    stop_all();
  }
}

void timer_cancel(long handles, long operations) {
  init(handles);
  longest = LONGEST_MS;
  for (; operations > 0; operations -= count) {
    start_all();
    timed_section(stop_all);
  }
}

void timer_rearm(long handles, long operations) {
  init(handles);
  longest = LONGEST_MS;
  start_all();
  for (; operations > 0; operations -= count) {
    uv_update_time(&loop);
    timed_section(put_all_off);
  }
}

void timer_fire(long handles, long operations) {
  struct timespec a_while = {0, 100000000L};

  init(handles);
  longest = 100;
  for (; operations > 0; operations -= count) {
    uv_update_time(&loop);
    start_all();
    /* Longer than any of them. */
    nanosleep(&a_while, NULL);
    timed_section(run);
  }
}

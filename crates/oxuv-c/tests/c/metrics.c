/* What a loop counts of itself, and how long it waits. */
#define _GNU_SOURCE
#include "check.h"

#include <time.h>

static uv_loop_t loop;
static uv_metrics_t metrics;
static uv_prepare_t prepare;
static uv_async_t async;
static int prepared;
static int sent;

static uint64_t nanoseconds(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void sleep_for(long milliseconds) {
  struct timespec some = {0, milliseconds * 1000000};
  CHECK(nanosleep(&some, NULL) == 0);
}

static void look(uint64_t turns, uint64_t events, uint64_t waiting) {
  memset(&metrics, 0xdb, sizeof(metrics));
  CHECK(uv_metrics_info(&loop, &metrics) == 0);
  if (metrics.loop_count != turns || metrics.events != events || metrics.events_waiting != waiting) {
    fprintf(stderr, "%d turns, %d events, %d waiting\n", (int) metrics.loop_count, (int) metrics.events,
            (int) metrics.events_waiting);
    exit(1);
  }
  CHECK(metrics.reserved[0] == 0 && metrics.reserved[12] == 0);
}

static void begin(void) {
  memset(&loop, 0xdb, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
  prepared = sent = 0;
}

static void close_it(uv_handle_t* handle, void* arg) {
  (void) arg;
  uv_close(handle, NULL);
}

static void end(void) {
  uv_walk(&loop, close_it, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
}

static void count_turns(uv_prepare_t* handle) {
  look(prepared, 0, 0); /* the turn is counted when it polls */
  if (++prepared == 3) CHECK(uv_prepare_stop(handle) == 0);
}

static void turns_are_counted(void) {
  begin();
  look(0, 0, 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 0);
  look(0, 0, 0); /* nothing was alive */
  CHECK(uv_prepare_init(&loop, &prepare) == 0 && uv_prepare_start(&prepare, count_turns) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  look(1, 0, 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  look(2, 0, 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 0);
  look(3, 0, 0);
  CHECK(uv_metrics_idle_time(&loop) == 0);
  end();
}

static void look_in_the_batch(uv_async_t* handle) {
  (void) handle;
  sent++;
  look(prepared, sent - 1, 0); /* it is counted when its batch is worked off */
}

static void events_are_counted(void) {
  begin();
  CHECK(uv_async_init(&loop, &async, look_in_the_batch) == 0);
  for (prepared = 1; prepared <= 3; prepared++) {
    CHECK(uv_async_send(&async) == 0);
    CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
    look(prepared, prepared, 0);
  }
  CHECK(sent == 3);
  end();
}

static void noop_async(uv_async_t* handle) { (void) handle; }

static void send_later(void* arg) {
  sleep_for(50);
  CHECK(uv_async_send(arg) == 0);
}

static void events_that_waited(void) {
  uv_thread_t sender;
  begin();
  CHECK(uv_loop_configure(&loop, UV_METRICS_IDLE_TIME) == 0);
  CHECK(uv_async_init(&loop, &async, noop_async) == 0);
  CHECK(uv_async_send(&async) == 0);
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  look(1, 1, 1); /* it was there before the loop waited */
  CHECK(uv_thread_create(&sender, send_later, &async) == 0);
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  look(2, 2, 1); /* this one was waited for */
  CHECK(uv_thread_join(&sender) == 0);
  end();
}

/* The idle time */

static uint64_t worked;

static void work(uv_timer_t* timer) {
  uint64_t begin = nanoseconds();
  (void) timer;
  sleep_for(60);
  worked = nanoseconds() - begin;
}

static void waiting_is_idle_and_working_is_not(void) {
  uv_timer_t timer;
  uint64_t from, all, idle;
  begin();
  CHECK(uv_loop_configure(&loop, UV_METRICS_IDLE_TIME) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  from = nanoseconds();
  uv_update_time(&loop);
  CHECK(uv_timer_start(&timer, work, 50, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  all = nanoseconds() - from;
  idle = uv_metrics_idle_time(&loop);
  CHECK(idle >= 5000000 && idle <= all - worked); /* a loaded machine comes late to the wait */
  CHECK(uv_metrics_idle_time(&loop) == idle);
  end();
}

/* From another thread, while the loop waits for that thread. */
static void watch(void* arg) {
  uint64_t last = uv_metrics_idle_time(&loop);
  int i;
  (void) arg;
  for (i = 0; i < 4; i++) {
    uint64_t now;
    sleep_for(20);
    now = uv_metrics_idle_time(&loop);
    CHECK(now >= last); /* never less */
    if (i > 1) CHECK(now >= last + 15000000); /* and it grows while the loop waits */
    last = now;
  }
  CHECK(uv_async_send(&async) == 0);
}

static void the_idle_time_is_seen_by_other_threads(void) {
  uv_thread_t watcher;
  uint64_t from;
  begin();
  CHECK(uv_loop_configure(&loop, UV_METRICS_IDLE_TIME) == 0);
  CHECK(uv_async_init(&loop, &async, noop_async) == 0);
  CHECK(uv_thread_create(&watcher, watch, NULL) == 0);
  from = nanoseconds();
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  CHECK(uv_metrics_idle_time(&loop) <= nanoseconds() - from);
  CHECK(uv_thread_join(&watcher) == 0);
  end();
}

int main(void) {
  turns_are_counted();
  events_are_counted();
  events_that_waited();
  waiting_is_idle_and_working_is_not();
  the_idle_time_is_seen_by_other_threads();
  puts("ok");
  return 0;
}

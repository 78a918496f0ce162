/* Threads that end in a callback, by pthread_exit and by pthread_cancel: their clean-up runs, and another thread runs
 * the loop on. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static uv_loop_t loop;
static uv_timer_t timers[2];
static int cleanups, closed;

static void clean_up(void* argument) {
  CHECK(argument == &loop);
  cleanups++;
}

static void exit_thread(uv_timer_t* timer) {
  pthread_exit(timer);
}

static void cancel_thread(uv_timer_t* timer) {
  (void) timer;
  CHECK(pthread_cancel(pthread_self()) == 0);
  for (;;) pause();
}

static void on_close(uv_handle_t* handle) {
  (void) handle;
  closed++;
}

static void* run(void* argument) {
  pthread_cleanup_push(clean_up, argument);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(!"left");
  pthread_cleanup_pop(0);
  return NULL;
}

static void* result_of_thread(void) {
  pthread_t thread;
  void* result;
  CHECK(pthread_create(&thread, NULL, run, &loop) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  return result;
}

int main(void) {
  int i;
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < 2; i++) CHECK(uv_timer_init(&loop, &timers[i]) == 0);
  CHECK(uv_timer_start(&timers[0], exit_thread, 0, 0) == 0);
  CHECK(uv_timer_start(&timers[1], cancel_thread, 0, 0) == 0);
  CHECK(result_of_thread() == &timers[0] && cleanups == 1);
  CHECK(result_of_thread() == PTHREAD_CANCELED && cleanups == 2);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  for (i = 0; i < 2; i++) uv_close((uv_handle_t*) &timers[i], on_close);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && closed == 2);
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

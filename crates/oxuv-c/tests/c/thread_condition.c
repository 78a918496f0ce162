/* Conditions. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <time.h>

#define THREADS 5
#define MILLISECOND ((uint64_t) 1000000)

static uv_mutex_t mutex;
static uv_cond_t changed; /* what the waiters wait for */
static uv_cond_t counted; /* how many of them there are */
static int waiting, tickets, woken;

static uint64_t now(void) {
  struct timespec time;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return (uint64_t) time.tv_sec * 1000 * MILLISECOND + (uint64_t) time.tv_nsec;
}

static void a_wait_ends_in_time_and_not_before(void) {
  const uint64_t waits[] = {0, 1, MILLISECOND / 2, 20 * MILLISECOND, 1000 * MILLISECOND};
  uint64_t begin;
  size_t i;
  uv_mutex_lock(&mutex);
  for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
    begin = now();
    while (uv_cond_timedwait(&changed, &mutex, waits[i]) == 0) begin = now(); /* woken by nobody */
    CHECK(now() - begin >= waits[i]);
    CHECK(now() - begin < waits[i] + 20000 * MILLISECOND);
  }
  CHECK(uv_cond_timedwait(&changed, &mutex, 0) == UV_ETIMEDOUT);
  CHECK(pthread_mutex_trylock(&mutex) == EBUSY); /* it is ours again */
  uv_mutex_unlock(&mutex);
}

/* Waits for a ticket: for ever if the time is 0. */
static void wait_for_ticket(void* arg) {
  uint64_t time = *(uint64_t*) arg;
  uv_mutex_lock(&mutex);
  waiting++;
  uv_cond_signal(&counted);
  while (tickets == 0) {
    if (time == 0)
      uv_cond_wait(&changed, &mutex);
    else
      CHECK(uv_cond_timedwait(&changed, &mutex, time) == 0);
  }
  tickets--;
  woken++;
  uv_cond_signal(&counted);
  uv_mutex_unlock(&mutex);
}

static void a_waiter_is_signalled(uint64_t time) {
  const struct timespec moment = {0, 20000000};
  uv_thread_t thread;
  waiting = woken = 0;
  CHECK(uv_thread_create(&thread, wait_for_ticket, &time) == 0);
  uv_mutex_lock(&mutex);
  while (waiting == 0) uv_cond_wait(&counted, &mutex);
  uv_mutex_unlock(&mutex);
  nanosleep(&moment, NULL); /* if it does not wait, it has the time to say so */
  uv_mutex_lock(&mutex);
  CHECK(woken == 0);
  tickets = 1;
  uv_cond_signal(&changed);
  uv_mutex_unlock(&mutex);
  CHECK(uv_thread_join(&thread) == 0);
  CHECK(woken == 1 && tickets == 0);
}

static void a_broadcast_wakes_all_and_a_signal_one(void) {
  uv_thread_t threads[THREADS];
  uint64_t time = 0;
  int i;
  waiting = woken = 0;
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_create(&threads[i], wait_for_ticket, &time) == 0);
  uv_mutex_lock(&mutex);
  while (waiting < THREADS) uv_cond_wait(&counted, &mutex);
  tickets = 1;
  uv_cond_signal(&changed);
  while (woken < 1) uv_cond_wait(&counted, &mutex);
  tickets = THREADS - 1;
  uv_cond_broadcast(&changed);
  uv_mutex_unlock(&mutex);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  CHECK(woken == THREADS && tickets == 0);
}

static void unlock(void* arg) {
  woken++;
  uv_mutex_unlock(arg);
}

static void wait_in_vain(void* arg) {
  uv_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  waiting++;
  uv_cond_signal(&counted);
  for (;;) {
    if (arg == NULL)
      uv_cond_wait(&changed, &mutex);
    else
      CHECK(uv_cond_timedwait(&changed, &mutex, *(uint64_t*) arg) == 0);
  }
  pthread_cleanup_pop(0);
}

static void a_thread_that_waits_can_be_cancelled(uint64_t* time) {
  uv_thread_t thread;
  waiting = woken = 0;
  CHECK(uv_thread_create(&thread, wait_in_vain, time) == 0);
  uv_mutex_lock(&mutex);
  while (waiting == 0) uv_cond_wait(&counted, &mutex);
  uv_mutex_unlock(&mutex);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(uv_thread_join(&thread) == 0);
  CHECK(woken == 1);
}

int main(void) {
  uint64_t hour = 3600 * 1000 * MILLISECOND;
  memset(&changed, 0xff, sizeof(changed));
  CHECK(uv_mutex_init(&mutex) == 0);
  CHECK(uv_cond_init(&changed) == 0 && uv_cond_init(&counted) == 0);
  uv_cond_signal(&changed); /* nobody is there to hear it, now or later */
  uv_cond_broadcast(&changed);
  a_wait_ends_in_time_and_not_before();
  a_waiter_is_signalled(0);
  a_waiter_is_signalled(hour);
  a_waiter_is_signalled(UINT64_MAX); /* beyond the end of time */
  a_broadcast_wakes_all_and_a_signal_one();
  a_thread_that_waits_can_be_cancelled(NULL);
  a_thread_that_waits_can_be_cancelled(&hour);
  uv_cond_destroy(&changed);
  uv_cond_destroy(&counted);
  uv_mutex_destroy(&mutex);
  puts("ok");
  return 0;
}

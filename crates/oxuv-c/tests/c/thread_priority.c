/* Priorities: niceness under the usual policy, the policy's own numbers under a real-time one. */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>

static uv_sem_t started;
static uv_sem_t may_end;

static void stay(void* arg) {
  (void) arg;
  uv_sem_post(&started);
  uv_sem_wait(&may_end);
}

static int priority_of(uv_thread_t thread) {
  int priority = 1000;
  CHECK(uv_thread_getpriority(thread, &priority) == 0);
  return priority;
}

/* Less is for everybody; more needs a privilege. */
static void set(int priority, int nice) {
  int before = priority_of(uv_thread_self());
  int r = uv_thread_setpriority(uv_thread_self(), priority);
  if (nice < before && (r == UV_EACCES || r == UV_EPERM)) nice = before;
  else CHECK(r == 0);
  CHECK(priority_of(uv_thread_self()) == nice);
}

/* In a thread of its own, for there may be no way back. */
static void niceness_is_set(void* arg) {
  (void) arg;
  set(UV_THREAD_PRIORITY_NORMAL, 0);
  set(UV_THREAD_PRIORITY_BELOW_NORMAL, 2);
  set(UV_THREAD_PRIORITY_LOWEST, 4);
  set(UV_THREAD_PRIORITY_ABOVE_NORMAL, -2);
  set(UV_THREAD_PRIORITY_HIGHEST, -4);
}

static void numbers_out_of_range_are_refused(uv_thread_t thread) {
  int before = priority_of(thread);
  CHECK(uv_thread_getpriority(thread, NULL) == UV_EINVAL);
  CHECK(uv_thread_setpriority(thread, UV_THREAD_PRIORITY_HIGHEST + 1) == UV_EINVAL);
  CHECK(uv_thread_setpriority(thread, UV_THREAD_PRIORITY_LOWEST - 1) == UV_EINVAL);
  CHECK(uv_thread_setpriority(thread, INT_MAX) == UV_EINVAL);
  CHECK(uv_thread_setpriority(thread, INT_MIN) == UV_EINVAL);
  CHECK(priority_of(thread) == before);
}

/* The usual policy has no priorities, and only a thread itself can set its niceness. */
static void others_have_none(uv_thread_t other) {
  int i;
  CHECK(priority_of(other) == 0);
  for (i = UV_THREAD_PRIORITY_LOWEST; i <= UV_THREAD_PRIORITY_HIGHEST; i++) {
    CHECK(uv_thread_setpriority(other, i) == 0);
    CHECK(priority_of(other) == 0);
  }
}

static void a_real_time_policy_has_numbers(uv_thread_t other) {
  struct sched_param param;
  int policy, i;
  int lowest = sched_get_priority_min(SCHED_RR);
  int range = sched_get_priority_max(SCHED_RR) - lowest;
  param.sched_priority = lowest;
  if (pthread_setschedparam(other, SCHED_RR, &param) != 0) return; /* needs a privilege */
  CHECK(priority_of(other) == lowest);
  for (i = UV_THREAD_PRIORITY_LOWEST; i <= UV_THREAD_PRIORITY_HIGHEST; i++) {
    CHECK(uv_thread_setpriority(other, i) == 0);
    CHECK(priority_of(other) == lowest + range * (i + 2) / 4);
    CHECK(pthread_getschedparam(other, &policy, &param) == 0);
    CHECK(policy == SCHED_RR && param.sched_priority == priority_of(other));
  }
  numbers_out_of_range_are_refused(other);
}

int main(void) {
  uv_thread_t nice, other;
  int before = priority_of(uv_thread_self());
  CHECK(uv_sem_init(&started, 0) == 0);
  CHECK(uv_sem_init(&may_end, 0) == 0);
  numbers_out_of_range_are_refused(uv_thread_self());
  CHECK(uv_thread_create(&nice, niceness_is_set, NULL) == 0);
  CHECK(uv_thread_join(&nice) == 0);
  CHECK(priority_of(uv_thread_self()) == before); /* that was another thread's */
  CHECK(uv_thread_create(&other, stay, NULL) == 0);
  uv_sem_wait(&started);
  numbers_out_of_range_are_refused(other);
  others_have_none(other);
  a_real_time_policy_has_numbers(other);
  uv_sem_post(&may_end);
  CHECK(uv_thread_join(&other) == 0);
  puts("ok");
  return 0;
}

/* Which processors a thread may run on. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

#define SIZE 1024

static int count(const char* mask) {
  int i, found = 0;
  for (i = 0; i < SIZE; i++) {
    CHECK(mask[i] == 0 || mask[i] == 1);
    found += mask[i];
  }
  return found;
}

static uv_sem_t started;
static uv_sem_t may_end;

static void stay(void* arg) {
  (void) arg;
  uv_sem_post(&started);
  uv_sem_wait(&may_end);
}

static void masks_are_as_the_system_says(uv_thread_t* thread) {
  char mask[SIZE + 1];
  cpu_set_t set;
  int i;
  memset(mask, 7, sizeof(mask));
  CHECK(uv_thread_getaffinity(thread, mask, sizeof(mask)) == 0);
  CHECK(mask[SIZE] == 7); /* nothing is written behind */
  CHECK(pthread_getaffinity_np(*thread, sizeof(set), &set) == 0);
  CHECK(count(mask) == CPU_COUNT(&set));
  for (i = 0; i < SIZE; i++) CHECK(!mask[i] == !CPU_ISSET(i, &set));
}

static void affinity_is_set_and_restored(uv_thread_t* thread) {
  char before[SIZE], one[SIZE], old[SIZE], now[SIZE];
  int last;
  CHECK(uv_thread_getaffinity(thread, before, SIZE) == 0);
  for (last = SIZE - 1; !before[last]; last--) {}
  memset(one, 0, SIZE);
  one[last] = -3; /* not 0 */
  memset(old, 7, SIZE);
  CHECK(uv_thread_setaffinity(thread, one, old, SIZE) == 0);
  CHECK(memcmp(old, before, SIZE) == 0);
  CHECK(uv_thread_getaffinity(thread, now, SIZE) == 0);
  CHECK(count(now) == 1 && now[last] == 1);
  masks_are_as_the_system_says(thread);
  if (pthread_equal(*thread, pthread_self())) CHECK(uv_thread_getcpu() == last);

  memcpy(now, before, SIZE); /* the same memory for both */
  CHECK(uv_thread_setaffinity(thread, now, now, SIZE) == 0);
  CHECK(count(now) == 1 && now[last] == 1);
  CHECK(uv_thread_getaffinity(thread, now, SIZE) == 0);
  CHECK(memcmp(now, before, SIZE) == 0);
  CHECK(uv_thread_setaffinity(thread, before, NULL, SIZE) == 0);
}

static void bad_masks_are_refused(uv_thread_t* thread) {
  char mask[SIZE], old[SIZE], before[SIZE];
  CHECK(uv_thread_getaffinity(thread, before, SIZE) == 0);
  memset(mask, 0, SIZE);
  memset(old, 7, SIZE);
  CHECK(uv_thread_setaffinity(thread, mask, old, SIZE - 1) == UV_EINVAL);
  CHECK(uv_thread_getaffinity(thread, old, SIZE - 1) == UV_EINVAL);
  CHECK(uv_thread_getaffinity(thread, old, 0) == UV_EINVAL);
  CHECK(old[0] == 7 && old[SIZE - 1] == 7);
  CHECK(uv_thread_setaffinity(thread, mask, old, SIZE) == UV_EINVAL); /* no processor */
  CHECK(memcmp(old, before, SIZE) == 0);
  CHECK(uv_thread_setaffinity(thread, NULL, NULL, SIZE) == UV_EINVAL);
  CHECK(uv_thread_getaffinity(thread, NULL, SIZE) == UV_EINVAL);
  CHECK(uv_thread_getaffinity(thread, mask, SIZE) == 0);
  CHECK(memcmp(mask, before, SIZE) == 0);
}

int main(void) {
  uv_thread_t self = uv_thread_self();
  uv_thread_t other;
  CHECK(uv_cpumask_size() == SIZE && SIZE == CPU_SETSIZE);
  CHECK(uv_thread_getcpu() >= 0 && uv_thread_getcpu() < SIZE);
  CHECK(uv_sem_init(&started, 0) == 0);
  CHECK(uv_sem_init(&may_end, 0) == 0);
  CHECK(uv_thread_create(&other, stay, NULL) == 0);
  uv_sem_wait(&started);
  masks_are_as_the_system_says(&self);
  affinity_is_set_and_restored(&self);
  bad_masks_are_refused(&self);
  affinity_is_set_and_restored(&other);
  uv_sem_post(&may_end);
  CHECK(uv_thread_join(&other) == 0);
  uv_sem_destroy(&started);
  uv_sem_destroy(&may_end);
  puts("ok");
  return 0;
}

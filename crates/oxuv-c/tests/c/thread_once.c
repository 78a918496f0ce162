/* What is done once, and what each thread has for itself. */
#define _GNU_SOURCE
#include "check.h"
#include <time.h>

#define THREADS 8

static uv_once_t guard = UV_ONCE_INIT;
static uv_once_t second = UV_ONCE_INIT;
static uv_barrier_t start;
static int calls, finished, nested;

static void do_slowly(void) {
  const struct timespec moment = {0, 20000000};
  calls++;
  nanosleep(&moment, NULL);
  finished = 1;
}

static void do_first(void* arg) {
  (void) arg;
  uv_barrier_wait(&start);
  uv_once(&guard, do_slowly);
  CHECK(finished == 1); /* whoever came second has waited */
}

static void count_nested(void) { nested++; }

static void do_the_second(void) {
  uv_once(&second, count_nested);
  uv_once(&second, count_nested);
}

static void it_is_done_once(void) {
  uv_thread_t threads[THREADS];
  uv_once_t outer = UV_ONCE_INIT;
  int i;
  CHECK(uv_barrier_init(&start, THREADS) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_create(&threads[i], do_first, NULL) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  CHECK(calls == 1);
  uv_once(&guard, do_slowly);
  CHECK(calls == 1);
  uv_once(&outer, do_the_second); /* one guard inside another */
  CHECK(nested == 1);
  uv_barrier_destroy(&start);
}

static uv_key_t keys[2];

static void use_keys(void* arg) {
  int own;
  int i;
  CHECK(uv_key_get(&keys[0]) == NULL && uv_key_get(&keys[1]) == NULL);
  uv_key_set(&keys[0], &own);
  uv_key_set(&keys[1], arg);
  for (i = 0; i < 10; i++) {
    uv_barrier_wait(&start);
    CHECK(uv_key_get(&keys[0]) == &own && uv_key_get(&keys[1]) == arg);
  }
  uv_key_set(&keys[0], NULL);
  CHECK(uv_key_get(&keys[0]) == NULL && uv_key_get(&keys[1]) == arg);
}

static void each_thread_has_its_values(void) {
  uv_thread_t threads[THREADS];
  int i;
  memset(keys, 0xff, sizeof(keys));
  CHECK(uv_key_create(&keys[0]) == 0 && uv_key_create(&keys[1]) == 0);
  uv_key_set(&keys[0], keys);
  CHECK(uv_barrier_init(&start, THREADS) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_create(&threads[i], use_keys, &threads[i]) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  CHECK(uv_key_get(&keys[0]) == keys && uv_key_get(&keys[1]) == NULL);
  uv_barrier_destroy(&start);
  uv_key_delete(&keys[0]);
  CHECK(uv_key_create(&keys[0]) == 0);
  CHECK(uv_key_get(&keys[0]) == NULL); /* a new key, whatever its number */
  uv_key_delete(&keys[0]);
  uv_key_delete(&keys[1]);
}

static void keys_may_run_out(void) {
  static uv_key_t all[100000];
  int count = 0;
  int r = 0;
  while (count < 100000 && (r = uv_key_create(&all[count])) == 0) count++;
  CHECK(r == UV_EAGAIN && count > 0);
  while (count > 0) uv_key_delete(&all[--count]);
}

int main(void) {
  it_is_done_once();
  each_thread_has_its_values();
  keys_may_run_out();
  puts("ok");
  return 0;
}

/* Barriers.
 *
 * not under TSan: it takes the barrier's end by one who was let go for a race, but the C library waits for the others */
#define _GNU_SOURCE
#include "check.h"

#define THREADS 6
#define ROUNDS 300

static uv_barrier_t barrier;
static uv_mutex_t mutex;
static int came, serial[ROUNDS];

static void meet(void* arg) {
  int round, r;
  (void) arg;
  for (round = 0; round < ROUNDS; round++) {
    uv_mutex_lock(&mutex);
    came++;
    uv_mutex_unlock(&mutex);
    r = uv_barrier_wait(&barrier);
    CHECK(r == 0 || r == 1);
    uv_mutex_lock(&mutex);
    CHECK(came >= THREADS * (round + 1)); /* nobody goes on before all have come */
    serial[round] += r;
    uv_mutex_unlock(&mutex);
  }
}

static void all_meet_and_one_is_told(void) {
  uv_thread_t threads[THREADS];
  int i;
  memset(&barrier, 0xff, sizeof(barrier));
  CHECK(uv_mutex_init(&mutex) == 0);
  CHECK(uv_barrier_init(&barrier, THREADS) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_create(&threads[i], meet, NULL) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  CHECK(came == THREADS * ROUNDS);
  for (i = 0; i < ROUNDS; i++) CHECK(serial[i] == 1);
  uv_barrier_destroy(&barrier);
  uv_mutex_destroy(&mutex);
}

static void wait_and_perhaps_destroy(void* arg) {
  (void) arg;
  if (uv_barrier_wait(&barrier) > 0) uv_barrier_destroy(&barrier);
}

/* It waits until the others have left it (libuv#3872). */
static void the_one_may_destroy_it(void) {
  uv_thread_t thread;
  int i;
  for (i = 0; i < ROUNDS; i++) {
    CHECK(uv_barrier_init(&barrier, 2) == 0);
    CHECK(uv_thread_create(&thread, wait_and_perhaps_destroy, NULL) == 0);
    wait_and_perhaps_destroy(NULL);
    CHECK(uv_thread_join(&thread) == 0);
  }
}

int main(void) {
  int i;
  CHECK(uv_barrier_init(&barrier, 0) == UV_EINVAL);
  CHECK(uv_barrier_init(&barrier, 1) == 0);
  for (i = 0; i < 3; i++) CHECK(uv_barrier_wait(&barrier) == 1);
  uv_barrier_destroy(&barrier);
  all_meet_and_one_is_told();
  the_one_may_destroy_it();
  puts("ok");
  return 0;
}

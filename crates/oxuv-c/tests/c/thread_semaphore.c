/* Semaphores. */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define ITEMS 2000

static uv_sem_t full, empty, done;
static int slot, sum;

static void consume(void* arg) {
  int i;
  (void) arg;
  for (i = 0; i < ITEMS; i++) {
    uv_sem_wait(&full);
    sum += slot;
    uv_sem_post(&empty);
  }
}

static void posts_are_counted(void) {
  uv_sem_t sem;
  int i;
  memset(&sem, 0xff, sizeof(sem));
  CHECK(uv_sem_init(&sem, 3) == 0);
  for (i = 0; i < 2; i++) uv_sem_wait(&sem);
  CHECK(uv_sem_trywait(&sem) == 0);
  CHECK(uv_sem_trywait(&sem) == UV_EAGAIN);
  uv_sem_post(&sem);
  uv_sem_post(&sem);
  CHECK(uv_sem_trywait(&sem) == 0);
  uv_sem_wait(&sem);
  CHECK(uv_sem_trywait(&sem) == UV_EAGAIN);
  uv_sem_destroy(&sem);
  CHECK(uv_sem_init(&sem, (unsigned int) INT_MAX + 1) == UV_EINVAL);
  CHECK(uv_sem_init(&sem, INT_MAX) == 0);
  CHECK(uv_sem_trywait(&sem) == 0);
  uv_sem_destroy(&sem);
}

static void a_post_lets_one_go_on(void) {
  uv_thread_t consumer;
  int i;
  CHECK(uv_sem_init(&full, 0) == 0 && uv_sem_init(&empty, 1) == 0);
  CHECK(uv_thread_create(&consumer, consume, NULL) == 0);
  for (i = 0; i < ITEMS; i++) {
    uv_sem_wait(&empty);
    slot = i;
    uv_sem_post(&full);
  }
  CHECK(uv_thread_join(&consumer) == 0);
  CHECK(sum == ITEMS * (ITEMS - 1) / 2);
  CHECK(uv_sem_trywait(&full) == UV_EAGAIN && uv_sem_trywait(&empty) == 0);
  uv_sem_destroy(&full);
  uv_sem_destroy(&empty);
}

static int signals;

static void note_signal(int signum) {
  (void) signum;
  __atomic_add_fetch(&signals, 1, __ATOMIC_SEQ_CST);
}

static void wait_once(void* arg) {
  (void) arg;
  uv_sem_wait(&full);
  uv_sem_post(&done);
}

static void a_signal_does_not_end_a_wait(void) {
  const struct timespec moment = {0, 2000000};
  struct sigaction action;
  uv_thread_t thread;
  int i;
  memset(&action, 0, sizeof(action));
  action.sa_handler = note_signal; /* system calls are not restarted */
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(uv_sem_init(&full, 0) == 0 && uv_sem_init(&done, 0) == 0);
  CHECK(uv_thread_create(&thread, wait_once, NULL) == 0);
  for (i = 0; i < 10; i++) {
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (__atomic_load_n(&signals, __ATOMIC_SEQ_CST) <= i) nanosleep(&moment, NULL);
  }
  CHECK(uv_sem_trywait(&done) == UV_EAGAIN);
  uv_sem_post(&full);
  CHECK(uv_thread_join(&thread) == 0);
  CHECK(uv_sem_trywait(&done) == 0);
}

static void note_cleanup(void* arg) { *(int*) arg = 1; }

static void wait_for_ever(void* arg) {
  pthread_cleanup_push(note_cleanup, arg);
  uv_sem_post(&done);
  for (;;) uv_sem_wait(&full);
  pthread_cleanup_pop(0);
}

static void a_thread_that_waits_can_be_cancelled(void) {
  uv_thread_t thread;
  int cleaned = 0;
  CHECK(uv_thread_create(&thread, wait_for_ever, &cleaned) == 0);
  uv_sem_wait(&done);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(uv_thread_join(&thread) == 0);
  CHECK(cleaned);
  uv_sem_destroy(&full);
  uv_sem_destroy(&done);
}

int main(void) {
  posts_are_counted();
  a_post_lets_one_go_on();
  a_signal_does_not_end_a_wait();
  a_thread_that_waits_can_be_cancelled();
  puts("ok");
  return 0;
}

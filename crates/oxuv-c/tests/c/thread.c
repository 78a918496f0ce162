/* Threads: their stacks, and how they end.
 *
 * not under TSan: it does not know that a thread may be joined once a join of it was cancelled */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB ((size_t) 1 << 20)

static uv_sem_t started;
static uv_sem_t may_end;

static void measure_stack(void* arg) {
  pthread_attr_t attr;
  size_t guard;
  CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
  CHECK(pthread_attr_getstacksize(&attr, arg) == 0);
  CHECK(pthread_attr_getguardsize(&attr, &guard) == 0);
  pthread_attr_destroy(&attr);
}

/* Uses that much stack. */
static void fill_stack(void* arg) {
  size_t size = *(size_t*) arg;
  char all[size];
  memset(all, 1, size);
  CHECK(all[size / 2] == 1);
}

static size_t stack_of(const uv_thread_options_t* options) {
  uv_thread_t thread;
  size_t size = 0;
  if (options == NULL)
    CHECK(uv_thread_create(&thread, measure_stack, &size) == 0);
  else
    CHECK(uv_thread_create_ex(&thread, options, measure_stack, &size) == 0);
  CHECK(uv_thread_join(&thread) == 0);
  return size;
}

static void check_size(size_t size, size_t expected) {
  if (size >= expected && size < expected + MIB / 2) return; /* with or without a guard */
  fprintf(stderr, "a stack of %zu bytes, expected %zu\n", size, expected);
  exit(1);
}

/* The C library hands stacks on that are large enough: so from small to large. */
static void a_stack_is_as_large_as_asked_for(void) {
  uv_thread_options_t options;
  uv_thread_t thread;
  struct rlimit limit, before;
  size_t page = (size_t) getpagesize();
  size_t wanted, least;
  CHECK(getrlimit(RLIMIT_STACK, &before) == 0);

  options.flags = UV_THREAD_HAS_STACK_SIZE;
  options.stack_size = 1;
  least = stack_of(&options);
  CHECK(least >= 8192 && least < MIB);
  options.stack_size = MIB - page + 1; /* a page begun counts */
  check_size(stack_of(&options), MIB);
  wanted = MIB / 2;
  CHECK(uv_thread_create_ex(&thread, &options, fill_stack, &wanted) == 0);
  CHECK(uv_thread_join(&thread) == 0);

  limit = before; /* a page begun does not count here */
  limit.rlim_cur = 2 * MIB + page - 1;
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  check_size(stack_of(NULL), 2 * MIB);
  limit.rlim_cur = 1; /* no thread could live in that: the usual size */
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  CHECK(stack_of(NULL) >= 2 * MIB);
  limit.rlim_cur = limit.rlim_max;
  if (limit.rlim_max == RLIM_INFINITY && setrlimit(RLIMIT_STACK, &limit) == 0)
    CHECK(stack_of(NULL) >= 2 * MIB && stack_of(NULL) < 5 * MIB);

  limit.rlim_cur = 6 * MIB;
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  options.stack_size = 0; /* as large as without */
  check_size(stack_of(&options), 6 * MIB);
  limit.rlim_cur = 7 * MIB;
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  options.flags = UV_THREAD_NO_FLAGS;
  options.stack_size = 16 * MIB; /* without its flag it says nothing */
  check_size(stack_of(&options), 7 * MIB);
  CHECK(setrlimit(RLIMIT_STACK, &before) == 0);

  options.flags = UV_THREAD_HAS_STACK_SIZE;
  options.stack_size = SIZE_MAX;
  CHECK(uv_thread_create_ex(&thread, &options, measure_stack, &wanted) < 0);
  CHECK(uv_thread_create_ex(&thread, &options, NULL, NULL) == UV_EINVAL);
  CHECK(uv_thread_create_ex(&thread, NULL, measure_stack, &wanted) == UV_EINVAL);
  CHECK(uv_thread_create(&thread, NULL, NULL) == UV_EINVAL);
  CHECK(uv_thread_create(NULL, measure_stack, &wanted) == UV_EINVAL);
}

static void note_self(void* arg) {
  *(uv_thread_t*) arg = uv_thread_self();
  uv_sem_post(&started);
  uv_sem_wait(&may_end);
}

static void threads_are_told_apart(void) {
  uv_thread_t self = uv_thread_self();
  uv_thread_t threads[2], noted[2];
  int i;
  for (i = 0; i < 2; i++) CHECK(uv_thread_create(&threads[i], note_self, &noted[i]) == 0);
  for (i = 0; i < 2; i++) uv_sem_wait(&started);
  CHECK(uv_thread_equal(&threads[0], &noted[0]) && uv_thread_equal(&threads[1], &noted[1]));
  CHECK(!uv_thread_equal(&threads[0], &threads[1]));
  CHECK(!uv_thread_equal(&self, &threads[0]));
  CHECK(uv_thread_equal(&self, &self));
  for (i = 0; i < 2; i++) uv_sem_post(&may_end);
  for (i = 0; i < 2; i++) CHECK(uv_thread_join(&threads[i]) == 0);
}

static void join_other(void* arg) { CHECK(uv_thread_join(arg) == 0); }

static void a_detached_thread_is_not_joined(void) {
  uv_thread_t thread, noted;
  CHECK(uv_thread_create(&thread, note_self, &noted) == 0);
  uv_sem_wait(&started);
  CHECK(uv_thread_detach(&thread) == 0);
  CHECK(uv_thread_detach(&thread) == UV_EINVAL);
  CHECK(uv_thread_join(&thread) == UV_EINVAL);
  uv_sem_post(&may_end);
}

static void note_cleanup(void* arg) { uv_sem_post(arg); }

static void join_in_vain(void* arg) {
  pthread_cleanup_push(note_cleanup, &may_end);
  uv_sem_post(&started);
  uv_thread_join(arg);
  pthread_cleanup_pop(0);
}

static void a_thread_that_joins_can_be_cancelled(void) {
  uv_thread_t thread, noted, joiner;
  CHECK(uv_thread_create(&thread, note_self, &noted) == 0);
  CHECK(uv_thread_create(&joiner, join_in_vain, &thread) == 0);
  uv_sem_wait(&started);
  uv_sem_wait(&started);
  CHECK(pthread_cancel(joiner) == 0);
  CHECK(uv_thread_join(&joiner) == 0);
  CHECK(uv_thread_join(&thread) == 0); /* nobody else has, and the cleanup lets it end */
}

static void join_waits(void) {
  uv_thread_t self = uv_thread_self();
  uv_thread_t thread, noted, joiner;
  CHECK(uv_thread_join(&self) == -EDEADLK); /* libuv has no name for it */
  CHECK(uv_thread_create(&thread, note_self, &noted) == 0);
  uv_sem_wait(&started);
  CHECK(uv_thread_create(&joiner, join_other, &thread) == 0);
  CHECK(pthread_tryjoin_np(joiner, NULL) == EBUSY); /* it waits, or is about to */
  uv_sem_post(&may_end);
  CHECK(uv_thread_join(&joiner) == 0);
}

static void leave(void* arg) {
  *(int*) arg = 1;
  pthread_exit(NULL);
}

static void a_thread_may_leave_from_within(void) {
  uv_thread_t thread;
  int left = 0;
  CHECK(uv_thread_create(&thread, leave, &left) == 0);
  CHECK(uv_thread_join(&thread) == 0);
  CHECK(left == 1);
}

int main(void) {
  CHECK(uv_sem_init(&started, 0) == 0);
  CHECK(uv_sem_init(&may_end, 0) == 0);
  a_stack_is_as_large_as_asked_for();
  threads_are_told_apart();
  join_waits();
  a_thread_that_joins_can_be_cancelled();
  a_thread_may_leave_from_within();
  a_detached_thread_is_not_joined();
  puts("ok");
  return 0;
}

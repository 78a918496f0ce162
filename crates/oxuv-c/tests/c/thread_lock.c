/* Mutexes and read-write locks.
 *
 * not under TSan: it reports their misuse itself, before we do */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 5000

static uv_mutex_t mutex;
static uv_rwlock_t rwlock;
static int number;

/* What a lock says to another thread. */
static void try_mutex(void* arg) {
  *(int*) arg = uv_mutex_trylock(&mutex);
  if (*(int*) arg == 0) uv_mutex_unlock(&mutex);
}

static void try_read(void* arg) {
  *(int*) arg = uv_rwlock_tryrdlock(&rwlock);
  if (*(int*) arg == 0) uv_rwlock_rdunlock(&rwlock);
}

static void try_write(void* arg) {
  *(int*) arg = uv_rwlock_trywrlock(&rwlock);
  if (*(int*) arg == 0) uv_rwlock_wrunlock(&rwlock);
}

static int elsewhere(uv_thread_cb attempt) {
  uv_thread_t thread;
  int result = 1;
  CHECK(uv_thread_create(&thread, attempt, &result) == 0);
  CHECK(uv_thread_join(&thread) == 0);
  return result;
}

static void together(uv_thread_cb entry) {
  uv_thread_t threads[THREADS];
  int i;
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_create(&threads[i], entry, NULL) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
}

static void count_up(void* arg) {
  int i;
  (void) arg;
  for (i = 0; i < ROUNDS; i++) {
    if (i % 2 == 0 || uv_mutex_trylock(&mutex) != 0) uv_mutex_lock(&mutex);
    number++;
    uv_mutex_unlock(&mutex);
  }
}

static void one_thread_has_a_mutex(void) {
  memset(&mutex, 0xff, sizeof(mutex));
  CHECK(uv_mutex_init(&mutex) == 0);
  CHECK(elsewhere(try_mutex) == 0);
  uv_mutex_lock(&mutex);
  CHECK(elsewhere(try_mutex) == UV_EBUSY);
  CHECK(uv_mutex_trylock(&mutex) == UV_EBUSY); /* nor its owner again */
  uv_mutex_unlock(&mutex);
  CHECK(uv_mutex_trylock(&mutex) == 0);
  CHECK(elsewhere(try_mutex) == UV_EBUSY);
  uv_mutex_unlock(&mutex);
  number = 0;
  together(count_up);
  CHECK(number == THREADS * ROUNDS);
  uv_mutex_destroy(&mutex);
}

static void a_recursive_mutex_counts(void) {
  memset(&mutex, 0xff, sizeof(mutex));
  CHECK(uv_mutex_init_recursive(&mutex) == 0);
  uv_mutex_lock(&mutex);
  uv_mutex_lock(&mutex);
  CHECK(uv_mutex_trylock(&mutex) == 0);
  uv_mutex_unlock(&mutex);
  uv_mutex_unlock(&mutex);
  CHECK(elsewhere(try_mutex) == UV_EBUSY); /* twice is not three times */
  uv_mutex_unlock(&mutex);
  CHECK(elsewhere(try_mutex) == 0);
  number = 0;
  together(count_up);
  CHECK(number == THREADS * ROUNDS);
  uv_mutex_destroy(&mutex);
}

static void write_and_read(void* arg) {
  int i, seen;
  (void) arg;
  for (i = 0; i < ROUNDS; i++) {
    uv_rwlock_wrlock(&rwlock);
    number++;
    uv_rwlock_wrunlock(&rwlock);
    uv_rwlock_rdlock(&rwlock);
    seen = number;
    CHECK(seen > i && seen == *(volatile int*) &number);
    uv_rwlock_rdunlock(&rwlock);
  }
}

static void many_read_or_one_writes(void) {
  memset(&rwlock, 0xff, sizeof(rwlock));
  CHECK(uv_rwlock_init(&rwlock) == 0);
  CHECK(elsewhere(try_read) == 0 && elsewhere(try_write) == 0);
  uv_rwlock_rdlock(&rwlock);
  CHECK(uv_rwlock_tryrdlock(&rwlock) == 0);
  CHECK(elsewhere(try_read) == 0);
  CHECK(elsewhere(try_write) == UV_EBUSY);
  uv_rwlock_rdunlock(&rwlock);
  CHECK(elsewhere(try_write) == UV_EBUSY); /* there is one reader left */
  uv_rwlock_rdunlock(&rwlock);
  CHECK(elsewhere(try_write) == 0);
  uv_rwlock_wrlock(&rwlock);
  CHECK(elsewhere(try_read) == UV_EBUSY && elsewhere(try_write) == UV_EBUSY);
  CHECK(uv_rwlock_tryrdlock(&rwlock) == UV_EBUSY && uv_rwlock_trywrlock(&rwlock) == UV_EBUSY);
  uv_rwlock_wrunlock(&rwlock);
  CHECK(uv_rwlock_trywrlock(&rwlock) == 0);
  CHECK(elsewhere(try_read) == UV_EBUSY);
  uv_rwlock_wrunlock(&rwlock);
  number = 0;
  together(write_and_read);
  CHECK(number == THREADS * ROUNDS);
  uv_rwlock_destroy(&rwlock);
}

static void unlock_what_is_free(void) {
  CHECK(uv_mutex_init_recursive(&mutex) == 0);
  uv_mutex_unlock(&mutex);
}

static void write_twice(void) {
  CHECK(uv_rwlock_init(&rwlock) == 0);
  uv_rwlock_wrlock(&rwlock);
  uv_rwlock_wrlock(&rwlock);
}

/* A function that cannot tell of an error ends the process, and says why. */
static void broken_use_ends_the_process(void (*use)(void), const char* function) {
  char said[256] = "";
  size_t length = 0;
  ssize_t more;
  int ends[2], status;
  struct rlimit no_core = {0, 0};
  pid_t child;
  CHECK(pipe(ends) == 0);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(60); /* it would wait for itself for ever */
    dup2(ends[1], 2);
    use();
    _exit(0);
  }
  close(ends[1]);
  while ((more = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0) length += (size_t) more;
  close(ends[0]);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, function) != NULL);
}

int main(void) {
  one_thread_has_a_mutex();
  a_recursive_mutex_counts();
  many_read_or_one_writes();
  broken_use_ends_the_process(unlock_what_is_free, "uv_mutex_unlock: EPERM");
  broken_use_ends_the_process(write_twice, "uv_rwlock_wrlock: ");
  puts("ok");
  return 0;
}

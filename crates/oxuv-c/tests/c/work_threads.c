/* Work of many loops on the threads of one pool: how many there are, and what a child of a fork has.
   leaks are not looked for under valgrind: what its parent's threads had in hand is lost in a child */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { LOOPS = 6, ROUNDS = 20, JOBS = 50 };

static uv_mutex_t mutex;
static uv_cond_t cond;
static int running;
static int most;
static int expected;

static void nothing(uv_work_t* req) { (void) req; }

static void on_done(uv_work_t* req, int status) {
  CHECK(status == 0);
  ++*(int*) req->data;
  free(req);
}

/* Fails without a message: in a child, standard error is shared. */
static void in_a_child(void (*check)(void), const char* size) {
  int status;
  pid_t child;
  fflush(NULL);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK((size == NULL ? unsetenv("UV_THREADPOOL_SIZE") : setenv("UV_THREADPOOL_SIZE", size, 1)) == 0);
    check();
    uv_library_shutdown();
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Waits until as many jobs run as are expected, and then a little for one more. */
static void count(uv_work_t* req) {
  uint64_t end = uv_hrtime() + 20000000;
  (void) req;
  uv_mutex_lock(&mutex);
  if (++running > most) most = running;
  uv_cond_broadcast(&cond);
  while (most < expected) uv_cond_wait(&cond, &mutex);
  uv_mutex_unlock(&mutex);
  while (uv_hrtime() < end) uv_sleep(1);
  uv_mutex_lock(&mutex);
  running--;
  uv_mutex_unlock(&mutex);
}

/* So many jobs run at the same time, and no more. */
static void so_many_threads(void) {
  uv_loop_t loop;
  int i, done = 0;
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < expected + 3; i++) {
    uv_work_t* req = dirty(sizeof(*req));
    req->data = &done;
    CHECK(uv_queue_work(&loop, req, count, on_done) == 0);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(done == expected + 3 && most == expected);
  CHECK(uv_loop_close(&loop) == 0);
}

static void the_environment_says_how_many_threads(void) {
  static const struct { const char* size; int threads; } cases[] = {
      {NULL, 4},           {"1", 1},  {"2", 2},   {"9", 9},    {"0", 1},         {"", 1},
      {"many", 1},         {" 3", 3}, {"+5", 5},  {"2x", 2},   {"4294967298", 2},
      {"000000000000008", 8},         {"0000000000000008", 4},
  };
  size_t i;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    expected = cases[i].threads;
    in_a_child(so_many_threads, cases[i].size);
  }
}

static void a_loop(void* arg) {
  uv_loop_t loop;
  int i, round, done = 0;
  (void) arg;
  CHECK(uv_loop_init(&loop) == 0);
  for (round = 1; round <= ROUNDS; round++) {
    for (i = 0; i < JOBS; i++) {
      uv_work_t* req = dirty(sizeof(*req));
      req->data = &done;
      CHECK(uv_queue_work(&loop, req, nothing, on_done) == 0);
    }
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
    CHECK(done == round * JOBS);
  }
  CHECK(uv_loop_close(&loop) == 0);
}

static void loops_on_many_threads(void) {
  uv_thread_t threads[LOOPS];
  int i;
  for (i = 0; i < LOOPS; i++) CHECK(uv_thread_create(&threads[i], a_loop, NULL) == 0);
  for (i = 0; i < LOOPS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
}

static void one_loop(void) { a_loop(NULL); }

/* Forks while the pool is busy: the child has threads of its own, and so has its child. */
static void and_its_child(void) {
  a_loop(NULL);
  in_a_child(one_loop, "2");
  a_loop(NULL);
}

static void a_child_has_threads_of_its_own(void) {
  uv_thread_t thread;
  int i;
  CHECK(uv_thread_create(&thread, a_loop, NULL) == 0);
  for (i = 0; i < 10; i++) in_a_child(and_its_child, "3");
  CHECK(uv_thread_join(&thread) == 0);
}

int main(void) {
  CHECK(uv_mutex_init(&mutex) == 0 && uv_cond_init(&cond) == 0);
  the_environment_says_how_many_threads();
  CHECK(unsetenv("UV_THREADPOOL_SIZE") == 0);
  loops_on_many_threads();
  a_child_has_threads_of_its_own();
  uv_library_shutdown();
  puts("ok");
  return 0;
}

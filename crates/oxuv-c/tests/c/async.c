/* Async handles: sends from threads and signal handlers, also while the handle is being closed. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static uv_loop_t loop;
static int calls;

static void count(uv_async_t* async) {
  CHECK(async->loop == &loop);
  calls++;
}

static uv_async_t* new_async(uv_async_cb cb) {
  uv_async_t* async = dirty(sizeof(*async));
  CHECK(uv_async_init(&loop, async, cb) == 0);
  CHECK(async->type == UV_ASYNC);
  CHECK(uv_is_active((uv_handle_t*) async));
  return async;
}

static void close_now(uv_async_t* async) {
  uv_close((uv_handle_t*) async, free_handle);
  uv_run(&loop, UV_RUN_DEFAULT);
}

static void sends_before_the_callback_are_one(void) {
  uv_async_t* async = new_async(count);
  calls = 0;
  for (int i = 0; i < 5; i++) CHECK(uv_async_send(async) == 0);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(calls == 1);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(calls == 1);
  CHECK(uv_async_send(async) == 0);
  uv_run(&loop, UV_RUN_ONCE);
  CHECK(calls == 2);
  close_now(async);
}

static void send_once_more(uv_async_t* async) {
  if (++calls == 1) CHECK(uv_async_send(async) == 0);
}

static void a_send_in_the_callback_runs_it_once_more(void) {
  uv_async_t* async = new_async(send_once_more);
  calls = 0;
  uv_async_send(async);
  uv_run(&loop, UV_RUN_NOWAIT);
  uv_run(&loop, UV_RUN_NOWAIT);
  uv_run(&loop, UV_RUN_NOWAIT);
  CHECK(calls == 2);
  close_now(async);
}

static void without_a_callback_a_send_ends_the_wait(void) {
  uv_async_t* async = new_async(NULL);
  uv_async_send(async);
  CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
  uv_async_send(async);
  CHECK(uv_run(&loop, UV_RUN_ONCE) != 0);
  close_now(async);
}

static void a_closing_handle_is_not_called(void) {
  uv_async_t* async = new_async(count);
  calls = 0;
  uv_async_send(async);
  uv_close((uv_handle_t*) async, NULL);
  CHECK(uv_async_send(async) == 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(calls == 0);
  CHECK(uv_async_send(async) == 0); /* Closed, but its memory is there. */
  free(async);
}

static void a_zeroed_handle_is_an_error(void) {
  uv_async_t async;
  memset(&async, 0, sizeof(async));
  CHECK(uv_async_send(&async) == UV_EINVAL);
}

/* What the callback sees of what was written before the send. */
static int written;
static long sum;

static void see(uv_async_t* async) {
  (void) async;
  sum += __atomic_exchange_n(&written, 0, __ATOMIC_RELAXED);
}

static void* write_and_send(void* async) {
  for (int i = 0; i < 20000; i++) {
    __atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
    CHECK(uv_async_send(async) == 0);
  }
  return NULL;
}

static void what_is_written_before_a_send_is_seen(void) {
  uv_async_t* async = new_async(see);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, write_and_send, async) == 0);
  while (sum < 60000) uv_run(&loop, UV_RUN_ONCE);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(sum == 60000 && written == 0);
  close_now(async);
}

/* Handles are closed while threads send to them; their memory stays until the threads are told. */
#define HANDLES 200
static uv_async_t handles[HANDLES];
static int ready, over;

static void* send_to_all(void* unused) {
  (void) unused;
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
    int there = __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
    for (int i = there > 20 ? there - 20 : 0; i < there; i++) CHECK(uv_async_send(&handles[i]) == 0);
  }
  return NULL;
}

static void handles_may_be_closed_while_threads_send(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, send_to_all, NULL) == 0);
  for (int i = 0; i < HANDLES; i++) {
    CHECK(uv_async_init(&loop, &handles[i], count) == 0);
    __atomic_store_n(&ready, i + 1, __ATOMIC_RELEASE);
    uv_run(&loop, UV_RUN_ONCE);
    if (i >= 5) uv_close((uv_handle_t*) &handles[i - 5], NULL);
  }
  for (int i = HANDLES - 5; i < HANDLES; i++) uv_close((uv_handle_t*) &handles[i], NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

static uv_async_t* from_handler;

static void on_signal(int number) {
  (void) number;
  errno = EDOM;
  CHECK(uv_async_send(from_handler) == 0);
  CHECK(errno == EDOM);
}

static void a_signal_handler_may_send(void) {
  from_handler = new_async(count);
  calls = 0;
  CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
  CHECK(raise(SIGUSR1) == 0);
  uv_run(&loop, UV_RUN_ONCE);
  CHECK(calls == 1);
  close_now(from_handler);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
  sends_before_the_callback_are_one();
  a_send_in_the_callback_runs_it_once_more();
  without_a_callback_a_send_ends_the_wait();
  a_closing_handle_is_not_called();
  a_zeroed_handle_is_an_error();
  what_is_written_before_a_send_is_seen();
  handles_may_be_closed_while_threads_send();
  a_signal_handler_may_send();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

/* Loops: their making and end, their options, and what there is to ask them.
 *
 * descriptors are not looked for under valgrind: the default loop is left open */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

static uv_loop_t loop;
static int fired;

static void count(uv_timer_t* timer) {
  (void) timer;
  fired++;
}

static void never(uv_timer_t* timer) {
  (void) timer;
  CHECK(!"this timer is not due");
}

static uint64_t milliseconds(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void close_all(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void begin(void) {
  memset(&loop, 0xdb, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
}

static void end(void) {
  uv_walk(&loop, close_all, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
}

static void a_loop_from_the_library(void) {
  uv_timer_t timer;
  uv_loop_t* new_loop = uv_loop_new();
  CHECK(new_loop != NULL && uv_loop_size() == sizeof(uv_loop_t));
  CHECK(uv_timer_init(new_loop, &timer) == 0 && uv_timer_start(&timer, count, 0, 0) == 0);
  CHECK(uv_run(new_loop, UV_RUN_DEFAULT) == 0 && fired == 1);
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(new_loop, UV_RUN_DEFAULT) == 0);
  uv_loop_delete(new_loop);
  fired = 0;
}

static void the_default_loop_is_made_anew_once_it_is_closed(void) {
  int value;
  uv_timer_t timer;
  uv_loop_t* first = uv_default_loop();
  CHECK(first != NULL && uv_default_loop() == first);
  CHECK(uv_loop_get_data(first) == NULL);
  uv_loop_set_data(first, &value);
  CHECK(uv_timer_init(first, &timer) == 0 && uv_timer_start(&timer, count, 0, 0) == 0);
  CHECK(uv_loop_close(first) == UV_EBUSY);
  CHECK(uv_default_loop() == first && uv_is_active((uv_handle_t*) &timer)); /* the same, not a fresh one */
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(first, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(first) == 0);
  CHECK(uv_default_loop() == first);
  CHECK(first->data == &value && uv_loop_get_data(first) == &value);
  CHECK(first->active_handles == 0 && first->backend_fd >= 0);
  CHECK(uv_timer_init(first, &timer) == 0 && uv_timer_start(&timer, count, 0, 0) == 0);
  CHECK(uv_run(first, UV_RUN_DEFAULT) == 0 && fired == 1);
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(first, UV_RUN_DEFAULT) == 0);
  uv_loop_delete(first); /* its memory is not freed: it is there again */
  CHECK(uv_default_loop() == first);
  uv_loop_delete(first);
  fired = 0;
}

static void the_backend_is_an_epoll_descriptor(void) {
  struct epoll_event event;
  uv_async_t async;
  begin();
  CHECK(uv_backend_fd(&loop) == loop.backend_fd);
  CHECK(uv_async_init(&loop, &async, NULL) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  CHECK(epoll_wait(uv_backend_fd(&loop), &event, 1, 0) == 0);
  CHECK(uv_async_send(&async) == 0);
  CHECK(epoll_wait(uv_backend_fd(&loop), &event, 1, 1000) == 1); /* a run would have something to do */
  end();
}

static void noop_idle(uv_idle_t* idle) { (void) idle; }

static void the_backend_timeout(void) {
  uv_timer_t timer;
  uv_async_t async;
  uv_idle_t idle;
  begin();
  CHECK(uv_backend_timeout(&loop) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, never, 100000, 0) == 0);
  CHECK(uv_backend_timeout(&loop) == 0); /* before the first turn, a run has yet to look */
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  CHECK(uv_backend_timeout(&loop) > 90000 && uv_backend_timeout(&loop) <= 100000);
  CHECK(uv_timer_start(&timer, never, 1000, 0) == 0);
  CHECK(uv_backend_timeout(&loop) == 1000); /* from the loop's time on, not from now */
  CHECK(uv_timer_start(&timer, never, UINT64_MAX, 0) == 0);
  CHECK(uv_backend_timeout(&loop) == INT_MAX);
  uv_unref((uv_handle_t*) &timer);
  CHECK(uv_backend_timeout(&loop) == 0); /* nothing is alive */
  CHECK(uv_async_init(&loop, &async, NULL) == 0);
  CHECK(uv_backend_timeout(&loop) == INT_MAX); /* now the timer counts, though it is unreferenced */
  CHECK(uv_timer_stop(&timer) == 0);
  CHECK(uv_backend_timeout(&loop) == -1);
  CHECK(uv_timer_start(&timer, never, 0, 0) == 0);
  CHECK(uv_backend_timeout(&loop) == 0);
  CHECK(uv_timer_stop(&timer) == 0);
  uv_stop(&loop);
  CHECK(uv_backend_timeout(&loop) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 1); /* stopped at once */
  CHECK(uv_backend_timeout(&loop) == -1);
  CHECK(uv_idle_init(&loop, &idle) == 0 && uv_idle_start(&idle, noop_idle) == 0);
  CHECK(uv_backend_timeout(&loop) == 0);
  CHECK(uv_idle_stop(&idle) == 0);
  CHECK(uv_backend_timeout(&loop) == -1);
  uv_close((uv_handle_t*) &idle, NULL);
  CHECK(uv_backend_timeout(&loop) == 0); /* to be closed */
  end();
}

static void the_time_stands_still_until_it_is_updated(void) {
  struct timespec some = {0, 5000000};
  uint64_t before;
  begin();
  before = uv_now(&loop);
  CHECK(before > 0);
  CHECK(nanosleep(&some, NULL) == 0);
  CHECK(uv_now(&loop) == before);
  uv_update_time(&loop);
  CHECK(uv_now(&loop) >= before + 5);
  end();
}

/* What programs do to the counts */

static void give_back(uv_timer_t* timer) {
  fired++;
  CHECK(timer->loop->active_handles == 1);
  timer->loop->active_handles--;
}

static void a_program_keeps_the_loop_alive_by_its_count(void) {
  uv_timer_t timer, other;
  begin();
  loop.active_handles++;
  CHECK(uv_loop_alive(&loop) && loop.active_handles == 1);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 1);
  CHECK(uv_backend_timeout(&loop) == -1);
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, give_back, 5, 0) == 0);
  CHECK(uv_timer_init(&loop, &other) == 0 && uv_timer_start(&other, never, 1000000, 0) == 0);
  CHECK(loop.active_handles == 3);
  uv_unref((uv_handle_t*) &timer);
  uv_unref((uv_handle_t*) &other);
  CHECK(loop.active_handles == 1);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0); /* it waits for the timer, and then for nothing */
  CHECK(fired == 1 && loop.active_handles == 0);
  loop.active_handles++;
  CHECK(uv_loop_alive(&loop));
  loop.active_handles--;
  CHECK(!uv_loop_alive(&loop));
  fired = 0;
  end();
}

static void stop_by_flag(uv_timer_t* timer) {
  fired++;
  timer->loop->stop_flag = 1;
}

static void a_program_stops_the_loop_by_its_flag(void) {
  uv_timer_t timer;
  begin();
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, stop_by_flag, 0, 1) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 1);
  CHECK(fired == 1 && loop.stop_flag == 0);
  uv_stop(&loop);
  CHECK(loop.stop_flag == 1);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 1 && fired == 1);
  uv_stop(&loop);
  loop.stop_flag = 0; /* it thinks better of it */
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 1 && fired == 2);
  fired = 0;
  end();
}

/* Options */

static volatile sig_atomic_t caught;
static uint64_t caught_at, waited_from;
static pthread_t waiting;

static void catch_signal(int number) {
  (void) number;
  caught++;
  caught_at = milliseconds();
}

static void send_signal(void* arg) {
  struct timespec some = {0, 20000000};
  (void) arg;
  CHECK(nanosleep(&some, NULL) == 0);
  CHECK(pthread_kill(waiting, SIGPROF) == 0);
}

/* True if the signal came when the wait was over. On a busy machine it may come before the wait begins. */
static int wait_while_a_profiler_rings(void) {
  uv_timer_t timer;
  uv_thread_t sender;
  begin();
  CHECK(uv_loop_configure(&loop, UV_LOOP_BLOCK_SIGNAL, SIGPROF) == 0);
  CHECK(signal(SIGPROF, catch_signal) != SIG_ERR);
  waiting = pthread_self();
  caught = 0;
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(uv_thread_create(&sender, send_signal, NULL) == 0);
  uv_update_time(&loop);
  waited_from = milliseconds();
  CHECK(uv_timer_start(&timer, count, 200, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(fired == 1);
  CHECK(uv_thread_join(&sender) == 0);
  CHECK(caught == 1);
  fired = 0;
  end();
  return caught_at >= waited_from + 190;
}

static void a_profiler_does_not_interrupt_the_wait(void) {
  int attempts = 0;
  while (!wait_while_a_profiler_rings()) CHECK(++attempts < 10);
}

static void options(void) {
  begin();
  CHECK(uv_loop_configure(&loop, UV_LOOP_BLOCK_SIGNAL, SIGINT) == UV_EINVAL);
  CHECK(uv_loop_configure(&loop, UV_LOOP_BLOCK_SIGNAL, 0) == UV_EINVAL);
  CHECK(uv_loop_configure(&loop, UV_METRICS_IDLE_TIME) == 0);
  CHECK(uv_loop_configure(&loop, UV_LOOP_USE_IO_URING_SQPOLL) == 0);
  CHECK(uv_loop_configure(&loop, (uv_loop_option) 3) == UV_ENOSYS);
  CHECK(uv_loop_configure(&loop, (uv_loop_option) -1) == UV_ENOSYS);
  end();
}

static void the_library_may_be_shut_down_at_any_time(void) {
  uv_timer_t timer;
  begin();
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, count, 0, 0) == 0);
  uv_library_shutdown();
  uv_library_shutdown();
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && fired == 1);
  fired = 0;
  end();
}

int main(void) {
  a_loop_from_the_library();
  the_default_loop_is_made_anew_once_it_is_closed();
  the_backend_is_an_epoll_descriptor();
  the_backend_timeout();
  the_time_stands_still_until_it_is_updated();
  a_program_keeps_the_loop_alive_by_its_count();
  a_program_stops_the_loop_by_its_flag();
  a_profiler_does_not_interrupt_the_wait();
  options();
  the_library_may_be_shut_down_at_any_time();
  uv_default_loop(); /* left open: the end of the program does not mind */
  puts("ok");
  return 0;
}

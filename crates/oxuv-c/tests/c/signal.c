/* Signal handles: who hears of what, in which order, and what becomes of the process's signal actions. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "net.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>

/* What was heard: a letter for each handle, from its data, in order. */
static char heard[1000];
static size_t length;

static void begin(void) {
  memset(heard, 0, sizeof(heard));
  length = 0;
}

static void note(uv_signal_t* handle, int signum) {
  CHECK(handle->type == UV_SIGNAL && handle->signum == signum);
  CHECK(uv_is_active((uv_handle_t*) handle));
  CHECK(length < sizeof(heard) - 1);
  heard[length++] = *(const char*) handle->data;
}

static uv_signal_t* new_signal(uv_loop_t* on, const char* name) {
  uv_signal_t* handle = dirty(sizeof(*handle));
  void* data = handle->data;
  CHECK(uv_signal_init(on, handle) == 0);
  CHECK(handle->data == data && handle->loop == on && handle->type == UV_SIGNAL && handle->signum == 0);
  CHECK(!uv_is_active((uv_handle_t*) handle));
  handle->data = (void*) name;
  return handle;
}

static uv_signal_t* started(const char* name, int signum) {
  uv_signal_t* handle = new_signal(&loop, name);
  CHECK(uv_signal_start(handle, note, signum) == 0);
  CHECK(uv_is_active((uv_handle_t*) handle) && handle->signum == signum);
  return handle;
}

static uv_signal_t* started_once(const char* name, int signum) {
  uv_signal_t* handle = new_signal(&loop, name);
  CHECK(uv_signal_start_oneshot(handle, note, signum) == 0);
  return handle;
}

static void close_signal(uv_signal_t* handle) {
  uv_close((uv_handle_t*) handle, free_handle);
  CHECK(handle->signum == 0 && !uv_is_active((uv_handle_t*) handle));
}

static void (*action_of(int signum))(int) {
  struct sigaction action;
  CHECK(sigaction(signum, NULL, &action) == 0);
  return action.sa_handler;
}

static void (*handler_of(int signum, int* flags))(int) {
  struct sigaction action;
  CHECK(sigaction(signum, NULL, &action) == 0);
  *flags = action.sa_flags;
  return action.sa_handler;
}

static void each_signal_is_a_call_for_each_who_waits_for_it(void) {
  uv_signal_t* a = started("a", SIGUSR1);
  uv_signal_t* b = started_once("b", SIGUSR1);
  uv_signal_t* c = started("c", SIGUSR2);
  uv_signal_t* d = started("d", SIGUSR1);
  begin();
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGUSR1);
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  CHECK(strcmp(heard, "adbcad") == 0);
  CHECK(b->signum == 0 && !uv_is_active((uv_handle_t*) b));
  turn();
  CHECK(strcmp(heard, "adbcad") == 0);
  close_signal(a);
  close_signal(b);
  close_signal(c);
  close_signal(d);
  run_dry();
}

static void real_time_signals_are_caught_as_often_as_they_were_sent(void) {
  sigset_t set, old;
  int i;
  uv_signal_t* a = started("a", SIGRTMIN + 3);
  uv_signal_t* b = started("b", SIGRTMIN + 9);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 3);
  sigaddset(&set, SIGRTMIN + 9);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, &old) == 0);
  for (i = 0; i < 3; i++) CHECK(raise(SIGRTMIN + 3) == 0 && raise(SIGRTMIN + 9) == 0);
  CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
  begin();
  turn();
  /* The kernel has the lower numbers first. */
  CHECK(strlen(heard) == 6);
  close_signal(a);
  close_signal(b);
  run_dry();
}

static void none_is_lost_however_many_come(void) {
  static int count;
  uv_signal_t* a = new_signal(&loop, "a");
  int i;
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  count = 0;
  for (i = 0; i < 20000; i++) {
    if (i % 500 == 0) {
      begin();
      turn();
      count += (int) strlen(heard);
    }
    raise(SIGUSR1);
  }
  begin();
  turn();
  CHECK(count + (int) strlen(heard) == 20000);
  close_signal(a);
  run_dry();
}

static int counted;

static void just_count(uv_signal_t* handle, int signum) {
  (void) handle, (void) signum;
  counted++;
}

static void none_is_lost_while_the_loop_is_held_up(void) {
  uv_signal_t* a = new_signal(&loop, "a");
  int i;
  CHECK(uv_signal_start(a, just_count, SIGUSR1) == 0);
  counted = 0;
  /* More than a pipe holds. */
  for (i = 0; i < 100000; i++) raise(SIGUSR1);
  turn();
  CHECK(counted == 100000);
  close_signal(a);
  run_dry();
}

static void what_cannot_be_caught_is_refused(void) {
  static const int numbers[] = {0, -1, -15, 65, 1000, SIGKILL, SIGSTOP, 32, 33};
  uv_signal_t* a = started("a", SIGUSR1);
  size_t i;
  for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
    CHECK(uv_signal_start(a, note, numbers[i]) == UV_EINVAL);
    CHECK(uv_signal_start_oneshot(a, note, numbers[i]) == UV_EINVAL);
  }
  /* It goes on as before. */
  CHECK(a->signum == SIGUSR1);
  begin();
  raise(SIGUSR1);
  turn();
  CHECK(strcmp(heard, "a") == 0);
  close_signal(a);
  CHECK(uv_signal_start(a, note, SIGUSR1) == UV_EINVAL);
  CHECK(uv_signal_stop(a) == 0);
  run_dry();
}

static void other(int signum) { (void) signum; }

static void the_action_from_before_is_put_back(void) {
  int flags;
  uv_signal_t *a, *b;
  CHECK(signal(SIGUSR1, other) != SIG_ERR);
  a = started("a", SIGUSR1);
  CHECK(handler_of(SIGUSR1, &flags) != other);
  CHECK((flags & SA_RESTART) && !(flags & SA_RESETHAND));
  b = started_once("b", SIGUSR1);
  CHECK(handler_of(SIGUSR1, &flags) != other && !(flags & SA_RESETHAND));
  CHECK(uv_signal_stop(a) == 0 && uv_signal_stop(a) == 0);
  CHECK(handler_of(SIGUSR1, &flags) != other && (flags & SA_RESETHAND));
  CHECK(uv_signal_stop(b) == 0);
  CHECK(action_of(SIGUSR1) == other);
  /* What the program has set in between stays. */
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
  close_signal(a);
  CHECK(action_of(SIGUSR1) == SIG_IGN);
  CHECK(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
  /* Another number takes the first one's place. */
  CHECK(uv_signal_start(b, note, SIGUSR1) == 0);
  CHECK(uv_signal_start(b, note, SIGUSR2) == 0);
  CHECK(action_of(SIGUSR1) == SIG_DFL && action_of(SIGUSR2) != SIG_DFL);
  close_signal(b);
  CHECK(action_of(SIGUSR2) == SIG_DFL);
  run_dry();
}

static uv_signal_t* to_stop;

static void stop_other(uv_signal_t* handle, int signum) {
  note(handle, signum);
  CHECK(uv_signal_stop(to_stop) == 0);
}

static void what_is_stopped_hears_no_more_of_what_was_caught(void) {
  uv_signal_t* a = new_signal(&loop, "a");
  uv_signal_t* b;
  CHECK(uv_signal_start(a, stop_other, SIGUSR1) == 0);
  to_stop = b = started("b", SIGUSR1);
  begin();
  raise(SIGUSR1);
  turn();
  CHECK(strcmp(heard, "a") == 0);
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  CHECK(uv_signal_start(b, note, SIGUSR1) == 0);
  /* Caught, stopped, and waiting for another one. */
  begin();
  raise(SIGUSR1);
  CHECK(uv_signal_start(b, note, SIGUSR2) == 0);
  CHECK(uv_signal_stop(a) == 0);
  turn();
  CHECK(strcmp(heard, "") == 0);
  /* Started anew for the same one, it hears of what it has caught. */
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  raise(SIGUSR1);
  CHECK(uv_signal_stop(a) == 0);
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  turn();
  CHECK(strcmp(heard, "a") == 0);
  close_signal(a);
  close_signal(b);
  run_dry();
}

static void start_again(uv_signal_t* handle, int signum) {
  note(handle, signum);
  CHECK(uv_signal_start_oneshot(handle, note, SIGUSR2) == 0);
}

static void once_is_once_whatever_its_callback_does(void) {
  uv_signal_t* a = new_signal(&loop, "a");
  CHECK(uv_signal_start_oneshot(a, start_again, SIGUSR1) == 0);
  begin();
  raise(SIGUSR1);
  CHECK(action_of(SIGUSR1) == SIG_DFL);
  turn();
  CHECK(strcmp(heard, "a") == 0 && a->signum == SIGUSR2 && uv_is_active((uv_handle_t*) a));
  raise(SIGUSR2);
  turn();
  CHECK(strcmp(heard, "aa") == 0 && a->signum == 0 && !uv_is_active((uv_handle_t*) a));
  CHECK(uv_loop_alive(&loop) == 0);
  /* Another start is not for once. */
  CHECK(uv_signal_start(a, note, SIGUSR1) == 0);
  raise(SIGUSR1);
  turn();
  CHECK(strcmp(heard, "aaa") == 0 && a->signum == SIGUSR1);
  close_signal(a);
  run_dry();
}

static void close_in_the_callback(uv_signal_t* handle, int signum) {
  (void) signum;
  counted++;
  uv_close((uv_handle_t*) handle, free_handle);
}

static void free_and_run(uv_signal_t* handle, int signum) {
  close_in_the_callback(handle, signum);
  uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_handle_may_be_gone_after_its_callback(void) {
  uv_signal_t* a = new_signal(&loop, "a");
  counted = 0;
  CHECK(uv_signal_start_oneshot(a, free_and_run, SIGUSR1) == 0);
  raise(SIGUSR1);
  run_dry();
  CHECK(counted == 1);
  a = new_signal(&loop, "a");
  CHECK(uv_signal_start(a, free_and_run, SIGUSR1) == 0);
  raise(SIGUSR1);
  raise(SIGUSR1);
  run_dry();
  CHECK(counted == 2);
}

static int closed;

static void count_close(uv_handle_t* handle) {
  (void) handle;
  closed++;
}

static void close_each(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, count_close);
}

static void close_all(uv_signal_t* handle, int signum) {
  (void) signum;
  counted++;
  uv_walk(handle->loop, close_each, NULL);
}

/* https://github.com/libuv/libuv/issues/2415 */
static void many_come_and_the_first_call_closes_all(void) {
  uv_loop_t own;
  uv_signal_t handles[3];
  uv_timer_t timer;
  int i;
  CHECK(uv_loop_init(&own) == 0);
  for (i = 0; i < 3; i++) {
    CHECK(uv_signal_init(&own, &handles[i]) == 0);
    CHECK(uv_signal_start(&handles[i], close_all, SIGINT) == 0);
  }
  CHECK(uv_timer_init(&own, &timer) == 0);
  counted = closed = 0;
  for (i = 0; i < 10; i++) raise(SIGINT);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(counted == 1 && closed == 4);
  CHECK(uv_loop_close(&own) == 0);
  CHECK(action_of(SIGINT) == SIG_DFL);
}

static void raise_in_prepare(uv_prepare_t* prepare) {
  raise(SIGUSR1);
  uv_prepare_stop(prepare);
}

static void raise_in_check(uv_check_t* check) {
  raise(SIGUSR1);
  uv_check_stop(check);
}

static void a_signal_just_before_the_wait_ends_it(void) {
  uv_signal_t* a = started("a", SIGUSR1);
  uv_prepare_t prepare;
  uv_check_t check;
  CHECK(uv_prepare_init(&loop, &prepare) == 0 && uv_check_init(&loop, &check) == 0);
  CHECK(uv_prepare_start(&prepare, raise_in_prepare) == 0);
  begin();
  /* Without it, these would wait for ever. */
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  CHECK(strcmp(heard, "a") == 0);
  CHECK(uv_check_start(&check, raise_in_check) == 0);
  turn();
  CHECK(strcmp(heard, "a") == 0);
  CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  CHECK(strcmp(heard, "aa") == 0);
  close_signal(a);
  uv_close((uv_handle_t*) &prepare, NULL);
  uv_close((uv_handle_t*) &check, NULL);
  run_dry();
}

static void on_timer(uv_timer_t* timer) {
  (void) timer;
  raise(SIGUSR1);
}

static void on_async(uv_async_t* async) {
  (void) async;
  heard[length++] = '-';
}

static void signals_are_the_last_of_a_batch(void) {
  int fds[2];
  char byte = 0;
  uv_signal_t* a = started("a", SIGUSR1);
  uv_async_t async;
  uv_timer_t timer;
  CHECK(uv_async_init(&loop, &async, on_async) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  CHECK(pipe(fds) == 0);
  begin();
  raise(SIGUSR1);
  uv_async_send(&async);
  turn();
  CHECK(strcmp(heard, "-a") == 0);
  CHECK(uv_timer_start(&timer, on_timer, 1, 0) == 0);
  /* One that comes in the pass of timers is for the next turn. */
  while (strlen(heard) < 3) CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  CHECK(strcmp(heard, "-aa") == 0);
  CHECK(write(fds[1], &byte, 1) == 1);
  close(fds[0]);
  close(fds[1]);
  close_signal(a);
  uv_close((uv_handle_t*) &async, NULL);
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
}

static void an_unreferenced_handle_keeps_no_loop_alive(void) {
  uv_signal_t* a = started("a", SIGUSR1);
  uv_unref((uv_handle_t*) a);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  close_signal(a);
  run_dry();
}

static int descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  CHECK(directory != NULL);
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

static void signals_need_no_descriptors(void) {
  uv_loop_t own;
  uv_signal_t handle;
  int before, with_loop;
  before = descriptors();
  CHECK(uv_loop_init(&own) == 0);
  with_loop = descriptors();
  CHECK(uv_signal_init(&own, &handle) == 0);
  CHECK(uv_signal_start(&handle, note, SIGUSR1) == 0);
  raise(SIGUSR1);
  CHECK(descriptors() == with_loop);
  handle.data = "x";
  CHECK(uv_run(&own, UV_RUN_ONCE) == 1);
  uv_close((uv_handle_t*) &handle, NULL);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&own) == 0);
  CHECK(descriptors() == before);
}

#define LOOPS 4
#define SIGNALS 200

static uv_barrier_t barrier;

static void count_to_the_end(uv_signal_t* handle, int signum) {
  int* count = handle->data;
  CHECK(signum == SIGUSR2);
  if (++*count == LOOPS * SIGNALS) uv_close((uv_handle_t*) handle, NULL);
}

static void in_a_thread(void* arg) {
  uv_loop_t own;
  uv_signal_t handle, passing;
  int count = 0, i;
  (void) arg;
  CHECK(uv_loop_init(&own) == 0);
  CHECK(uv_signal_init(&own, &handle) == 0 && uv_signal_init(&own, &passing) == 0);
  handle.data = &count;
  CHECK(uv_signal_start(&handle, count_to_the_end, SIGUSR2) == 0);
  uv_barrier_wait(&barrier);
  for (i = 0; i < SIGNALS; i++) {
    errno = 1234;
    pthread_kill(pthread_self(), SIGUSR2);
    CHECK(errno == 1234);
    CHECK(uv_signal_start(&passing, just_count, SIGUSR1) == 0);
    uv_run(&own, UV_RUN_NOWAIT);
    CHECK(uv_signal_stop(&passing) == 0);
  }
  uv_close((uv_handle_t*) &passing, NULL);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(count == LOOPS * SIGNALS);
  CHECK(uv_loop_close(&own) == 0);
}

static void loops_of_many_threads_hear_of_all(void) {
  uv_thread_t threads[LOOPS];
  int i;
  CHECK(uv_barrier_init(&barrier, LOOPS) == 0);
  for (i = 0; i < LOOPS; i++) CHECK(uv_thread_create(&threads[i], in_a_thread, NULL) == 0);
  for (i = 0; i < LOOPS; i++) CHECK(uv_thread_join(&threads[i]) == 0);
  uv_barrier_destroy(&barrier);
  CHECK(action_of(SIGUSR1) == SIG_DFL && action_of(SIGUSR2) == SIG_DFL);
}

static void end_profile(uv_signal_t* handle, int signum) {
  CHECK(signum == SIGPROF);
  if (++counted == 3) uv_close((uv_handle_t*) handle, NULL);
}

static void burn(uv_idle_t* idle) {
  (void) idle;
  if (counted == 3) uv_close((uv_handle_t*) idle, NULL);
}

/* A signal that the loop blocks while it waits comes when the wait is over. */
static void a_blocked_signal_is_heard_of(void) {
  struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
  uv_loop_t own;
  uv_signal_t handle;
  uv_idle_t idle;
  CHECK(uv_loop_init(&own) == 0);
  CHECK(uv_loop_configure(&own, UV_LOOP_BLOCK_SIGNAL, SIGPROF) == 0);
  CHECK(uv_signal_init(&own, &handle) == 0 && uv_idle_init(&own, &idle) == 0);
  CHECK(uv_signal_start(&handle, end_profile, SIGPROF) == 0);
  CHECK(uv_idle_start(&idle, burn) == 0);
  counted = 0;
  CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
  CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0);
  CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
  CHECK(counted == 3);
  CHECK(uv_loop_close(&own) == 0);
}

int main(void) {
  CHECK(uv_loop_init(&loop) == 0);
#ifndef __SANITIZE_THREAD__ /* it delivers signals later, and several as one */
  each_signal_is_a_call_for_each_who_waits_for_it();
#ifndef __SANITIZE_THREAD__ /* It makes one of several that come at once. */
  real_time_signals_are_caught_as_often_as_they_were_sent();
#endif
  none_is_lost_however_many_come();
  none_is_lost_while_the_loop_is_held_up();
  what_cannot_be_caught_is_refused();
  the_action_from_before_is_put_back();
  what_is_stopped_hears_no_more_of_what_was_caught();
  once_is_once_whatever_its_callback_does();
  a_handle_may_be_gone_after_its_callback();
  many_come_and_the_first_call_closes_all();
  a_signal_just_before_the_wait_ends_it();
  signals_are_the_last_of_a_batch();
  an_unreferenced_handle_keeps_no_loop_alive();
  signals_need_no_descriptors();
#endif
  loops_of_many_threads_hear_of_all();
#ifndef __SANITIZE_THREAD__
  a_blocked_signal_is_heard_of();
#endif
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

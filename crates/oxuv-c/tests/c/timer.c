/* Timers, the handles that run in each turn, and the loop's modes. */
#include "check.h"

static uv_loop_t loop;
static char order[64];

static void note(char what) {
  size_t length = strlen(order);
  CHECK(length + 1 < sizeof(order));
  order[length] = what;
}

static void take_order(const char* expected) {
  if (strcmp(order, expected) != 0) {
    fprintf(stderr, "order %s, expected %s\n", order, expected);
    exit(1);
  }
  memset(order, 0, sizeof(order));
}

static void note_timer(uv_timer_t* timer) { note(*(char*) timer->data); }
static void note_other(uv_timer_t* timer) { (void) timer; note('o'); }
static void note_idle(uv_idle_t* idle) { (void) idle; note('i'); }
static void note_prepare(uv_prepare_t* prepare) { (void) prepare; note('p'); }
static void note_check(uv_check_t* check) { (void) check; note('c'); }
static void note_other_check(uv_check_t* check) { (void) check; note('o'); }

static void run(uv_run_mode mode, int alive) { CHECK(uv_run(&loop, mode) == alive); }

static void close_all(uv_timer_t* timers, int count) {
  while (count-- > 0) uv_close((uv_handle_t*) &timers[count], NULL);
  run(UV_RUN_DEFAULT, 0);
}

static void timers_run_in_the_order_of_their_times(void) {
  uv_timer_t timers[3];
  char names[] = "abc";
  int delays[] = {12, 3, 3};
  uint64_t begin;
  int i;
  memset(timers, 0xff, sizeof(timers));
  uv_update_time(&loop);
  begin = uv_now(&loop);
  for (i = 0; i < 3; i++) {
    timers[i].data = &names[i];
    CHECK(uv_timer_init(&loop, &timers[i]) == 0);
    CHECK(timers[i].data == &names[i]); /* left alone */
    CHECK(timers[i].loop == &loop);
    CHECK(timers[i].type == UV_TIMER);
    CHECK(!uv_is_active((uv_handle_t*) &timers[i]) && !uv_is_closing((uv_handle_t*) &timers[i]));
    CHECK(uv_timer_get_repeat(&timers[i]) == 0);
    CHECK(uv_timer_again(&timers[i]) == UV_EINVAL); /* never started */
    CHECK(uv_timer_start(&timers[i], NULL, 1, 0) == UV_EINVAL);
    CHECK(uv_timer_start(&timers[i], note_timer, delays[i], 0) == 0);
    CHECK(uv_is_active((uv_handle_t*) &timers[i]));
  }
  CHECK(uv_loop_alive(&loop));
  run(UV_RUN_DEFAULT, 0);
  take_order("bca");
  CHECK(uv_now(&loop) - begin >= 12 && uv_now(&loop) - begin < 1000);
  CHECK(uv_loop_close(&loop) == UV_EBUSY); /* stopped timers are handles, too */

  CHECK(uv_timer_start(&timers[0], note_timer, 1, 0) == 0);
  CHECK(uv_timer_start(&timers[0], note_other, 1, 0) == 0); /* replaces it */
  run(UV_RUN_DEFAULT, 0);
  take_order("o");
  uv_close((uv_handle_t*) &timers[0], NULL);
  CHECK(uv_is_closing((uv_handle_t*) &timers[0]));
  CHECK(uv_timer_start(&timers[0], note_timer, 1, 0) == UV_EINVAL);
  run(UV_RUN_DEFAULT, 0);
  CHECK(uv_is_closing((uv_handle_t*) &timers[0])); /* for ever */
  CHECK(!uv_is_active((uv_handle_t*) &timers[0]));
  CHECK(uv_timer_stop(&timers[0]) == 0);
  close_all(timers + 1, 2);
}

static int repeats;

static void stop_at_third(uv_timer_t* timer) {
  CHECK(uv_is_active((uv_handle_t*) timer)); /* started anew by now */
  if (++repeats == 3) CHECK(uv_timer_stop(timer) == 0);
}

static void a_repeat_is_kept_exactly(void) {
  uv_timer_t timer;
  const uint64_t huge[] = {1, 0, UINT64_MAX, UINT64_MAX / 1000, 18446744073709ULL};
  size_t i;
  memset(&timer, 0xff, sizeof(timer));
  CHECK(uv_timer_init(&loop, &timer) == 0);
  for (i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
    CHECK(uv_timer_start(&timer, note_other, UINT64_MAX, huge[i]) == 0);
    CHECK(uv_timer_get_repeat(&timer) == huge[i]);
    uv_timer_set_repeat(&timer, huge[i] - 1);
    CHECK(uv_timer_get_repeat(&timer) == huge[i] - 1);
    CHECK(uv_timer_again(&timer) == 0);
  }
  run(UV_RUN_NOWAIT, 1); /* none of them ever comes */
  take_order("");

  CHECK(uv_timer_start(&timer, stop_at_third, 0, 1) == 0);
  run(UV_RUN_DEFAULT, 0);
  CHECK(repeats == 3);
  CHECK(uv_timer_again(&timer) == 0); /* still knows its repeat */
  CHECK(uv_is_active((uv_handle_t*) &timer));
  close_all(&timer, 1);
}

static void watchers_run_in_each_turn(void) {
  uv_idle_t idle;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_timer_t timer;
  char name = 't';
  memset(&idle, 0xff, sizeof(idle));
  memset(&prepare, 0xff, sizeof(prepare));
  memset(&check, 0xff, sizeof(check));
  CHECK(uv_idle_init(&loop, &idle) == 0 && idle.type == UV_IDLE);
  CHECK(uv_prepare_init(&loop, &prepare) == 0 && prepare.type == UV_PREPARE);
  CHECK(uv_check_init(&loop, &check) == 0 && check.type == UV_CHECK);
  CHECK(uv_idle_start(&idle, NULL) == UV_EINVAL);
  CHECK(uv_prepare_start(&prepare, NULL) == UV_EINVAL);
  CHECK(uv_check_start(&check, NULL) == UV_EINVAL);
  CHECK(uv_idle_start(&idle, note_idle) == 0);
  CHECK(uv_prepare_start(&prepare, note_prepare) == 0);
  CHECK(uv_check_start(&check, note_check) == 0);
  /* It is active: nothing changes, not even the callback. */
  CHECK(uv_check_start(&check, note_other_check) == 0);
  CHECK(uv_check_start(&check, NULL) == 0);
  CHECK(uv_timer_init(&loop, &timer) == 0);
  timer.data = &name;
  CHECK(uv_timer_start(&timer, note_timer, 0, 0) == 0);
  run(UV_RUN_NOWAIT, 1);
  take_order("ipct"); /* one turn has its timers last */
  run(UV_RUN_ONCE, 1);
  take_order("ipc");
  CHECK(uv_timer_start(&timer, note_timer, 0, 0) == 0);
  uv_stop(&loop);
  run(UV_RUN_DEFAULT, 1);
  take_order(""); /* stopped before it began */
  CHECK(uv_idle_stop(&idle) == 0 && uv_idle_stop(&idle) == 0);
  CHECK(uv_prepare_stop(&prepare) == 0);
  CHECK(uv_check_stop(&check) == 0);
  CHECK(uv_timer_stop(&timer) == 0);
  CHECK(!uv_loop_alive(&loop));
  run(UV_RUN_ONCE, 0);
  take_order("");
  uv_close((uv_handle_t*) &idle, NULL);
  uv_close((uv_handle_t*) &prepare, NULL);
  uv_close((uv_handle_t*) &check, NULL);
  close_all(&timer, 1);
}

static void errors_have_names(void) {
  struct sockaddr_in address;
  CHECK(strcmp(uv_err_name(UV_EOF), "EOF") == 0);
  CHECK(strcmp(uv_strerror(UV_EOF), "end of file") == 0);
  CHECK(strcmp(uv_strerror(UV_EADDRINUSE), "address already in use") == 0);
  CHECK(strcmp(uv_strerror(-2999), "Unknown system error -2999") == 0);
  CHECK(strcmp(uv_err_name(1), "Unknown system error 1") == 0);
  CHECK(uv_strerror(UV_EINVAL) == uv_strerror(UV_EINVAL));
  CHECK(uv_ip4_addr("127.0.0.1", 80, &address) == 0);
  CHECK(address.sin_family == AF_INET && address.sin_port == htons(80));
  CHECK(address.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  CHECK(uv_ip4_addr("127.0.0.256", 80, &address) == UV_EINVAL);
  CHECK(uv_ip4_addr("127.0.0", 80, &address) == UV_EINVAL);
  CHECK(uv_ip4_addr("", 80, &address) == UV_EINVAL);
}

int main(void) {
  uv_handle_t zero;
  memset(&zero, 0, sizeof(zero));
  CHECK(!uv_is_active(&zero) && !uv_is_closing(&zero));
  memset(&loop, 0xff, sizeof(loop));
  loop.data = &loop;
  CHECK(uv_loop_init(&loop) == 0);
  CHECK(!uv_loop_alive(&loop));
  run(UV_RUN_DEFAULT, 0);
  timers_run_in_the_order_of_their_times();
  a_repeat_is_kept_exactly();
  watchers_run_in_each_turn();
  errors_have_names();
  CHECK(uv_loop_close(&loop) == 0);
  CHECK(loop.data == &loop);
  puts("ok");
  return 0;
}

/* Callbacks left by longjmp: the loop can be run again, and nothing is lost. */
#include "check.h"

#include <setjmp.h>

static uv_loop_t loop;
static jmp_buf back;
static int jumps;
static int calls;

static void jump(void) {
  jumps++;
  longjmp(back, jumps);
}

static void on_timer(uv_timer_t* timer) {
  (void) timer;
  calls++;
  jump();
}

static void on_idle(uv_idle_t* idle) {
  CHECK(uv_idle_stop(idle) == 0);
  calls++;
  jump();
}

static void on_close(uv_handle_t* handle) {
  (void) handle;
  calls++;
  jump();
}

int main(void) {
  static uv_timer_t timers[3];
  static uv_idle_t idle;
  int i;
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < 3; i++) {
    CHECK(uv_timer_init(&loop, &timers[i]) == 0);
    CHECK(uv_timer_start(&timers[i], on_timer, 0, 0) == 0);
  }
  CHECK(uv_idle_init(&loop, &idle) == 0);
  CHECK(uv_idle_start(&idle, on_idle) == 0);
  if (setjmp(back) < 4) CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(jumps == 4 && calls == 4);
  for (i = 0; i < 3; i++) uv_close((uv_handle_t*) &timers[i], on_close);
  uv_close((uv_handle_t*) &idle, on_close);
  CHECK(uv_loop_close(&loop) == UV_EBUSY);
  if (setjmp(back) < 8) CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(jumps == 8 && calls == 8);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

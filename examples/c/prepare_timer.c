/* A prepare handle runs in each turn of the loop, before it waits. A repeating timer ends the wait, and so there is a
 * turn for each time it fires.
 *
 *     cc prepare_timer.c -o prepare_timer $(pkg-config --cflags --libs libuv) && ./prepare_timer
 */
#include <stdio.h>
#include <uv.h>

static uv_prepare_t prepare;
static uv_timer_t timer;

static void on_prepare(uv_prepare_t* handle) {
  (void) handle;
  puts("prepare: the loop is about to wait");
}

static void on_timer(uv_timer_t* handle) {
  static int fired = 0;
  printf("timer: %d\n", ++fired);
  if (fired == 3) {
    /* Either of them would keep the loop alive. */
    uv_close((uv_handle_t*) handle, NULL);
    uv_close((uv_handle_t*) &prepare, NULL);
  }
}

int main(void) {
  uv_loop_t loop;
  int error = uv_loop_init(&loop);
  if (error != 0) {
    fprintf(stderr, "no loop: %s\n", uv_strerror(error));
    return 1;
  }
  uv_prepare_init(&loop, &prepare);
  uv_prepare_start(&prepare, on_prepare);
  uv_timer_init(&loop, &timer);
  uv_timer_start(&timer, on_timer, 50, 50); /* in 50 milliseconds, and then every 50 */

  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) == 0 ? 0 : 1;
}

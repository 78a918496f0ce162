/* A timer that fires once. Nothing is left to do then, and the loop ends by itself.
 *
 *     cc timer.c -o timer $(pkg-config --cflags --libs libuv) && ./timer
 */
#include <stdio.h>
#include <uv.h>

static void on_timer(uv_timer_t* timer) {
  printf("%s\n", (const char*) timer->data);
  /* A handle is closed before its memory goes. The loop would end without, since a stopped timer does not keep it
   * alive, but uv_loop_close would say UV_EBUSY. */
  uv_close((uv_handle_t*) timer, NULL);
}

int main(void) {
  uv_loop_t loop;
  uv_timer_t timer;
  int error = uv_loop_init(&loop);
  if (error != 0) {
    fprintf(stderr, "no loop: %s\n", uv_strerror(error));
    return 1;
  }
  uv_timer_init(&loop, &timer);
  timer.data = "a tenth of a second later";
  uv_timer_start(&timer, on_timer, 100, 0); /* in 100 milliseconds, not again */

  uv_run(&loop, UV_RUN_DEFAULT); /* until nothing is active */
  return uv_loop_close(&loop) == 0 ? 0 : 1;
}

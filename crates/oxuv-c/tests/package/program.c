/* Prints the version, after a timer. */
#include <stdio.h>
#include <uv.h>

static void on_timer(uv_timer_t* timer) {
  uv_close((uv_handle_t*) timer, NULL);
}

int main(void) {
  uv_loop_t loop;
  uv_timer_t timer;
  if (uv_loop_init(&loop) || uv_timer_init(&loop, &timer)) return 1;
  if (uv_timer_start(&timer, on_timer, 1, 0) || uv_run(&loop, UV_RUN_DEFAULT)) return 1;
  if (uv_loop_close(&loop) || uv_version() != (1 << 16 | 53 << 8)) return 1;
  puts(uv_version_string());
  return 0;
}

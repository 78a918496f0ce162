/* What uv_print_all_handles and uv_print_active_handles print. */
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static uv_loop_t loop;
static char expected[4096];

static void expect(const char* flags, const char* name, const void* handle) {
  size_t length = strlen(expected);
  snprintf(expected + length, sizeof(expected) - length, "%s %-8s %p\n", flags, name, handle);
}

static void compare(FILE* printed) {
  char text[4096];
  size_t length;
  CHECK(fflush(printed) == 0 && fseek(printed, 0, SEEK_SET) == 0);
  length = fread(text, 1, sizeof(text) - 1, printed);
  text[length] = 0;
  if (strcmp(text, expected) != 0) {
    fprintf(stderr, "printed:\n%sexpected:\n%s", text, expected);
    exit(1);
  }
  CHECK(fclose(printed) == 0);
  expected[0] = 0;
}

static void noop_timer(uv_timer_t* timer) { (void) timer; }

int main(void) {
  uv_timer_t inactive, active, unreferenced;
  uv_async_t async;
  uv_tcp_t tcp;
  uv_check_t closing;
  uv_idle_t other;
  FILE* file;
  int standard;
  memset(&loop, 0xff, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
  file = tmpfile();
  CHECK(file != NULL);
  uv_print_all_handles(&loop, file);
  compare(file); /* nothing */

  CHECK(uv_timer_init(&loop, &inactive) == 0);
  CHECK(uv_timer_init(&loop, &active) == 0 && uv_timer_start(&active, noop_timer, 1, 1) == 0);
  CHECK(uv_timer_init(&loop, &unreferenced) == 0);
  CHECK(uv_timer_start(&unreferenced, noop_timer, 1, 1) == 0);
  uv_unref((uv_handle_t*) &unreferenced);
  CHECK(uv_async_init(&loop, &async, NULL) == 0);
  CHECK(uv_tcp_init(&loop, &tcp) == 0);
  uv_unref((uv_handle_t*) &tcp);
  CHECK(uv_check_init(&loop, &closing) == 0);
  uv_close((uv_handle_t*) &closing, NULL);

  file = tmpfile();
  CHECK(file != NULL);
  fputs("before\n", file);
  uv_print_all_handles(&loop, file);
  strcat(expected, "before\n");
  expect("[R--]", "timer", &inactive);
  expect("[RA-]", "timer", &active);
  expect("[-A-]", "timer", &unreferenced);
  expect("[RA-]", "async", &async);
  expect("[---]", "tcp", &tcp);
  expect("[R--]", "check", &closing);
  compare(file);

  file = tmpfile();
  CHECK(file != NULL);
  uv_print_active_handles(&loop, file);
  expect("[RA-]", "timer", &active);
  expect("[-A-]", "timer", &unreferenced);
  expect("[RA-]", "async", &async);
  compare(file);

  /* No stream is stderr, no loop the default loop. */
  CHECK(uv_idle_init(uv_default_loop(), &other) == 0);
  file = tmpfile();
  CHECK(file != NULL);
  CHECK(fflush(stderr) == 0);
  standard = dup(2);
  CHECK(standard >= 0 && dup2(fileno(file), 2) == 2);
  uv_print_all_handles(NULL, NULL);
  uv_print_active_handles(NULL, NULL);
  uv_print_active_handles(&loop, NULL);
  CHECK(fflush(stderr) == 0 && dup2(standard, 2) == 2 && close(standard) == 0);
  expect("[R--]", "idle", &other);
  expect("[RA-]", "timer", &active);
  expect("[-A-]", "timer", &unreferenced);
  expect("[RA-]", "async", &async);
  compare(file);

  uv_close((uv_handle_t*) &inactive, NULL);
  uv_close((uv_handle_t*) &active, NULL);
  uv_close((uv_handle_t*) &unreferenced, NULL);
  uv_close((uv_handle_t*) &async, NULL);
  uv_close((uv_handle_t*) &tcp, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  file = tmpfile();
  CHECK(file != NULL);
  uv_print_all_handles(&loop, file); /* they are gone */
  compare(file);
  CHECK(uv_loop_close(&loop) == 0);
  uv_close((uv_handle_t*) &other, NULL);
  CHECK(uv_run(uv_default_loop(), UV_RUN_DEFAULT) == 0);
  CHECK(uv_loop_close(uv_default_loop()) == 0);
  puts("ok");
  return 0;
}

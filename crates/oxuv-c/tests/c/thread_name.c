/* The names of threads. */
#define _GNU_SOURCE
#include "check.h"

static uv_sem_t started;
static uv_sem_t may_end;

static void check_name(uv_thread_t thread, const char* expected) {
  char name[64];
  memset(name, 7, sizeof(name));
  CHECK(uv_thread_getname(&thread, name, sizeof(name)) == 0);
  if (strcmp(name, expected) == 0) return;
  fprintf(stderr, "named %s, expected %s\n", name, expected);
  exit(1);
}

static void name_itself(void* arg) {
  CHECK(uv_thread_setname(arg) == 0);
  uv_sem_post(&started);
  uv_sem_wait(&may_end);
}

static void a_name_is_read_back(const char* name, const char* expected) {
  CHECK(uv_thread_setname(name) == 0);
  check_name(uv_thread_self(), expected);
}

static void a_name_fits_where_it_is_put(void) {
  uv_thread_t self = uv_thread_self();
  char name[8];
  CHECK(uv_thread_setname("abcdefghijkl") == 0);
  memset(name, 7, sizeof(name));
  CHECK(uv_thread_getname(&self, name, 1) == 0);
  CHECK(name[0] == 0 && name[1] == 7);
  CHECK(uv_thread_getname(&self, name, 5) == 0);
  CHECK(strcmp(name, "abcd") == 0 && name[5] == 7);
  CHECK(uv_thread_getname(&self, name, 0) == UV_EINVAL);
  CHECK(uv_thread_getname(&self, NULL, sizeof(name)) == UV_EINVAL);
  CHECK(uv_thread_setname(NULL) == UV_EINVAL);
  check_name(self, "abcdefghijkl");
}

int main(void) {
  char other_name[] = "the other one";
  char unfinished[15]; /* no zero at its end: what is behind is not looked at */
  uv_thread_t other;
  a_name_is_read_back("short", "short");
  a_name_is_read_back("", "");
  a_name_is_read_back("exactly fifteen", "exactly fifteen");
  a_name_is_read_back("sixteen letters.", "sixteen letters");
  a_name_is_read_back("far more than any system has room for, by all means", "far more than a");
  memset(unfinished, 'x', sizeof(unfinished));
  a_name_is_read_back(unfinished, "xxxxxxxxxxxxxxx");
  a_name_fits_where_it_is_put();

  CHECK(uv_sem_init(&started, 0) == 0);
  CHECK(uv_sem_init(&may_end, 0) == 0);
  CHECK(uv_thread_create(&other, name_itself, other_name) == 0);
  uv_sem_wait(&started);
  check_name(other, other_name);
  check_name(uv_thread_self(), "abcdefghijkl");
  uv_sem_post(&may_end);
  CHECK(uv_thread_join(&other) == 0);
  puts("ok");
  return 0;
}

/* The title of the process, in its own words and in those of /proc. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static void read_file(const char* path, char* buffer, size_t size) {
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  buffer[fread(buffer, 1, size - 1, file)] = '\0';
  fclose(file);
}

/* What ps shows. */
static void check_command_line(const char* expected) {
  char line[4096];
  read_file("/proc/self/cmdline", line, sizeof(line));
  CHECK(strcmp(line, expected) == 0);
}

static void check_title(const char* expected) {
  char buffer[256];
  size_t length = strlen(expected);
  memset(buffer, 'x', sizeof(buffer));
  CHECK(uv_get_process_title(buffer, length + 1) == 0);
  CHECK(strcmp(buffer, expected) == 0 && buffer[length + 1] == 'x');
  if (length > 0) CHECK(uv_get_process_title(buffer, length) == UV_ENOBUFS);
}

static void without_arguments_there_is_no_title(void) {
  char buffer[16];
  char* none[] = {NULL};
  CHECK(uv_setup_args(0, none) == none);
  CHECK(uv_setup_args(-1, none) == none);
  CHECK(uv_setup_args(1, none) == none);
  CHECK(uv_setup_args(1, NULL) == NULL);
  CHECK(uv_get_process_title(buffer, sizeof(buffer)) == UV_ENOBUFS);
  CHECK(uv_get_process_title(buffer, 0) == UV_EINVAL);
  CHECK(uv_get_process_title(NULL, sizeof(buffer)) == UV_EINVAL);
  CHECK(uv_set_process_title("early") == UV_ENOBUFS);
}

static void* set_and_get(void* title) {
  char buffer[64];
  int i;
  for (i = 0; i < 5000; i++) {
    CHECK(uv_set_process_title(title) == 0);
    CHECK(uv_get_process_title(buffer, sizeof(buffer)) == 0);
    /* One or the other, never a mixture. */
    CHECK(strcmp(buffer, "the first one") == 0 || strcmp(buffer, "second") == 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* expected[] = {"a-program", "first argument", "", "third"};
  char room[64], longer[256], comm[64];
  char** copy;
  size_t size;
  pthread_t threads[2];
  int i;
  if (argc != 4) {
    execl(argv[0], expected[0], expected[1], expected[2], expected[3], (char*) NULL);
    return 1;
  }
  without_arguments_there_is_no_title();

  size = (size_t) (argv[3] + strlen(argv[3]) - argv[0]);
  CHECK(size < sizeof(room));
  copy = uv_setup_args(argc, argv);
  CHECK(copy != argv && copy[4] == NULL);
  check_title("a-program");
  CHECK(uv_get_process_title(longer, 0) == UV_EINVAL);
  CHECK(uv_get_process_title(NULL, 1) == UV_EINVAL);

  CHECK(uv_set_process_title(NULL) == UV_EINVAL);
  CHECK(uv_set_process_title("short title") == 0);
  check_title("short title");
  check_command_line("short title");
  CHECK(uv_setup_args(argc, copy) == copy); /* once is enough */
  CHECK(uv_set_process_title("still there") == 0);
  check_command_line("still there");
  read_file("/proc/self/comm", comm, sizeof(comm));
  CHECK(strcmp(comm, "still there\n") == 0);

  /* What is too long is cut to the room that the arguments took. */
  memset(longer, 'l', sizeof(longer));
  longer[sizeof(longer) - 1] = '\0';
  CHECK(uv_set_process_title(longer) == 0);
  longer[size] = '\0';
  check_title(longer);
  CHECK(uv_set_process_title("") == 0);
  check_title("");
  for (i = 0; i < 4; i++) CHECK(strcmp(copy[i], expected[i]) == 0);

  CHECK(uv_set_process_title("second") == 0);
  CHECK(pthread_create(&threads[0], NULL, set_and_get, "the first one") == 0);
  CHECK(pthread_create(&threads[1], NULL, set_and_get, "second") == 0);
  for (i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);

  { /* Arguments of the program's own making need not lie side by side; memory between them is not the title's. */
    char apart[] = "own\0kept\0other";
    char* own[] = {apart, apart + 9, NULL};
    uv_library_shutdown(); /* what it copied before is not used any more */
    copy = uv_setup_args(2, own);
    CHECK(strcmp(copy[0], "own") == 0 && strcmp(copy[1], "other") == 0 && copy[2] == NULL);
    check_title("own");
    CHECK(uv_set_process_title("longer") == 0);
    check_title("lon");
    CHECK(memcmp(apart, "lon\0kept\0other", sizeof(apart)) == 0);
    uv_library_shutdown();
    uv_library_shutdown();
    CHECK(uv_get_process_title(room, sizeof(room)) == UV_ENOBUFS);
    CHECK(uv_set_process_title("late") == UV_ENOBUFS && strcmp(apart, "lon") == 0);
  }
  puts("ok");
  return 0;
}

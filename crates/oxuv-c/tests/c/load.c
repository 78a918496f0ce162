/* Not linked with the library: counts what it holds, and then, given a path, loads it from there and drops it again. */
#include "counts.h"

#include <dlfcn.h>
#include <string.h>
#include <uv.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void* library;

/* Finds a function. ISO C knows no way from a data pointer to that of a function but through memory. */
static void find(const char* name, void* function) {
  void* found = dlsym(library, name);
  CHECK(found != NULL);
  memcpy(function, &found, sizeof(found));
}

static int (*start)(uv_timer_t*, uv_timer_cb, uint64_t, uint64_t);
static void (*close_handle)(uv_handle_t*, uv_close_cb);

static void on_timer(uv_timer_t* timer) { close_handle((uv_handle_t*) timer, NULL); }

static void work(uv_work_t* req) { (void) req; }

/* Runs a loop of its own from beginning to end, and perhaps has something done by a thread. */
static void use(int with_threads) {
  int (*loop_init)(uv_loop_t*);
  int (*loop_close)(uv_loop_t*);
  int (*timer_init)(uv_loop_t*, uv_timer_t*);
  int (*run)(uv_loop_t*, uv_run_mode);
  int (*queue_work)(uv_loop_t*, uv_work_t*, uv_work_cb, uv_after_work_cb);
  uv_loop_t loop;
  uv_timer_t timer;
  uv_work_t req;
  find("uv_loop_init", &loop_init);
  find("uv_loop_close", &loop_close);
  find("uv_timer_init", &timer_init);
  find("uv_timer_start", &start);
  find("uv_run", &run);
  find("uv_queue_work", &queue_work);
  find("uv_close", &close_handle);
  CHECK(loop_init(&loop) == 0 && timer_init(&loop, &timer) == 0);
  if (with_threads) CHECK(queue_work(&loop, &req, work, NULL) == 0);
  CHECK(start(&timer, on_timer, 0, 0) == 0 && run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(loop_close(&loop) == 0);
}

static void load(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
}

int main(int argc, char** argv) {
  int threads = count_threads(), descriptors = count_descriptors(), mappings = 0, i;
  print_counts();
  for (i = 0; argc > 1 && i < 100; i++) {
    load(argv[1]);
    CHECK(count_threads() == threads && count_descriptors() == descriptors);
    if (i % 2 == 1) use(0);
    CHECK(dlclose(library) == 0);
    CHECK(count_threads() == threads && count_descriptors() == descriptors);
    /* The first rounds may bring what stays: the heap, the loader's own. */
    if (i == 10) mappings = count_mappings();
    if (i > 10) CHECK(count_mappings() == mappings);
  }
  /* Once there are threads, which run its code, it stays, and they do. Memory of their own is the C library's to give. */
  for (i = 0; argc > 1 && i < 20; i++) {
    load(argv[1]);
    use(1);
    CHECK(dlclose(library) == 0);
    if (i == 0) threads = count_threads();
    CHECK(count_threads() == threads);
  }
  CHECK(threads > 1 || argc == 1);
  return 0;
}

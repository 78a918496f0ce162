/* A child shares its parent's memory until it runs its program: it does not cost what that memory would (libuv#2133), and needs no
 * descriptor to tell of its failure.
 *
 * not under valgrind: there a child has memory of its own. */
#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SIZE = 256 << 20, PAGE = 4096 };

static long faults(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_minflt;
}

/* Before any other child of the process: the first one is made with more care. */
static void the_first_child_needs_no_free_descriptor(void) {
  static uv_process_t process;
  struct rlimit before, none;
  int next;
  COMMAND(options, "sh", "-c", "exit 9");
  COMMAND(missing, "/no/such/program");
  CHECK(uv_loop_init(&loop) == 0);
  next = dup(0);
  close(next);
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = (rlim_t) next;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0 && dup(0) == -1 && errno == EMFILE);
  CHECK(uv_spawn(&loop, &process, &missing) == UV_ENOENT);
  exits = 0;
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  run_dry();
  CHECK(exits == 1 && last_status == 9);
  uv_close((uv_handle_t*) &process, NULL);
  run_dry();
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(uv_loop_close(&loop) == 0);
}

static void a_child_costs_no_copy_of_its_parents_memory(void) {
  char* memory = (char*) mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long before, i, nth;
  static uv_process_t process;
  COMMAND(options, "true");
  CHECK(memory != MAP_FAILED && madvise(memory, SIZE, MADV_NOHUGEPAGE) == 0);
  memset(memory, 1, SIZE);
  CHECK(uv_loop_init(&loop) == 0);
  for (i = 0; i < 6; i++) {
    CHECK(uv_spawn(&loop, &process, &options) == 0);
    /* Pages that a child has had a copy of, if only for a moment, cost a fault each when they are written to. */
    before = faults();
    for (nth = 0; nth < SIZE; nth += PAGE) memory[nth]++;
    CHECK(faults() - before < SIZE / PAGE / 10);
    exits = 0;
    run_dry();
    CHECK(exits == 1 && last_status == 0);
    uv_close((uv_handle_t*) &process, NULL);
    run_dry();
  }
  CHECK(uv_loop_close(&loop) == 0);
}

int main(void) {
  the_first_child_needs_no_free_descriptor();
  a_child_costs_no_copy_of_its_parents_memory();
  puts("ok");
  return 0;
}

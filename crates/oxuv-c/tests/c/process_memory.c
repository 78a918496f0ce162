/* libuv#2133: a child does not cost what its parent's memory would.
 *
 * not under valgrind: there a child has memory of its own. */
#define _GNU_SOURCE
#include "processes.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { SIZE = 256 << 20, PAGE = 4096 };

static long faults(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_minflt;
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
  a_child_costs_no_copy_of_its_parents_memory();
  puts("ok");
  return 0;
}

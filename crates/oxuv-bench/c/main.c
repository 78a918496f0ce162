/* PROGRAM WORKLOAD HANDLES OPERATIONS: runs the workload, then prints the nanoseconds of CPU time it took. */

#include "bench.h"

#include <string.h>

static long long measured;

static long long cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void timed_section(void (*part)(void)) {
  long long start = cpu_time();

  part();
  measured += cpu_time() - start;
}

int main(int argc, char **argv) {
  const struct entry *entry;

  for (entry = workloads; argc == 4 && entry->name != NULL; entry++) {
    if (strcmp(argv[1], entry->name) == 0) {
      entry->run(atol(argv[2]), atol(argv[3]));
      printf("%lld\n", measured);
      return 0;
    }
  }
  fprintf(stderr, "usage: %s WORKLOAD HANDLES OPERATIONS\n", argv[0]);
  return 2;
}

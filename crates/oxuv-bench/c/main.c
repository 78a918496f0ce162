/* PROGRAM WORKLOAD OPERATIONS: runs the workload, then prints the nanoseconds of CPU time it took. */

#include "bench.h"

#include <string.h>

static long long cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
  const struct entry *entry;

  for (entry = workloads; argc == 3 && entry->name != NULL; entry++) {
    if (strcmp(argv[1], entry->name) == 0) {
      long long start = cpu_time();
      entry->run(atol(argv[2]));
      printf("%lld\n", cpu_time() - start);
      return 0;
    }
  }
  fprintf(stderr, "usage: %s WORKLOAD OPERATIONS\n", argv[0]);
  return 2;
}

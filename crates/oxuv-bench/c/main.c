/* PROGRAM WORKLOAD HANDLES OPERATIONS: runs the workload, then prints the nanoseconds that it took, of CPU time and of time. */

#include "bench.h"

#include <string.h>

static long long measured_cpu;
static long long measured;

static long long time_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void timed_section(void (*part)(void)) {
  long long start = time_of(CLOCK_MONOTONIC);
  long long start_cpu = time_of(CLOCK_PROCESS_CPUTIME_ID);

  part();
  measured_cpu += time_of(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
  measured += time_of(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv) {
  const struct entry *entry;

  for (entry = workloads; argc == 4 && entry->name != NULL; entry++) {
    if (strcmp(argv[1], entry->name) == 0) {
      entry->run(atol(argv[2]), atol(argv[3]));
      printf("%lld %lld\n", measured_cpu, measured);
      return 0;
    }
  }
  fprintf(stderr, "usage: %s WORKLOAD HANDLES OPERATIONS\n", argv[0]);
  return 2;
}

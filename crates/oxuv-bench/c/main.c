/* PROGRAM WORKLOAD HANDLES OPERATIONS: runs the workload, then prints the nanoseconds that it took, of CPU time and of time,
   and the most memory that it had, in bytes. */

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

/* That of this program alone: what getrusage tells is at least what the parent had. */
static long peak_memory(void) {
  char line[256];
  long kilobytes = -1;
  FILE *status = fopen("/proc/self/status", "r");

  CHECK(status == NULL ? -1 : 0);
  while (kilobytes < 0 && fgets(line, sizeof line, status) != NULL)
    sscanf(line, "VmHWM: %ld", &kilobytes);
  fclose(status);
  CHECK(kilobytes);
  return kilobytes * 1024;
}

int main(int argc, char **argv) {
  const struct entry *entry;

  for (entry = workloads; argc == 4 && entry->name != NULL; entry++) {
    if (strcmp(argv[1], entry->name) == 0) {
      entry->run(atol(argv[2]), atol(argv[3]));
      printf("%lld %lld %ld\n", measured_cpu, measured, peak_memory());
      return 0;
    }
  }
  fprintf(stderr, "usage: %s WORKLOAD HANDLES OPERATIONS\n", argv[0]);
  return 2;
}

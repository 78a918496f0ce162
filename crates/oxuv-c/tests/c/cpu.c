/* Processors, beside /proc and the affinity mask. */
#define _GNU_SOURCE
#include "check.h"

#include <ctype.h>
#include <sched.h>

/* The times of one processor as /proc/stat has them: user, nice, system, idle, (waiting), interrupts. */
static int stat_line(int nth, unsigned long long* times) {
  FILE* file = fopen("/proc/stat", "r");
  char line[1024];
  int found = 0;
  CHECK(file != NULL);
  while (!found && fgets(line, sizeof(line), file) != NULL)
    if (isdigit(line[3]) &&
        sscanf(line, "cpu%*u %llu %llu %llu %llu %llu %llu", &times[0], &times[1], &times[2], &times[3], &times[4],
               &times[5]) == 6)
      found = nth-- == 0;
  fclose(file);
  return found;
}

static void processors_are_those_of_proc(void) {
  unsigned long long before[6], after[6];
  uv_cpu_info_t* cpus;
  int count, i;
  CHECK(uv_cpu_info(NULL, &count) == UV_EINVAL);
  CHECK(uv_cpu_info(&cpus, NULL) == UV_EINVAL);
  CHECK(stat_line(0, before));
  CHECK(uv_cpu_info(&cpus, &count) == 0);
  CHECK(count > 0 && cpus != NULL);
  CHECK(stat_line(count - 1, after) && !stat_line(count, after));
  CHECK(stat_line(0, after));
  CHECK(cpus[0].cpu_times.user >= before[0] * 10 && cpus[0].cpu_times.user <= after[0] * 10);
  CHECK(cpus[0].cpu_times.nice >= before[1] * 10 && cpus[0].cpu_times.nice <= after[1] * 10);
  CHECK(cpus[0].cpu_times.sys >= before[2] * 10 && cpus[0].cpu_times.sys <= after[2] * 10);
  CHECK(cpus[0].cpu_times.irq >= before[5] * 10 && cpus[0].cpu_times.irq <= after[5] * 10);
  for (i = 0; i < count; i++) {
    CHECK(cpus[i].model != NULL && cpus[i].model[0] != '\0' && strchr(cpus[i].model, '\n') == NULL);
    CHECK(cpus[i].speed >= 0);
  }
  uv_free_cpu_info(cpus, count);
  uv_free_cpu_info(NULL, 0);
}

#if defined(__x86_64__) || defined(__i386__)
static void models_are_those_of_proc(void) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  char line[4096], model[256];
  uv_cpu_info_t* cpus;
  int count, found = 0;
  if (file == NULL) return;
  CHECK(uv_cpu_info(&cpus, &count) == 0);
  while (!found && fgets(line, sizeof(line), file) != NULL)
    found = sscanf(line, "model name : %255[^\n]", model) == 1;
  fclose(file);
  CHECK(strncmp(cpus[0].model, found ? model : "unknown", strlen(cpus[0].model)) == 0);
  uv_free_cpu_info(cpus, count);
}
#endif

static void a_program_is_as_parallel_as_it_may_be(void) {
  unsigned int parallelism = uv_available_parallelism();
  cpu_set_t allowed, one;
  int cpu = 0;
  CHECK(parallelism >= 1);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  CHECK(parallelism <= (unsigned int) CPU_COUNT(&allowed));
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(uv_available_parallelism() == 1);
}

int main(void) {
  processors_are_those_of_proc();
#if defined(__x86_64__) || defined(__i386__)
  models_are_those_of_proc();
#endif
  a_program_is_as_parallel_as_it_may_be();
  puts("ok");
  return 0;
}

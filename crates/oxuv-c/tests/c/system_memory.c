/* Memory, time and load, beside what /proc and the C library say. */
/* not under ASan: it limits the memory of the process, and ASan needs more. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>

#define MIB (1024 * 1024)

static int proc_numbers(const char* path, double* numbers, int count) {
  FILE* file = fopen(path, "r");
  int found = 0;
  if (file == NULL) return 0;
  while (found < count && fscanf(file, "%lf", &numbers[found]) == 1) found++;
  fclose(file);
  return found;
}

/* In bytes, 0 if there is no such field. */
static uint64_t meminfo(const char* field) {
  FILE* file = fopen("/proc/meminfo", "r");
  char name[64];
  unsigned long long kib;
  uint64_t found = 0;
  if (file == NULL) return 0;
  while (fscanf(file, "%63s %llu%*[^\n]", name, &kib) == 2)
    if (strcmp(name, field) == 0) found = kib * 1024;
  fclose(file);
  return found;
}

static void resident_memory_grows_with_what_is_touched(void) {
  size_t before, after;
  double pages[2];
  char* memory;
  CHECK(uv_resident_set_memory(NULL) == UV_EINVAL);
  CHECK(uv_resident_set_memory(&before) == 0);
  if (proc_numbers("/proc/self/statm", pages, 2) == 2) {
    double statm = pages[1] * sysconf(_SC_PAGESIZE);
    CHECK(before > statm / 2 && before < statm * 2);
  }
  memory = malloc(64 * MIB);
  CHECK(memory != NULL);
  memset(memory, 1, 64 * MIB);
  CHECK(uv_resident_set_memory(&after) == 0);
  CHECK(memory[12345] == 1);
  /* Some of it may have been swapped out at once. */
  CHECK(after > before + 16 * MIB);
  free(memory);
}

static void total_and_free_memory_are_those_of_proc(void) {
  uint64_t said = meminfo("MemTotal:"), total = uv_get_total_memory(), amount = uv_get_free_memory();
  CHECK(total > 0);
  if (said > 0) CHECK(total == said);
  CHECK(amount > 0 && amount <= total);
  said = meminfo("MemAvailable:");
  /* Others take and give back meanwhile. */
  if (said > 0) CHECK(amount > said / 4 && amount / 4 < said);
  CHECK(uv_get_available_memory() <= total);
}

static void limit(int resource, rlim_t bytes) {
  struct rlimit limit;
  CHECK(getrlimit(resource, &limit) == 0);
  limit.rlim_cur = bytes;
  CHECK(setrlimit(resource, &limit) == 0);
}

static void limits_of_the_process_constrain_it(void) {
  uint64_t before = uv_get_constrained_memory();
  const uint64_t larger = (uint64_t) 1 << 46, smaller = (uint64_t) 1024 * MIB;
  CHECK(before == 0 || before > 16 * MIB);
  limit(RLIMIT_AS, larger);
  CHECK(uv_get_constrained_memory() == (before > 0 && before < larger ? before : larger));
  limit(RLIMIT_DATA, smaller);
  CHECK(uv_get_constrained_memory() == (before > 0 && before < smaller ? before : smaller));
}

static void time_since_start_is_that_of_proc(void) {
  double before, uptime, after;
  CHECK(uv_uptime(NULL) == UV_EINVAL);
  CHECK(proc_numbers("/proc/uptime", &before, 1) == 0 || before > 0);
  CHECK(uv_uptime(&uptime) == 0);
  CHECK(uptime > 0);
  if (proc_numbers("/proc/uptime", &after, 1) == 1) CHECK(before <= uptime && uptime <= after);
}

static void load_is_that_of_the_c_library(void) {
  double ours[3], theirs[3];
  int i, tries;
  /* It changes every few seconds. */
  for (tries = 0; tries < 10; tries++) {
    int same = 0;
    uv_loadavg(ours);
    CHECK(getloadavg(theirs, 3) == 3);
    for (i = 0; i < 3; i++) same += ours[i] - theirs[i] < 0.01 && theirs[i] - ours[i] < 0.01;
    if (same == 3) break;
  }
  CHECK(tries < 10);
}

int main(void) {
  resident_memory_grows_with_what_is_touched();
  total_and_free_memory_are_those_of_proc();
  time_since_start_is_that_of_proc();
  load_is_that_of_the_c_library();
  limits_of_the_process_constrain_it();
  puts("ok");
  return 0;
}

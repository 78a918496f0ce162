/* What the C contestants share. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                        \
  do {                                                                     \
    int code_ = (int) (call);                                              \
    if (code_ < 0) {                                                       \
      fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_); \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

/* Of listening sockets: there is room for all clients of a workload. */
#define BACKLOG 4096

/* Runs the part of a workload that is measured: its CPU time is added up, its instructions are counted. */
void timed_section(void (*part)(void));

/* Runs a workload that has so many handles. It calls timed_section, any number of times. */
typedef void (*workload)(long handles, long operations);

struct entry {
  const char *name;
  workload run;
};

/* Ends with a row of zeros. */
extern const struct entry workloads[];

/* Pseudo-random and always the same. */
static inline unsigned next_random(void) {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

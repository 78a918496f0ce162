/* What the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* Memory for a handle or request, as dirty as it may come. */
static inline void* dirty(size_t size) {
  void* memory = malloc(size);
  CHECK(memory != NULL);
  return memset(memory, 0xff, size);
}

/* A close callback. */
static inline void free_handle(uv_handle_t* handle) {
  memset(handle, 0xdb, sizeof(*handle));
  free(handle);
}

#endif

/* An allocator that fails when it is told to, and counts what it has given. */
#ifndef FAILING_H
#define FAILING_H

#include "check.h"

static int left_until_failure = 1 << 30, failed, blocks;

static int fails(void) {
  if (left_until_failure-- > 0) return 0;
  failed = 1;
  return 1;
}

static void* short_malloc(size_t size) {
  if (fails()) return NULL;
  __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
  return malloc(size);
}

static void* short_calloc(size_t count, size_t size) {
  if (fails()) return NULL;
  __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
  return calloc(count, size);
}

static void* short_realloc(void* memory, size_t size) {
  if (fails()) return NULL;
  if (memory == NULL) __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
  return realloc(memory, size);
}

static void counting_free(void* memory) {
  if (memory != NULL) __atomic_fetch_sub(&blocks, 1, __ATOMIC_RELAXED);
  free(memory);
}

#endif

/* What a process holds. */
#ifndef COUNTS_H
#define COUNTS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static inline int entries(const char* path) {
  DIR* directory = opendir(path);
  int count = 0;
  if (directory == NULL) abort();
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

static inline int count_threads(void) { return entries("/proc/self/task") - 2; }

/* Without the one that counts. */
static inline int count_descriptors(void) { return entries("/proc/self/fd") - 3; }

static inline int count_mappings(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  int count = 0, byte;
  if (maps == NULL) abort();
  while ((byte = fgetc(maps)) != EOF) count += byte == '\n';
  fclose(maps);
  return count;
}

static inline void print_counts(void) {
  printf("%d threads, %d descriptors\n", count_threads(), count_descriptors());
}

#endif

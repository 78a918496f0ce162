/* Linked with the test program to see what a test leaves behind. LeakSanitizer tells of memory that nobody can reach any more;
 * this tells of blocks, descriptors and threads that are there at the end and were not at the start. It goes by a file in the
 * folder OXUV_LEAKS, named by the process's number. Only the process that is the test itself writes one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                              void (*on_free)(const volatile void*));

enum { MOST = 4096 };

static char was_open[MOST];
static pid_t the_test;
static long blocks;
static int threads;

static void count_malloc(const volatile void* block, size_t size) {
  (void) size;
  if (block != NULL) __atomic_add_fetch(&blocks, 1, __ATOMIC_RELAXED);
}

static void count_free(const volatile void* block) {
  if (block != NULL) __atomic_sub_fetch(&blocks, 1, __ATOMIC_RELAXED);
}

/* Calls `note` with each number in the folder. */
static void each_number(const char* folder, void (*note)(int, FILE*), FILE* file) {
  DIR* directory = opendir(folder);
  struct dirent* entry;
  if (directory == NULL) return;
  while ((entry = readdir(directory)) != NULL) {
    char* end;
    long number = strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == 0 && number != dirfd(directory)) note((int) number, file);
  }
  closedir(directory);
}

static void note_open(int fd, FILE* file) {
  (void) file;
  if (fd < MOST) was_open[fd] = 1;
}

static void tell_open(int fd, FILE* file) {
  char link[64], target[256] = "";
  if (fd == fileno(file) || (fd < MOST && was_open[fd])) return;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  if (readlink(link, target, sizeof(target) - 1) < 0) return;
  fprintf(file, "descriptor %d %s\n", fd, target);
}

/* Workers of the kernel's own, to which a ring has left something, stay for a while. */
static int is_the_kernels(const char* name) { return strncmp(name, "iou-", 4) == 0; }

/* Tells of a thread, if there is a file, and counts it. */
static void tell_thread(int thread, FILE* file) {
  char path[64], name[16] = "";
  FILE* comm;
  if (thread == getpid()) return;
  snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread);
  comm = fopen(path, "re");
  if (comm == NULL) return; /* It has ended by now. */
  if (fgets(name, sizeof(name), comm) == NULL) name[0] = 0;
  fclose(comm);
  name[strcspn(name, "\n")] = 0;
  if (name[0] == 0 || is_the_kernels(name)) return;
  threads++;
  if (file != NULL) fprintf(file, "thread %d %s\n", thread, name);
}

/* A thread that has been joined is in the list for a moment yet, and a new worker of the kernel's has its process's name at first. */
static void wait_for_threads(void) {
  int tries;
  for (tries = 0; tries < 200; tries++) {
    threads = 0;
    each_number("/proc/self/task", tell_thread, NULL);
    if (threads == 0) return;
    usleep(5000);
  }
}

/* Asked by LeakSanitizer before it looks. In the child of a process with threads it would look for ever. */
int __lsan_is_turned_off(void) { return the_test != getpid(); }

/* libuv's runner starts a test as `program test test`, its helpers as `program test helper`. */
__attribute__((constructor)) static void at_start(int argc, char** argv) {
  if (argc != 3 || strcmp(argv[1], argv[2]) != 0 || getenv("OXUV_LEAKS") == NULL) return;
  the_test = getpid();
  each_number("/proc/self/fd", note_open, NULL);
  __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
}

__attribute__((destructor)) static void at_end(void) {
  char path[512];
  long left = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
  FILE* file;
  if (the_test != getpid()) return;
  wait_for_threads();
  snprintf(path, sizeof(path), "%s/%d", getenv("OXUV_LEAKS"), (int) getpid());
  file = fopen(path, "we");
  if (file == NULL) return;
  fprintf(file, "blocks %ld\n", left);
  each_number("/proc/self/fd", tell_open, file);
  each_number("/proc/self/task", tell_thread, file);
  fclose(file);
}

/* Names of the machine and its system; this process among the others. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void names_are_those_of_uname(void) {
  struct utsname expected;
  uv_utsname_t names;
  memset(&names, 0xff, sizeof(names));
  CHECK(uname(&expected) == 0);
  CHECK(uv_os_uname(NULL) == UV_EINVAL);
  CHECK(uv_os_uname(&names) == 0);
  CHECK(strcmp(names.sysname, expected.sysname) == 0);
  CHECK(strcmp(names.release, expected.release) == 0);
  CHECK(strcmp(names.version, expected.version) == 0);
  CHECK(strcmp(names.machine, expected.machine) == 0);
}

static void the_host_has_a_name(void) {
  char expected[256], buffer[UV_MAXHOSTNAMESIZE];
  size_t size = sizeof(buffer), length, none = 0;
  CHECK(gethostname(expected, sizeof(expected)) == 0);
  length = strlen(expected);
  CHECK(uv_os_gethostname(buffer, &size) == 0);
  CHECK(size == length && strcmp(buffer, expected) == 0);
  size = length;
  CHECK(length == 0 || uv_os_gethostname(buffer, &size) == UV_ENOBUFS);
  CHECK(length == 0 || size == length + 1);
  size = length + 1;
  CHECK(uv_os_gethostname(buffer, &size) == 0);
  CHECK(uv_os_gethostname(NULL, &size) == UV_EINVAL);
  CHECK(uv_os_gethostname(buffer, NULL) == UV_EINVAL);
  CHECK(uv_os_gethostname(buffer, &none) == UV_EINVAL);
}

static void processes_have_ids(void) {
  pid_t parent = uv_os_getpid(), child;
  int status;
  CHECK(parent == getpid());
  CHECK(uv_os_getppid() == getppid());
  child = fork();
  if (child == 0) _exit(uv_os_getpid() == getpid() && uv_os_getppid() == parent ? 7 : 1);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(uv_get_osfhandle(5) == 5 && uv_open_osfhandle(5) == 5);
}

static void priority_is_niceness(void) {
  int priority = 99, before;
  errno = 0;
  before = getpriority(PRIO_PROCESS, 0);
  CHECK(errno == 0);
  CHECK(uv_os_getpriority(0, NULL) == UV_EINVAL);
  CHECK(uv_os_getpriority(0, &priority) == 0 && priority == before);
  CHECK(uv_os_getpriority(getpid(), &priority) == 0 && priority == before);
  CHECK(uv_os_getpriority(-1, &priority) == UV_ESRCH);
  CHECK(uv_os_setpriority(-1, 0) == UV_ESRCH);
  CHECK(uv_os_setpriority(0, UV_PRIORITY_LOW + 1) == UV_EINVAL);
  CHECK(uv_os_setpriority(0, UV_PRIORITY_HIGHEST - 1) == UV_EINVAL);
  CHECK(uv_os_setpriority(getpid(), UV_PRIORITY_LOW) == 0);
  CHECK(getpriority(PRIO_PROCESS, 0) == UV_PRIORITY_LOW);
  CHECK(uv_os_getpriority(0, &priority) == 0 && priority == UV_PRIORITY_LOW);
  if (geteuid() != 0) {
    struct rlimit limit;
    int result = uv_os_setpriority(0, UV_PRIORITY_HIGHEST);
    CHECK(getrlimit(RLIMIT_NICE, &limit) == 0);
    CHECK(result == (limit.rlim_cur >= 40 ? 0 : UV_EACCES) || result == 0);
  }
}

static void* use_time(void* unused) {
  uv_rusage_t usage;
  struct rusage expected;
  volatile unsigned long sum = 0;
  unsigned long i;
  do {
    for (i = 0; i < 1000000; i++) sum += i;
    CHECK(uv_getrusage_thread(&usage) == 0);
  } while (usage.ru_utime.tv_sec == 0 && usage.ru_utime.tv_usec < 50000);
  CHECK(getrusage(RUSAGE_THREAD, &expected) == 0);
  CHECK(usage.ru_utime.tv_sec <= expected.ru_utime.tv_sec);
  return unused;
}

static void use_is_counted(void) {
  uv_rusage_t process, thread;
  struct rusage expected;
  pthread_t other;
  int64_t in_process, in_thread;
  CHECK(uv_getrusage(NULL) == UV_EINVAL);
  CHECK(uv_getrusage_thread(NULL) == UV_EINVAL);
  CHECK(pthread_create(&other, NULL, use_time, NULL) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  memset(&process, 0xff, sizeof(process));
  CHECK(uv_getrusage_thread(&thread) == 0);
  CHECK(uv_getrusage(&process) == 0);
  CHECK(getrusage(RUSAGE_SELF, &expected) == 0);
  in_process = (int64_t) process.ru_utime.tv_sec * 1000000 + process.ru_utime.tv_usec;
  in_thread = (int64_t) thread.ru_utime.tv_sec * 1000000 + thread.ru_utime.tv_usec;
  CHECK(in_process >= in_thread + 25000); /* the other thread's */
  CHECK(in_process <= (int64_t) expected.ru_utime.tv_sec * 1000000 + expected.ru_utime.tv_usec);
  CHECK(process.ru_maxrss > 0 && process.ru_maxrss <= (uint64_t) expected.ru_maxrss);
  CHECK(process.ru_minflt > 0 && process.ru_minflt <= (uint64_t) expected.ru_minflt);
  CHECK(process.ru_majflt <= (uint64_t) expected.ru_majflt);
  CHECK(process.ru_nvcsw <= (uint64_t) expected.ru_nvcsw);
  CHECK(process.ru_nivcsw <= (uint64_t) expected.ru_nivcsw);
  CHECK(process.ru_ixrss == 0 && process.ru_nswap == 0 && process.ru_nsignals == 0);
}

int main(void) {
  names_are_those_of_uname();
  the_host_has_a_name();
  processes_have_ids();
  use_is_counted();
  priority_is_niceness(); /* last: it cannot be taken back */
  puts("ok");
  return 0;
}

/* Clocks, sleep, and random bytes. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define MILLISECOND UINT64_C(1000000)

static uint64_t system_now(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return (uint64_t) now.tv_sec * 1000 * MILLISECOND + (uint64_t) now.tv_nsec;
}

static void the_clock_is_the_systems(void) {
  uint64_t before = system_now();
  uint64_t now = uv_hrtime();
  CHECK(before <= now && now <= system_now());
}

static void the_time_of_day_is_the_systems(void) {
  uv_timeval64_t now;
  time_t after, before = time(NULL);
  memset(&now, 0xff, sizeof(now));
  CHECK(uv_gettimeofday(&now) == 0);
  after = time(NULL);
  /* time() may go by a coarser clock, which is behind. */
  CHECK(before <= now.tv_sec && now.tv_sec <= after + 1);
  CHECK(now.tv_usec >= 0 && now.tv_usec < 1000000);
  CHECK(uv_gettimeofday(NULL) == UV_EINVAL);
}

static void clocks_go_by_their_numbers(void) {
#if UV_VERSION_HEX >= 0x012d00 /* 1.45.0 */
  uv_timespec64_t now;
  uint64_t before = system_now(), nanoseconds;
  time_t day = time(NULL);
  memset(&now, 0xff, sizeof(now));
  CHECK(uv_clock_gettime(UV_CLOCK_MONOTONIC, &now) == 0);
  CHECK(now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
  nanoseconds = (uint64_t) now.tv_sec * 1000 * MILLISECOND + (uint64_t) now.tv_nsec;
  CHECK(before <= nanoseconds && nanoseconds <= system_now());
  CHECK(uv_clock_gettime(UV_CLOCK_REALTIME, &now) == 0);
  CHECK(day <= now.tv_sec && now.tv_sec <= time(NULL) + 1);
  CHECK(now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
  CHECK(uv_clock_gettime((uv_clock_id) 2, &now) == UV_EINVAL);
  CHECK(uv_clock_gettime((uv_clock_id) -1, &now) == UV_EINVAL);
  CHECK(uv_clock_gettime(UV_CLOCK_REALTIME, NULL) == UV_EFAULT);
  CHECK(uv_clock_gettime((uv_clock_id) 2, NULL) == UV_EFAULT); /* comes first */
#endif
}

static volatile sig_atomic_t signals;

static void count(int number) {
  (void) number;
  signals = signals + 1;
}

static void a_sleep_is_not_cut_short_by_signals(void) {
  struct sigaction action;
  struct itimerval every = {{0, 2000}, {0, 2000}};
  struct itimerval never = {{0, 0}, {0, 0}};
  uint64_t begin;
  memset(&action, 0, sizeof(action));
  action.sa_handler = count;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
  begin = system_now();
  uv_sleep(50);
  CHECK(system_now() - begin >= 50 * MILLISECOND);
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  CHECK(signals > 0);
  uv_sleep(0);
  begin = system_now();
  uv_sleep(1001); /* more than a second */
  CHECK(system_now() - begin >= 1001 * MILLISECOND);
}

static void never(uv_random_t* req, int status, void* bytes, size_t size) {
  (void) req, (void) status, (void) bytes, (void) size;
  CHECK(0);
}

static void random_bytes_fill_their_buffer(void) {
  static unsigned char bytes[100000];
  size_t i, j;
  CHECK(uv_random(NULL, NULL, bytes, sizeof(bytes) - 1, 0, NULL) == 0);
  CHECK(bytes[sizeof(bytes) - 1] == 0); /* not more than it was told */
  for (i = 0; i + 32 < sizeof(bytes); i += 32) {
    for (j = 0; j < 32 && bytes[i + j] == 0; j++) {}
    CHECK(j < 32);
  }
  CHECK(uv_random(NULL, NULL, bytes, 0, 0, NULL) == 0);
  CHECK(uv_random(NULL, NULL, NULL, 0, 0, NULL) == 0);
  CHECK(uv_random(NULL, NULL, NULL, 1, 0, NULL) == UV_EFAULT);
  CHECK(uv_random(NULL, NULL, bytes, 1, 1, NULL) == UV_EINVAL);
  CHECK(uv_random(NULL, NULL, bytes, (size_t) 1 << 31, 0, NULL) == UV_E2BIG);
  CHECK(uv_random(NULL, NULL, bytes, SIZE_MAX, 1, NULL) == UV_E2BIG); /* comes first */
  CHECK(uv_random(NULL, NULL, bytes, 1, 1, never) == UV_EINVAL);
}

int main(void) {
  the_clock_is_the_systems();
  the_time_of_day_is_the_systems();
  clocks_go_by_their_numbers();
  a_sleep_is_not_cut_short_by_signals();
  random_bytes_fill_their_buffer();
  puts("ok");
  return 0;
}

/* When a file was last read and changed. */
#include "fs.h"

#include <time.h>

static double seconds(uv_timespec_t time) { return (double)time.tv_sec + (double)time.tv_nsec / 1e9; }

/* Whether the file's times are these, up to what a double can say. */
static void has_times(const char* path, double atime, double mtime) {
  CHECK(CALL(uv_fs_lstat, path) == 0);
  CHECK(fabs(seconds(req.statbuf.st_atim) - atime) < 1e-6 && fabs(seconds(req.statbuf.st_mtim) - mtime) < 1e-6);
  CHECK(req.statbuf.st_mtim.tv_nsec >= 0 && req.statbuf.st_mtim.tv_nsec < 1000000000);
  cleaned(0);
}

/* node#32369: times before 1970, behind 2106, and small ones. */
static void times_may_be_anything(void) {
  const double times[] = {0, 1.5, -1, -1.5, 0.000001, -982277236.5, 400497753.25, 1437484800.125, 4294967297.1};
  int file = open("file", O_RDWR | O_CREAT, 0600);
  size_t i, count = sizeof(times) / sizeof(times[0]);
  for (i = 0; i < count; i++) {
    double atime = times[i], mtime = times[(i + 1) % count];
    CHECK(DO(uv_fs_utime, "file", atime, mtime) == 0);
    has_times("file", atime, mtime);
    CHECK(DO(uv_fs_futime, file, mtime, atime) == 0);
    has_times("file", mtime, atime);
    CHECK(DO(uv_fs_lutime, "file", atime, mtime) == 0);
    has_times("file", atime, mtime);
  }
  /* What is beyond all file systems is the nearest they have, and no nonsense. */
  CHECK(DO(uv_fs_utime, "file", 1e300, -1e300) == 0);
  CHECK(CALL(uv_fs_stat, "file") == 0);
  CHECK(req.statbuf.st_atim.tv_sec > 4000000000 && req.statbuf.st_mtim.tv_sec < 0);
  cleaned(0);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

/* libuv#4665. */
static void a_time_may_be_now_or_stay(void) {
  int file = open("file", O_RDWR | O_CREAT, 0600);
  double before = (double)time(NULL) - 1;
  CHECK(DO(uv_fs_utime, "file", 1000.5, 2000.5) == 0);
  CHECK(DO(uv_fs_utime, "file", UV_FS_UTIME_OMIT, UV_FS_UTIME_OMIT) == 0);
  has_times("file", 1000.5, 2000.5);
  CHECK(DO(uv_fs_futime, file, 3000, UV_FS_UTIME_OMIT) == 0);
  has_times("file", 3000, 2000.5);
  CHECK(DO(uv_fs_lutime, "file", UV_FS_UTIME_OMIT, UV_FS_UTIME_NOW) == 0);
  CHECK(CALL(uv_fs_stat, "file") == 0);
  CHECK(seconds(req.statbuf.st_atim) == 3000);
  CHECK(seconds(req.statbuf.st_mtim) >= before && seconds(req.statbuf.st_mtim) <= (double)time(NULL) + 1);
  cleaned(0);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

static void a_link_has_times_of_its_own(void) {
  make("file", "");
  CHECK(symlink("file", "link") == 0);
  CHECK(DO(uv_fs_utime, "link", 1, 2) == 0 && DO(uv_fs_lutime, "link", 3, 4) == 0);
  has_times("file", 1, 2);
  has_times("link", 3, 4);
  CHECK(unlink("link") == 0 && unlink("file") == 0);
  CHECK(DO(uv_fs_utime, "file", 1, 2) == UV_ENOENT && DO(uv_fs_lutime, "file", 1, 2) == UV_ENOENT);
  CHECK(DO(uv_fs_futime, -1, 1, 2) == UV_EBADF && DO(uv_fs_utime, NULL, 1, 2) == UV_EINVAL);
}

static void test(void) {
  times_may_be_anything();
  a_time_may_be_now_or_stay();
  a_link_has_times_of_its_own();
}

int main(void) {
  return in_both_ways(test);
}

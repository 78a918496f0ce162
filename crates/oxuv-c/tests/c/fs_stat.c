/* What is known of files and file systems. */
#include "fs.h"

#include <sys/statfs.h>
#include <sys/sysmacros.h>

static int same_time(uv_timespec_t ours, struct timespec theirs) {
  return ours.tv_sec == theirs.tv_sec && ours.tv_nsec == theirs.tv_nsec;
}

static void agrees_with(const struct stat* about) {
  const uv_stat_t* found = &req.statbuf;
  CHECK(req.ptr == found && uv_fs_get_statbuf(&req) == found);
  CHECK(found->st_dev == about->st_dev && found->st_mode == about->st_mode && found->st_nlink == about->st_nlink);
  CHECK(found->st_uid == about->st_uid && found->st_gid == about->st_gid && found->st_rdev == about->st_rdev);
  CHECK(found->st_ino == about->st_ino && found->st_size == (uint64_t)about->st_size);
  CHECK(found->st_blksize == (uint64_t)about->st_blksize && found->st_blocks == (uint64_t)about->st_blocks);
  CHECK(found->st_flags == 0 && found->st_gen == 0);
  CHECK(same_time(found->st_atim, about->st_atim) && same_time(found->st_mtim, about->st_mtim));
  CHECK(same_time(found->st_ctim, about->st_ctim));
  cleaned(0);
}

static void all_is_known_of_a_file(void) {
  struct timespec times[2] = {{-5, 999999999}, {5000000000, 1}};
  struct stat about;
  int file;
  make("file", "0123456789");
  CHECK(symlink("file", "link") == 0 && link("file", "second") == 0 && utimensat(AT_FDCWD, "file", times, 0) == 0);
  CHECK(stat("file", &about) == 0 && about.st_nlink == 2);
  CHECK(CALL(uv_fs_stat, "file") == 0);
  agrees_with(&about);
  CHECK(CALL(uv_fs_stat, "link") == 0);
  agrees_with(&about);
  CHECK(CALL(uv_fs_lstat, "second") == 0);
  agrees_with(&about);
  file = open("file", O_RDONLY);
  CHECK(CALL(uv_fs_fstat, file) == 0);
  agrees_with(&about);
  CHECK(lstat("link", &about) == 0 && S_ISLNK(about.st_mode));
  CHECK(CALL(uv_fs_lstat, "link") == 0);
  agrees_with(&about);
  CHECK(stat("/dev/null", &about) == 0 && about.st_rdev == makedev(1, 3));
  CHECK(CALL(uv_fs_stat, "/dev/null") == 0);
  agrees_with(&about);
  CHECK(close(file) == 0 && unlink("link") == 0 && unlink("second") == 0 && unlink("file") == 0);
}

static void a_files_birth_does_not_change(void) {
  uv_timespec_t birth;
  make("file", "");
  CHECK(CALL(uv_fs_stat, "file") == 0);
  birth = req.statbuf.st_birthtim;
  cleaned(0);
  CHECK(usleep(20000) == 0);
  make("file", "x");
  CHECK(CALL(uv_fs_stat, "file") == 0);
  CHECK(req.statbuf.st_birthtim.tv_sec == birth.tv_sec && req.statbuf.st_birthtim.tv_nsec == birth.tv_nsec);
  CHECK(birth.tv_sec == 0 || req.statbuf.st_mtim.tv_sec > birth.tv_sec || req.statbuf.st_mtim.tv_nsec > birth.tv_nsec);
  cleaned(0);
  CHECK(unlink("file") == 0);
}

static void what_is_not_there_is_an_error(void) {
  CHECK(CALL(uv_fs_stat, "none") == UV_ENOENT && req.ptr == NULL);
  cleaned(0);
  CHECK(DO(uv_fs_lstat, "none") == UV_ENOENT && DO(uv_fs_fstat, -1) == UV_EBADF);
  CHECK(symlink("none", "link") == 0);
  CHECK(DO(uv_fs_stat, "link") == UV_ENOENT && DO(uv_fs_lstat, "link") == 0);
  CHECK(unlink("link") == 0);
  CHECK(DO(uv_fs_stat, NULL) == UV_EINVAL && DO(uv_fs_lstat, NULL) == UV_EINVAL);
}

static void a_file_system_has_a_size(void) {
  const char* paths[] = {".", "/proc"};
  int i;
  for (i = 0; i < 2; i++) {
    struct statfs about;
    uv_statfs_t* found;
    CHECK(statfs(paths[i], &about) == 0 && CALL(uv_fs_statfs, paths[i]) == 0);
    found = req.ptr;
    CHECK(found->f_type == (uint64_t)about.f_type && found->f_bsize == (uint64_t)about.f_bsize);
    CHECK(found->f_blocks == about.f_blocks && found->f_files >= found->f_ffree && found->f_bfree <= found->f_blocks);
    CHECK(found->f_bavail <= found->f_bfree && found->f_frsize == (uint64_t)about.f_frsize);
    cleaned(0);
  }
  CHECK(CALL(uv_fs_statfs, "none") == UV_ENOENT && req.ptr == NULL);
  cleaned(0);
}

static void test(void) {
  all_is_known_of_a_file();
  a_files_birth_does_not_change();
  what_is_not_there_is_an_error();
  a_file_system_has_a_size();
}

int main(void) {
  return in_both_ways(test);
}

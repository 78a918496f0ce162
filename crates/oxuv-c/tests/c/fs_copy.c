/* Copies of files, and what is sent from one to another. */
#include "fs.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <signal.h>

static mode_t mode_of(const char* path) {
  struct stat about;
  CHECK(stat(path, &about) == 0);
  return about.st_mode & 07777;
}

static void a_copy_has_bytes_and_permissions(void) {
  make("from", "hello");
  CHECK(chmod("from", 0751) == 0);
  CHECK(DO(uv_fs_copyfile, "from", "to", 0) == 0 && has("to", "hello") && mode_of("to") == 0751);
  make("from", "hi");
  CHECK(DO(uv_fs_copyfile, "from", "to", UV_FS_COPYFILE_EXCL) == UV_EEXIST && has("to", "hello"));
  CHECK(DO(uv_fs_copyfile, "from", "to", 0) == 0 && has("to", "hi"));
  make("from", "");
  CHECK(DO(uv_fs_copyfile, "from", "to", UV_FS_COPYFILE_FICLONE) == 0 && has("to", ""));
  CHECK(unlink("to") == 0);
  CHECK(DO(uv_fs_copyfile, "from", "to", UV_FS_COPYFILE_EXCL) == 0 && has("to", ""));
  CHECK(unlink("to") == 0 && unlink("from") == 0);
}

/* The source may be read only: its copy is written all the same. */
static void a_copy_may_be_read_only(void) {
  make("from", "hello");
  CHECK(chmod("from", 0400) == 0);
  CHECK(DO(uv_fs_copyfile, "from", "to", 0) == 0 && has("to", "hello") && mode_of("to") == 0400);
  CHECK(unlink("to") == 0 && unlink("from") == 0);
}

static void a_file_is_copied_onto_itself(void) {
  make("file", "hello");
  CHECK(link("file", "second") == 0);
  CHECK(DO(uv_fs_copyfile, "file", "file", 0) == 0 && has("file", "hello"));
  CHECK(DO(uv_fs_copyfile, "file", "second", UV_FS_COPYFILE_FICLONE_FORCE) == 0 && has("file", "hello"));
  CHECK(DO(uv_fs_copyfile, "file", "file", UV_FS_COPYFILE_EXCL) == UV_EEXIST && has("file", "hello"));
  CHECK(unlink("file") == 0 && unlink("second") == 0);
}

static void a_clone_is_made_or_not(void) {
  ssize_t result;
  make("from", "hello");
  CHECK(DO(uv_fs_copyfile, "from", "to", UV_FS_COPYFILE_FICLONE) == 0 && has("to", "hello") && unlink("to") == 0);
  result = DO(uv_fs_copyfile, "from", "to", UV_FS_COPYFILE_FICLONE_FORCE);
  /* As the file system can. */
  if (result == 0) CHECK(has("to", "hello") && unlink("to") == 0);
  else CHECK((result == UV_ENOTSUP || result == UV_ENOTTY || result == UV_EINVAL || result == UV_ENOSYS) && !is_there("to"));
  CHECK(DO(uv_fs_copyfile, "from", "to", 8) == UV_EINVAL && !is_there("to") && unlink("from") == 0);
}

static void what_cannot_be_copied_is_an_error(void) {
  make("from", "x");
  CHECK(DO(uv_fs_copyfile, "none", "to", 0) == UV_ENOENT && !is_there("to"));
  CHECK(DO(uv_fs_copyfile, "from", "none/to", 0) == UV_ENOENT);
  CHECK(DO(uv_fs_copyfile, "from", ".", 0) == UV_EISDIR);
  CHECK(DO(uv_fs_copyfile, NULL, "to", 0) == UV_EINVAL && DO(uv_fs_copyfile, "from", NULL, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_copyfile, ".", "to", 0) == UV_EISDIR && !is_there("to"));
  CHECK(unlink("from") == 0);
}

/* Half a copy is none. */
static void a_partial_copy_is_removed(void) {
  static char bytes[100000];
  struct rlimit limit, small;
  int file = open("from", O_WRONLY | O_CREAT, 0600);
  CHECK(write(file, bytes, sizeof(bytes)) == sizeof(bytes) && close(file) == 0);
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  small = limit;
  small.rlim_cur = 5000;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(DO(uv_fs_copyfile, "from", "to", 0) == UV_EFBIG && !is_there("to"));
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0 && unlink("from") == 0);
}

/* Files of the kernel's say that they are empty. */
static void what_has_no_size_is_copied_whole(void) {
  char bytes[4096];
  ssize_t size;
  int file;
  CHECK(DO(uv_fs_copyfile, "/proc/self/status", "to", 0) == 0);
  file = open("to", O_RDONLY);
  size = read(file, bytes, sizeof(bytes));
  CHECK(size > 100 && memcmp(bytes, "Name:", 5) == 0 && close(file) == 0 && unlink("to") == 0);
}

static void files_may_be_large(void) {
  int64_t far = ((int64_t)5 << 30) + 1;
  int from = open("from", O_RDWR | O_CREAT, 0600), to = open("to", O_WRONLY | O_CREAT, 0600);
  CHECK(pwrite(from, "end", 3, far) == 3);
  CHECK(DO(uv_fs_sendfile, to, from, far, 100) == 3 && has("to", "end"));
  CHECK(lseek(to, far, SEEK_SET) == far && DO(uv_fs_sendfile, to, from, far + 1, 2) == 2);
  CHECK(lseek(to, 0, SEEK_END) == far + 2);
  CHECK(close(to) == 0 && close(from) == 0 && unlink("to") == 0 && unlink("from") == 0);
}

static void bytes_are_sent_from_file_to_file(void) {
  int from, to;
  make("from", "0123456789");
  make("to", "abc");
  from = open("from", O_RDONLY);
  to = open("to", O_WRONLY);
  CHECK(lseek(from, 7, SEEK_SET) == 7 && lseek(to, 1, SEEK_SET) == 1);
  CHECK(DO(uv_fs_sendfile, to, from, 2, 4) == 4 && has("to", "a2345"));
  CHECK(lseek(from, 0, SEEK_CUR) == 7 && lseek(to, 0, SEEK_CUR) == 5);
  CHECK(DO(uv_fs_sendfile, to, from, 8, 100) == 2 && DO(uv_fs_sendfile, to, from, 10, 100) == 0);
  CHECK(DO(uv_fs_sendfile, to, from, 100, 1) == 0 && has("to", "a234589"));
  CHECK(DO(uv_fs_sendfile, to, from, 0, 0x80000000u) == UV_EINVAL && DO(uv_fs_sendfile, to, from, -1, 1) < 0);
  CHECK(DO(uv_fs_sendfile, -1, from, 0, 1) == UV_EBADF && DO(uv_fs_sendfile, to, -1, 0, 1) == UV_EBADF);
  CHECK(DO(uv_fs_sendfile, from, to, 0, 1) == UV_EBADF);
  CHECK(close(to) == 0);
  /* Where the kernel does not do it itself. */
  to = open("to", O_WRONLY | O_APPEND);
  CHECK(DO(uv_fs_sendfile, to, from, 0, 3) == 3 && has("to", "a234589012"));
  CHECK(close(to) == 0 && close(from) == 0 && unlink("from") == 0 && unlink("to") == 0);
}

static void bytes_are_sent_to_and_from_what_has_no_position(void) {
  char bytes[10];
  int pipes[2], pair[2], file;
  make("file", "0123456789");
  file = open("file", O_RDWR);
  CHECK(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(DO(uv_fs_sendfile, pipes[1], file, 3, 4) == 4 && read(pipes[0], bytes, 10) == 4 && memcmp(bytes, "3456", 4) == 0);
  CHECK(DO(uv_fs_sendfile, pair[0], file, 6, 9) == 4 && read(pair[1], bytes, 10) == 4 && memcmp(bytes, "6789", 4) == 0);
  CHECK(write(pipes[1], "xyz", 3) == 3);
  CHECK(DO(uv_fs_sendfile, file, pipes[0], 0, 3) == 3 && has("file", "xyz3456789"));
  CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0 && close(pair[0]) == 0 && close(pair[1]) == 0);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

static void test(void) {
  a_copy_has_bytes_and_permissions();
  a_copy_may_be_read_only();
  a_file_is_copied_onto_itself();
  a_clone_is_made_or_not();
  what_cannot_be_copied_is_an_error();
  a_partial_copy_is_removed();
  what_has_no_size_is_copied_whole();
  bytes_are_sent_from_file_to_file();
  bytes_are_sent_to_and_from_what_has_no_position();
  files_may_be_large();
}

int main(void) {
  return in_both_ways(test);
}

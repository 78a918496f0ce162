/* Names that nobody else has. */
#include "fs.h"

static void a_directory_is_made(void) {
  char first[100];
  struct stat about;
  const char template[] = "oxuv-XXXXXX";
  CHECK(CALL(uv_fs_mkdtemp, template) == 0);
  CHECK(strncmp(req.path, "oxuv-", 5) == 0 && strlen(req.path) == 11 && strcmp(req.path, template) != 0);
  CHECK(stat(req.path, &about) == 0 && S_ISDIR(about.st_mode) && (about.st_mode & 0777) == 0700);
  strcpy(first, req.path);
  cleaned(0);
  CHECK(CALL(uv_fs_mkdtemp, template) == 0 && strcmp(req.path, first) != 0 && rmdir(req.path) == 0);
  cleaned(0);
  CHECK(strcmp(template, "oxuv-XXXXXX") == 0 && rmdir(first) == 0);
  CHECK(DO(uv_fs_mkdtemp, "none/XXXXXX") == UV_ENOENT && DO(uv_fs_mkdtemp, "XXXXX") == UV_EINVAL);
  CHECK(DO(uv_fs_mkdtemp, "XXXXXXx") == UV_EINVAL && DO(uv_fs_mkdtemp, NULL) == UV_EINVAL);
}

static void a_file_is_made_and_opened(void) {
  struct stat about, named;
  int file = (int)CALL(uv_fs_mkstemp, "oxuv-XXXXXX");
  CHECK(file >= 0 && fcntl(file, F_GETFD) == FD_CLOEXEC && (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR);
  CHECK(fstat(file, &about) == 0 && stat(req.path, &named) == 0 && about.st_ino == named.st_ino);
  CHECK((about.st_mode & 0777) == 0600 && unlink(req.path) == 0 && close(file) == 0);
  cleaned(0);
  CHECK(CALL(uv_fs_mkstemp, "none/XXXXXX") == UV_ENOENT && req.path[0] == 0);
  cleaned(0);
  CHECK(CALL(uv_fs_mkstemp, "XXXXX") == UV_EINVAL && req.path[0] == 0);
  cleaned(0);
  CHECK(DO(uv_fs_mkstemp, "") == UV_EINVAL && DO(uv_fs_mkstemp, NULL) == UV_EINVAL);
}

static void test(void) {
  a_directory_is_made();
  a_file_is_made_and_opened();
}

int main(void) {
  return in_both_ways(test);
}

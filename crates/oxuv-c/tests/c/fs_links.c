/* Links, and where paths lead. */
#include "fs.h"

static void a_file_has_two_names(void) {
  struct stat about;
  make("file", "x");
  CHECK(DO(uv_fs_link, "file", "second") == 0);
  CHECK(stat("second", &about) == 0 && about.st_nlink == 2 && has("second", "x"));
  CHECK(DO(uv_fs_link, "file", "second") == UV_EEXIST && DO(uv_fs_link, "none", "third") == UV_ENOENT);
  CHECK(DO(uv_fs_link, ".", "third") == UV_EPERM && DO(uv_fs_link, "file", NULL) == UV_EINVAL);
  CHECK(unlink("file") == 0 && unlink("second") == 0);
}

static void a_link_says_what_it_was_given(void) {
  char longest[4096];
  const char* odd = "\xff\n/\x01";
  CHECK(DO(uv_fs_symlink, odd, "link", UV_FS_SYMLINK_DIR) == 0);
  CHECK(CALL(uv_fs_readlink, "link") == 0 && strcmp(req.ptr, odd) == 0 && uv_fs_get_ptr(&req) == req.ptr);
  cleaned(0);
  CHECK(DO(uv_fs_symlink, odd, "link", 0) == UV_EEXIST && unlink("link") == 0);
  memset(longest, 'x', sizeof(longest));
  longest[4095] = 0;
  CHECK(DO(uv_fs_symlink, longest, "link", 0) == 0);
  CHECK(CALL(uv_fs_readlink, "link") == 0 && strcmp(req.ptr, longest) == 0);
  cleaned(0);
  CHECK(unlink("link") == 0);
  make("file", "");
  CHECK(CALL(uv_fs_readlink, "file") == UV_EINVAL && req.ptr == NULL);
  cleaned(0);
  CHECK(DO(uv_fs_readlink, "none") == UV_ENOENT && DO(uv_fs_symlink, "", "link", 0) == UV_ENOENT);
  CHECK(unlink("file") == 0);
}

static void a_path_is_followed_to_its_end(void) {
  char here[4096], expected[4200];
  CHECK(realpath(".", here) != NULL && mkdir("directory", 0700) == 0);
  CHECK(symlink("directory", "link") == 0 && symlink("loop", "loop") == 0);
  make("directory/file", "");
  snprintf(expected, sizeof(expected), "%s/directory/file", here);
  CHECK(CALL(uv_fs_realpath, "./directory/../link//file") == 0 && strcmp(req.ptr, expected) == 0);
  cleaned(0);
  CHECK(CALL(uv_fs_realpath, "none") == UV_ENOENT && req.ptr == NULL);
  cleaned(0);
  CHECK(DO(uv_fs_realpath, "loop") == UV_ELOOP && DO(uv_fs_realpath, "directory/file/x") == UV_ENOTDIR);
  CHECK(DO(uv_fs_realpath, "") == UV_ENOENT);
  CHECK(unlink("directory/file") == 0 && unlink("link") == 0 && unlink("loop") == 0 && rmdir("directory") == 0);
}

/* libuv#2965, which is CVE-2020-8252: a path longer than 256 bytes overflowed its buffer. */
static void paths_may_be_long(void) {
  enum { DEPTH = 18, NAME = 200 };
  char here[4096], name[NAME + 1], path[4096];
  int i;
  CHECK(realpath(".", here) != NULL);
  memset(name, 'd', NAME);
  name[NAME] = 0;
  strcpy(path, here);
  for (i = 0; i < DEPTH; i++) {
    strcat(strcat(path, "/"), name);
    CHECK(mkdir(path, 0700) == 0);
    CHECK(CALL(uv_fs_realpath, path) == 0 && strcmp(req.ptr, path) == 0);
    cleaned(0);
    CHECK(DO(uv_fs_symlink, path, "link", 0) == 0);
    CHECK(CALL(uv_fs_readlink, "link") == 0 && strcmp(req.ptr, path) == 0);
    cleaned(0);
    CHECK(CALL(uv_fs_realpath, "link") == 0 && strcmp(req.ptr, path) == 0);
    cleaned(0);
    CHECK(unlink("link") == 0);
  }
  for (; i > 0; i--) {
    CHECK(rmdir(path) == 0);
    *strrchr(path, '/') = 0;
  }
}

static void test(void) {
  a_file_has_two_names();
  a_link_says_what_it_was_given();
  a_path_is_followed_to_its_end();
  paths_may_be_long();
}

int main(void) {
  return in_both_ways(test);
}

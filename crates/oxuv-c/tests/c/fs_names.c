/* Names, permissions, owners. */
#include "fs.h"

static mode_t mode_of(const char* path) {
  struct stat about;
  CHECK(stat(path, &about) == 0);
  return about.st_mode & 07777;
}

static void names_come_and_go(void) {
  mode_t mask = umask(022);
  CHECK(DO(uv_fs_mkdir, "directory", 0777) == 0 && mode_of("directory") == 0755);
  CHECK(DO(uv_fs_mkdir, "directory", 0777) == UV_EEXIST);
  CHECK(DO(uv_fs_mkdir, "none/directory", 0777) == UV_ENOENT);
  make("directory/file", "x");
  CHECK(DO(uv_fs_rmdir, "directory") == UV_ENOTEMPTY);
  CHECK(DO(uv_fs_rename, "directory/file", "file") == 0 && has("file", "x"));
  CHECK(DO(uv_fs_rename, "none", "file") == UV_ENOENT && DO(uv_fs_rename, "file", "none/file") == UV_ENOENT);
  CHECK(DO(uv_fs_rmdir, "file") == UV_ENOTDIR && DO(uv_fs_rmdir, "none") == UV_ENOENT);
  CHECK(DO(uv_fs_unlink, "directory") == UV_EISDIR);
  CHECK(DO(uv_fs_rmdir, "directory") == 0 && !is_there("directory"));
  CHECK(DO(uv_fs_unlink, "file") == 0 && !is_there("file") && DO(uv_fs_unlink, "file") == UV_ENOENT);
  umask(mask);
}

static void permissions_are_asked_and_set(void) {
  int file;
  make("file", "");
  CHECK(DO(uv_fs_chmod, "file", 0400) == 0 && mode_of("file") == 0400);
  CHECK(DO(uv_fs_access, "file", F_OK) == 0 && DO(uv_fs_access, "file", R_OK) == 0);
  CHECK(DO(uv_fs_access, "file", X_OK) == UV_EACCES);
  if (getuid() != 0) CHECK(DO(uv_fs_access, "file", W_OK) == UV_EACCES);
  CHECK(DO(uv_fs_access, "none", F_OK) == UV_ENOENT && DO(uv_fs_access, "file", 64) == UV_EINVAL);
  file = open("file", O_RDONLY);
  CHECK(DO(uv_fs_fchmod, file, 04755) == 0 && mode_of("file") == 04755);
  CHECK(DO(uv_fs_access, "file", R_OK | W_OK | X_OK) == 0);
  CHECK(DO(uv_fs_chmod, "none", 0600) == UV_ENOENT && DO(uv_fs_fchmod, -1, 0600) == UV_EBADF);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

static void owners_are_set(void) {
  uv_uid_t nobody = 65534, same = (uv_uid_t)-1;
  struct stat about;
  int file;
  make("file", "");
  CHECK(symlink("file", "link") == 0);
  file = open("file", O_RDONLY);
  CHECK(DO(uv_fs_chown, "file", same, same) == 0 && DO(uv_fs_fchown, file, same, same) == 0);
  CHECK(DO(uv_fs_lchown, "link", same, same) == 0);
  CHECK(stat("file", &about) == 0 && about.st_uid == getuid());
  CHECK(DO(uv_fs_chown, "file", getuid(), getgid()) == 0);
  if (getuid() == 0) {
    CHECK(DO(uv_fs_lchown, "link", nobody, 12345) == 0);
    CHECK(stat("file", &about) == 0 && about.st_uid == 0);
    CHECK(lstat("link", &about) == 0 && about.st_uid == nobody && about.st_gid == 12345);
    CHECK(DO(uv_fs_chown, "link", nobody, same) == 0);
    CHECK(stat("file", &about) == 0 && about.st_uid == nobody && about.st_gid == getgid());
    CHECK(DO(uv_fs_fchown, file, 1, 2) == 0);
    CHECK(stat("file", &about) == 0 && about.st_uid == 1 && about.st_gid == 2);
  } else {
    CHECK(DO(uv_fs_chown, "file", 0, 0) == UV_EPERM && DO(uv_fs_lchown, "link", 0, 0) == UV_EPERM);
    CHECK(DO(uv_fs_fchown, file, 0, 0) == UV_EPERM);
  }
  CHECK(DO(uv_fs_chown, "none", same, same) == UV_ENOENT && DO(uv_fs_fchown, -1, same, same) == UV_EBADF);
  CHECK(close(file) == 0 && unlink("link") == 0 && unlink("file") == 0);
}

/* No encoding is asked of a name, and no length but the system's. */
static void names_are_bytes(void) {
  char name[300], path[5000];
  const char* odd = "\xff\xfe \n\x01";
  CHECK(DO(uv_fs_mkdir, odd, 0700) == 0 && is_there(odd) && DO(uv_fs_rmdir, odd) == 0);
  memset(name, 'n', sizeof(name));
  name[255] = 0;
  CHECK(DO(uv_fs_mkdir, name, 0700) == 0 && is_there(name) && DO(uv_fs_rmdir, name) == 0);
  name[255] = 'n';
  name[256] = 0;
  CHECK(DO(uv_fs_mkdir, name, 0700) == UV_ENAMETOOLONG);
  memset(path, '/', sizeof(path));
  strcpy(path + 4094, ".");
  CHECK(DO(uv_fs_access, path, F_OK) == 0);
  strcpy(path + 4095, ".");
  CHECK(DO(uv_fs_access, path, F_OK) == UV_ENAMETOOLONG);
  CHECK(DO(uv_fs_access, "", F_OK) == UV_ENOENT);
}

/* Paths are the caller's own when it is done at once, and copies else. */
static void paths_are_kept(void) {
  char path[] = "one", new_path[] = "two";
  make("one", "x");
  if (async) {
    CHECK(uv_fs_rename(&loop, fresh(), path, new_path, heard) == 0);
    path[0] = new_path[0] = 0;
    CHECK(outcome(0) == 0);
  } else {
    CHECK(CALL(uv_fs_rename, path, new_path) == 0);
    CHECK(req.path == path && req.new_path == new_path);
  }
  CHECK(strcmp(req.path, "one") == 0 && strcmp(req.new_path, "two") == 0);
  CHECK(uv_fs_get_path(&req) == req.path);
  cleaned(0);
  CHECK(CALL(uv_fs_unlink, "two") == 0 && strcmp(req.path, "two") == 0 && req.new_path == NULL);
  cleaned(0);
}

static void no_path_is_an_error(void) {
  CHECK(DO(uv_fs_unlink, NULL) == UV_EINVAL && DO(uv_fs_mkdir, NULL, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_rename, NULL, "x") == UV_EINVAL && DO(uv_fs_rename, "x", NULL) == UV_EINVAL);
}

static void test(void) {
  names_come_and_go();
  permissions_are_asked_and_set();
  owners_are_set();
  names_are_bytes();
  paths_are_kept();
  no_path_is_an_error();
}

int main(void) {
  return in_both_ways(test);
}

/* What is in a directory. */
#include "fs.h"

#include <sys/socket.h>
#include <sys/un.h>

static int count(const char* path) {
  char link[64];
  int found = 0, number;
  for (number = 0; number < 256; number++) {
    char target[4096];
    ssize_t size;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", number);
    size = readlink(link, target, sizeof(target) - 1);
    if (size < 0) continue;
    target[size] = 0;
    if (strstr(target, path) != NULL) found++;
  }
  return found;
}

static void make_one_of_each_kind(void) {
  struct sockaddr_un address = {AF_UNIX, "socket"};
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(mkdir("all", 0700) == 0 && chdir("all") == 0);
  make("file", "x");
  CHECK(mkdir("directory", 0700) == 0 && symlink("nowhere", "link") == 0 && mkfifo("fifo", 0600) == 0);
  CHECK(bind(file, (struct sockaddr*)&address, sizeof(address)) == 0 && close(file) == 0);
  make("B\xff", "");
  CHECK(chdir("..") == 0);
}

static void remove_them(void) {
  CHECK(chdir("all") == 0 && unlink("file") == 0 && rmdir("directory") == 0 && unlink("link") == 0);
  CHECK(unlink("fifo") == 0 && unlink("socket") == 0 && unlink("B\xff") == 0);
  CHECK(chdir("..") == 0 && rmdir("all") == 0);
}

/* In the order of bytes. */
static const struct {
  const char* name;
  uv_dirent_type_t type;
} expected[] = {
  {"B\xff", UV_DIRENT_FILE}, {"directory", UV_DIRENT_DIR}, {"fifo", UV_DIRENT_FIFO},
  {"file", UV_DIRENT_FILE}, {"link", UV_DIRENT_LINK}, {"socket", UV_DIRENT_SOCKET},
};
enum { COUNT = sizeof(expected) / sizeof(expected[0]) };

static void a_listing_is_in_order(void) {
  uv_dirent_t entry;
  int i;
  CHECK(CALL(uv_fs_scandir, "all", 0) == COUNT);
  for (i = 0; i < COUNT; i++) {
    CHECK(uv_fs_scandir_next(&req, &entry) == 0);
    CHECK(strcmp(entry.name, expected[i].name) == 0 && entry.type == expected[i].type);
  }
  CHECK(uv_fs_scandir_next(&req, &entry) == UV_EOF && req.ptr == NULL);
  CHECK(uv_fs_scandir_next(&req, &entry) == UV_EOF);
  cleaned(0);
  CHECK(uv_fs_scandir_next(&req, &entry) == UV_EOF);
  /* It need not be read to its end, or at all. */
  CHECK(CALL(uv_fs_scandir, "all", 0) == COUNT && uv_fs_scandir_next(&req, &entry) == 0);
  cleaned(0);
  CHECK(DO(uv_fs_scandir, "all", 0) == COUNT);
}

static void an_empty_or_missing_directory_has_no_entries(void) {
  uv_dirent_t entry;
  CHECK(mkdir("empty", 0700) == 0);
  CHECK(CALL(uv_fs_scandir, "empty", 0) == 0 && req.ptr == NULL);
  CHECK(uv_fs_scandir_next(&req, &entry) == UV_EOF);
  cleaned(0);
  CHECK(rmdir("empty") == 0);
  CHECK(CALL(uv_fs_scandir, "empty", 0) == UV_ENOENT && uv_fs_scandir_next(&req, &entry) == UV_ENOENT);
  cleaned(0);
  CHECK(DO(uv_fs_scandir, "all/file", 0) == UV_ENOTDIR && DO(uv_fs_scandir, NULL, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_access, ".", F_OK) == 0 && uv_fs_scandir_next(&req, &entry) == UV_EINVAL);
}

static uv_dir_t* opened(const char* path) {
  uv_dir_t* dir;
  CHECK(CALL(uv_fs_opendir, path) == 0);
  dir = req.ptr;
  CHECK(dir != NULL);
  cleaned(0);
  return dir;
}

static void a_directory_is_read_in_parts(void) {
  uv_dirent_t entries[4];
  int seen[COUNT] = {0}, total = 0, i, k;
  uv_dir_t* dir = opened("all");
  dir->dirents = entries;
  dir->nentries = 4;
  for (;;) {
    int got = (int)CALL(uv_fs_readdir, dir);
    CHECK(req.ptr == dir && got == (total == 0 ? 4 : total == 4 ? COUNT - 4 : 0));
    for (i = 0; i < got; i++)
      for (k = 0; k < COUNT; k++)
        if (strcmp(entries[i].name, expected[k].name) == 0) {
          CHECK(entries[i].type == expected[k].type);
          seen[k]++;
        }
    cleaned(0);
    if (got == 0) break;
    total += got;
  }
  for (k = 0; k < COUNT; k++) CHECK(seen[k] == 1);
  CHECK(count("/all") == 1);
  CHECK(DO(uv_fs_closedir, dir) == 0);
  CHECK(count("/all") == 0);
}

static void many_names_are_read_at_once(void) {
  enum { MANY = 1000 };
  static uv_dirent_t entries[MANY + 1];
  static char seen[MANY];
  uv_dir_t* dir;
  char path[300], dots[250];
  int i;
  memset(dots, '.', sizeof(dots));
  dots[240] = 0;
  memset(seen, 0, sizeof(seen));
  CHECK(mkdir("many", 0700) == 0);
  for (i = 0; i < MANY; i++) {
    snprintf(path, sizeof(path), "many/%d%s", i, dots);
    make(path, "");
  }
  dir = opened("many");
  dir->dirents = entries;
  dir->nentries = MANY + 1;
  CHECK(CALL(uv_fs_readdir, dir) == MANY);
  for (i = 0; i < MANY; i++) {
    CHECK(strcmp(strchr(entries[i].name, '.'), dots) == 0);
    seen[atoi(entries[i].name)]++;
  }
  cleaned(0);
  CHECK(DO(uv_fs_readdir, dir) == 0 && DO(uv_fs_closedir, dir) == 0);
  CHECK(DO(uv_fs_scandir, "many", 0) == MANY);
  for (i = 0; i < MANY; i++) {
    CHECK(seen[i] == 1);
    snprintf(path, sizeof(path), "many/%d%s", i, dots);
    CHECK(unlink(path) == 0);
  }
  CHECK(rmdir("many") == 0);
}

static void what_cannot_be_read_is_an_error(void) {
  uv_dirent_t entry;
  uv_dir_t* dir;
  CHECK(CALL(uv_fs_opendir, "none") == UV_ENOENT && req.ptr == NULL);
  cleaned(0);
  CHECK(DO(uv_fs_opendir, "all/file") == UV_ENOTDIR && DO(uv_fs_opendir, NULL) == UV_EINVAL);
  CHECK(DO(uv_fs_readdir, NULL) == UV_EINVAL && DO(uv_fs_closedir, NULL) == UV_EINVAL);
  dir = opened("all");
  CHECK(DO(uv_fs_readdir, dir) == UV_EINVAL);
  dir->dirents = &entry;
  CHECK(DO(uv_fs_readdir, dir) == 0);
  dir->nentries = 1;
  CHECK(DO(uv_fs_readdir, dir) == 1 && DO(uv_fs_closedir, dir) == 0);
}

/* luv#384: the directory and the array are gone when the request that has read them is cleaned up. */
static void a_request_outlives_its_directory(void) {
  uv_dirent_t* entries = malloc(10 * sizeof(*entries));
  uv_dir_t* dir = opened("all");
  uv_fs_t first;
  dir->dirents = entries;
  dir->nentries = 10;
  CHECK(CALL(uv_fs_readdir, dir) == COUNT);
  first = req;
  CHECK(DO(uv_fs_closedir, dir) == 0);
  free(entries);
  uv_fs_req_cleanup(&first);
  uv_fs_req_cleanup(&first);
}

static void test(void) {
  make_one_of_each_kind();
  a_listing_is_in_order();
  an_empty_or_missing_directory_has_no_entries();
  a_directory_is_read_in_parts();
  many_names_are_read_at_once();
  what_cannot_be_read_is_an_error();
  a_request_outlives_its_directory();
  remove_them();
}

int main(void) {
  return in_both_ways(test);
}

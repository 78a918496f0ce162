/* File requests for which memory is short: an error, and nothing is left behind. */
#include "fs.h"
#include "failing.h"

static ssize_t listed(void) {
  uv_dirent_t entry;
  ssize_t result = CALL(uv_fs_scandir, ".", 0), count = 0;
  while (uv_fs_scandir_next(&req, &entry) == 0) count++;
  CHECK(count == (result < 0 ? 0 : 3));
  return cleaned(result);
}

/* What was read before memory went short is not lost. */
static ssize_t read_in_parts(void) {
  uv_dirent_t entries[3];
  ssize_t result = CALL(uv_fs_opendir, "."), total = 0;
  uv_dir_t* dir = req.ptr;
  cleaned(0);
  if (result != 0) return result;
  dir->dirents = entries;
  dir->nentries = 3;
  while ((result = DO(uv_fs_readdir, dir)) > 0 || result == UV_ENOMEM) {
    if (result > 0) total += result;
    else left_until_failure = 1 << 30;
  }
  CHECK(result == 0 && total == 3);
  left_until_failure = 1 << 30;
  CHECK(DO(uv_fs_closedir, dir) == 0);
  return 0;
}

static ssize_t link_read(void) { return DO(uv_fs_readlink, "link"); }
static ssize_t path_found(void) { return DO(uv_fs_realpath, "link"); }
static ssize_t system_known(void) { return DO(uv_fs_statfs, "."); }
static ssize_t file_known(void) { return DO(uv_fs_stat, "file"); }
static ssize_t renamed(void) { return DO(uv_fs_rename, "file", "file"); }
static ssize_t copied(void) { return DO(uv_fs_copyfile, "file", "file", 0); }

static ssize_t made(void) {
  ssize_t result = CALL(uv_fs_mkdtemp, "XXXXXX");
  if (result == 0) CHECK(rmdir(req.path) == 0);
  return cleaned(result);
}

static ssize_t written(void) {
  static uv_buf_t bufs[20];
  ssize_t result = DO(uv_fs_write, 1, bufs, 20, -1);
  return result;
}

static void check(ssize_t (*function)(void)) {
  int nth = 0, before = blocks;
  ssize_t result;
  do {
    failed = 0;
    left_until_failure = nth++;
    result = function();
    left_until_failure = 1 << 30;
    CHECK(result >= 0 || (failed && result == UV_ENOMEM));
    CHECK(blocks == before);
  } while (failed);
  CHECK(nth < 100);
}

static void test(void) {
  make("file", "x");
  CHECK(symlink("file", "link") == 0 && mkdir("directory", 0700) == 0);
  /* The pool keeps what it needs for its threads, the loop's ring and the loop what they need for their requests. */
  CHECK(file_known() == 0 && listed() == 3 && written() == 0);
  check(listed);
  check(read_in_parts);
  check(link_read);
  check(path_found);
  check(system_known);
  check(file_known);
  check(renamed);
  check(copied);
  check(made);
  check(written);
  CHECK(unlink("link") == 0 && unlink("file") == 0 && rmdir("directory") == 0);
}

int main(void) {
  CHECK(uv_replace_allocator(short_malloc, short_realloc, short_calloc, counting_free) == 0);
  CHECK(setenv("UV_THREADPOOL_SIZE", "1", 1) == 0);
  return in_both_ways(test);
}

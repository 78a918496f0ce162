/* Files and what watches them, for which memory is short at any moment: each request at once, and by way of a loop. */
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static uv_fs_t req;
static uv_buf_t bufs[20];
static char bytes[20][100];
static uv_file file = -1, other = -1;
static uv_dir_t* dir;
static uv_dirent_t found[3];
static int step;

static void next_step(uv_fs_t* done);


/* Each request there is, in an order in which each has what it needs. */
static int begin_step(uv_fs_cb cb) {
  uv_loop_t* at = cb == NULL ? NULL : &loop;
  switch (step) {
    case 0: return uv_fs_open(at, &req, "file", O_RDWR | O_CREAT, 0600, cb);
    case 1: return uv_fs_write(at, &req, file, bufs, 20, -1, cb);
    case 2: return uv_fs_write(at, &req, file, bufs, 2, 100, cb);
    case 3: return uv_fs_read(at, &req, file, bufs, 20, 0, cb);
    case 4: return uv_fs_fstat(at, &req, file, cb);
    case 5: return uv_fs_fsync(at, &req, file, cb);
    case 6: return uv_fs_fdatasync(at, &req, file, cb);
    case 7: return uv_fs_ftruncate(at, &req, file, 1000, cb);
    case 8: return uv_fs_fchmod(at, &req, file, 0644, cb);
    case 9: return uv_fs_fchown(at, &req, file, -1, -1, cb);
    case 10: return uv_fs_futime(at, &req, file, 1, 2, cb);
    case 11: return uv_fs_open(at, &req, "other", O_RDWR | O_CREAT, 0600, cb);
    case 12: return uv_fs_sendfile(at, &req, other, file, 0, 1000, cb);
    case 13: return uv_fs_close(at, &req, other, cb);
    case 14: return uv_fs_close(at, &req, file, cb);
    case 15: return uv_fs_stat(at, &req, "file", cb);
    case 16: return uv_fs_lstat(at, &req, "file", cb);
    case 17: return uv_fs_statfs(at, &req, ".", cb);
    case 18: return uv_fs_access(at, &req, "file", R_OK, cb);
    case 19: return uv_fs_chmod(at, &req, "file", 0600, cb);
    case 20: return uv_fs_chown(at, &req, "file", -1, -1, cb);
    case 21: return uv_fs_lchown(at, &req, "file", -1, -1, cb);
    case 22: return uv_fs_utime(at, &req, "file", 1, 2, cb);
    case 23: return uv_fs_lutime(at, &req, "file", 1, 2, cb);
    case 24: return uv_fs_link(at, &req, "file", "link", cb);
    case 25: return uv_fs_symlink(at, &req, "file", "symlink", 0, cb);
    case 26: return uv_fs_readlink(at, &req, "symlink", cb);
    case 27: return uv_fs_realpath(at, &req, "symlink", cb);
    case 28: return uv_fs_copyfile(at, &req, "file", "copy", 0, cb);
    case 29: return uv_fs_rename(at, &req, "copy", "renamed", cb);
    case 30: return uv_fs_mkdir(at, &req, "directory", 0700, cb);
    case 31: return uv_fs_scandir(at, &req, ".", 0, cb);
    case 32: return uv_fs_opendir(at, &req, ".", cb);
    case 33: return uv_fs_readdir(at, &req, dir, cb);
    case 34: return uv_fs_readdir(at, &req, dir, cb);
    case 35: return uv_fs_closedir(at, &req, dir, cb);
    case 36: return uv_fs_mkdtemp(at, &req, "directory/XXXXXX", cb);
    case 37: return uv_fs_mkstemp(at, &req, "directory/XXXXXX", cb);
    case 38: return uv_fs_unlink(at, &req, "renamed", cb);
    case 39: return uv_fs_rmdir(at, &req, "directory/none", cb);
    default: return 1;
  }
}

/* Takes what came of a step, and lets go of the request. */
static int take(ssize_t result) {
  if (step == 39 && result == UV_ENOENT) result = 0;
  if (result >= 0) {
    if (step == 0) file = (uv_file) result;
    if (step == 11) other = (uv_file) result;
    if (step == 13) other = -1;
    if (step == 14) file = -1;
    if (step == 26) CHECK(strcmp(req.ptr, "file") == 0);
    if (step == 27) CHECK(((char*) req.ptr)[0] == '/');
    if (step == 31) {
      uv_dirent_t entry;
      ssize_t count = 0;
      while (uv_fs_scandir_next(&req, &entry) == 0) count++;
      CHECK(count == result && count == 6);
    }
    if (step == 32) {
      dir = req.ptr;
      dir->dirents = found;
      dir->nentries = 3;
    }
    if (step == 33 || step == 34) CHECK(result == 3 || (was_refused() && result > 0));
    if (step == 35) dir = NULL;
    if (step == 37) CHECK(close((int) result) == 0);
  }
  uv_fs_req_cleanup(&req);
  return is_well(result);
}

/* What was left half done. */
static void leave(void) {
  uv_fs_t closing;
  if (file >= 0) close(file);
  if (other >= 0) close(other);
  file = other = -1;
  if (dir != NULL) CHECK(uv_fs_closedir(NULL, &closing, dir, NULL) == 0);
  dir = NULL;
}

static void go_on(void) {
  int result = begin_step(next_step);
  if (result == 1) leave();
  else if (!begins(result)) uv_fs_req_cleanup(&req), leave();
}

static void next_step(uv_fs_t* done) {
  CHECK(done == &req && under_way-- == 1);
  if (!take(req.result)) {
    leave();
    return;
  }
  step++;
  go_on();
}

static void set_up(void) {
  int i;
  for (i = 0; i < 20; i++) bufs[i] = uv_buf_init(bytes[i], 100);
  step = 0;
}

static void asked_of_the_loop(void) {
  set_up();
  go_on();
}

static void at_once(void) {
  int result;
  for (set_up();; step++) {
    result = begin_step(NULL);
    if (step > 39 || !take(result)) break;
  }
  leave();
}

/* Many at a time, some of which are cancelled. */

enum { MANY = 40 };
static uv_fs_t many[MANY];

static void on_one(uv_fs_t* done) {
  CHECK(under_way-- > 0);
  if (done->result != UV_ECANCELED) is_well(done->result);
  uv_fs_req_cleanup(done);
}

static void many_at_a_time(void) {
  int i;
  for (i = 0; i < MANY; i++) {
    int result = i % 3 == 0 ? uv_fs_stat(&loop, &many[i], ".", on_one)
               : i % 3 == 1 ? uv_fs_realpath(&loop, &many[i], ".", on_one)
                            : uv_fs_scandir(&loop, &many[i], ".", 0, on_one);
    if (!begins(result)) {
      uv_fs_req_cleanup(&many[i]);
      return;
    }
    if (i % 7 == 0) uv_cancel((uv_req_t*) &many[i]);
  }
}

/* Files that are watched. */

static uv_fs_event_t flat[3], deep;
static uv_fs_poll_t poll;
static uv_timer_t patience;
static int changes;

static void on_change(uv_fs_event_t* handle, const char* name, int events, int status) {
  (void) handle, (void) events;
  CHECK(name != NULL || was_refused());
  if (is_well(status) && (++changes == 6 || was_refused())) end();
}

/* Where memory was short, something may be missing. */
static void give_up(uv_timer_t* timer) {
  (void) timer;
  if (was_refused()) end();
}

static void events(void) {
  int i, fd;
  changes = 0;
  CHECK(mkdir("directory", 0700) == 0 && mkdir("directory/a", 0700) == 0 && mkdir("directory/a/b", 0700) == 0);
  if (is_well(uv_timer_init(&loop, &patience)) && is_well(uv_timer_start(&patience, give_up, 50, 50))) {
    for (i = 0; i < 3; i++)
      if (!is_well(uv_fs_event_init(&loop, &flat[i])) || !is_well(uv_fs_event_start(&flat[i], on_change, "directory", 0))) break;
    if (i == 3 && is_well(uv_fs_event_init(&loop, &deep)) &&
        is_well(uv_fs_event_start(&deep, on_change, "directory", UV_FS_EVENT_RECURSIVE))) {
      CHECK((fd = open("directory/a/b/new", O_CREAT | O_WRONLY, 0600)) >= 0 && close(fd) == 0);
      CHECK((fd = open("directory/new", O_CREAT | O_WRONLY, 0600)) >= 0 && close(fd) == 0);
      CHECK(mkdir("directory/c", 0700) == 0 && mkdir("directory/c/d", 0700) == 0);
      return;
    }
  }
  end();
}

static void on_look(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  (void) before, (void) now;
  CHECK(handle == &poll);
  if (status != UV_ENOENT) is_well(status);
  end();
}

static void looks(void) {
  char path[100];
  size_t size = sizeof(path);
  if (is_well(uv_fs_poll_init(&loop, &poll)) && is_well(uv_fs_poll_start(&poll, on_look, "none", 1)))
    is_well(uv_fs_poll_getpath(&poll, path, &size));
}

int main(int argc, char** argv) {
  const struct play plays[] = {{"at_once", at_once}, {"loop", asked_of_the_loop}, {"many", many_at_a_time},
                               {"events", events}, {"looks", looks}, {NULL, NULL}};
  return refuse_in(plays, argc, argv);
}

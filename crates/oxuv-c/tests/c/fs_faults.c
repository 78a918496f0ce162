/* Each system call of files fails in turn: its error comes to its request, or another way is found; nothing leaks, and the
 * loop goes on. All of it without a ring, whose operations are no such calls: fs_ring.c has what concerns them.
 *
 * not under valgrind: it makes such calls itself
 * not under ASan: it makes such calls itself
 * not under TSan: it takes a minute, and has one thread */
#include "fs.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { FILE_NUMBER = 77, OTHER_NUMBER = 78, ANY = -1 };

/* From now on the call fails with this error; with `number` it must be the first argument. */
static void deny(long call, int number, int error) {
  struct sock_filter lines[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {6, lines};
  if (number == ANY) lines[3].jf = 0;
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static char memory[100];
static uv_buf_t bufs[2];

static ssize_t opens(void) { return DO(uv_fs_open, "file", O_RDONLY, 0); }
static ssize_t reads(void) { return DO(uv_fs_read, FILE_NUMBER, bufs, 2, -1); }
static ssize_t reads_at(void) { return DO(uv_fs_read, FILE_NUMBER, bufs, 1, 0); }
static ssize_t reads_several_at(void) { return DO(uv_fs_read, FILE_NUMBER, bufs, 2, 0); }
static ssize_t writes(void) { return DO(uv_fs_write, FILE_NUMBER, bufs, 1, -1); }
static ssize_t writes_several(void) { return DO(uv_fs_write, FILE_NUMBER, bufs, 2, -1); }
static ssize_t writes_at(void) { return DO(uv_fs_write, FILE_NUMBER, bufs, 1, 0); }
static ssize_t writes_several_at(void) { return DO(uv_fs_write, FILE_NUMBER, bufs, 2, 0); }
static ssize_t syncs(void) { return DO(uv_fs_fsync, FILE_NUMBER); }
static ssize_t syncs_data(void) { return DO(uv_fs_fdatasync, FILE_NUMBER); }
static ssize_t cuts(void) { return DO(uv_fs_ftruncate, FILE_NUMBER, 3); }
static ssize_t knows(void) { return DO(uv_fs_stat, "file"); }
static ssize_t knows_open(void) { return DO(uv_fs_fstat, FILE_NUMBER); }
static ssize_t knows_system(void) { return DO(uv_fs_statfs, "."); }
static ssize_t sets_mode(void) { return DO(uv_fs_chmod, "file", 0600); }
static ssize_t sets_open_mode(void) { return DO(uv_fs_fchmod, FILE_NUMBER, 0600); }
static ssize_t sets_owner(void) { return DO(uv_fs_chown, "file", (uv_uid_t)-1, (uv_gid_t)-1); }
static ssize_t sets_times(void) { return DO(uv_fs_utime, "file", 1, 2); }
static ssize_t links(void) { return DO(uv_fs_link, "file", "second"); }
static ssize_t links_by_name(void) { return DO(uv_fs_symlink, "file", "second", 0); }
static ssize_t reads_link(void) { return DO(uv_fs_readlink, "link"); }
static ssize_t finds_path(void) { return DO(uv_fs_realpath, "link"); }
static ssize_t renames(void) { return DO(uv_fs_rename, "file", "second"); }
static ssize_t makes(void) { return DO(uv_fs_mkdir, "second", 0700); }
static ssize_t makes_temporary(void) { return DO(uv_fs_mkdtemp, "XXXXXX"); }
static ssize_t makes_temporary_file(void) { return DO(uv_fs_mkstemp, "XXXXXX"); }
static ssize_t removes(void) { return DO(uv_fs_unlink, "file"); }
static ssize_t removes_directory(void) { return DO(uv_fs_rmdir, "directory"); }
static ssize_t lists(void) { return DO(uv_fs_scandir, ".", 0); }
static ssize_t sends(void) { return DO(uv_fs_sendfile, OTHER_NUMBER, FILE_NUMBER, 0, 5); }
static ssize_t copies(void) { return DO(uv_fs_copyfile, "file", "second", 0); }

static ssize_t reads_directory(void) {
  uv_dirent_t entry;
  uv_dir_t* dir;
  ssize_t result = CALL(uv_fs_opendir, ".");
  dir = req.ptr;
  cleaned(0);
  if (result != 0) return result;
  dir->dirents = &entry;
  dir->nentries = 1;
  result = DO(uv_fs_readdir, dir);
  CHECK(DO(uv_fs_closedir, dir) == 0);
  return result;
}

static int open_descriptors(void) {
  int count = 0, number;
  for (number = 0; number < 256; number++)
    if (fcntl(number, F_GETFD) >= 0) count++;
  return count;
}

/* In a child, which is rid of its filter by ending: the call is made at once and on a thread. */
static void check(int line, ssize_t (*function)(void), const long* calls, int number, int error, ssize_t expected) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    CHECK(uv_loop_init(&loop) == 0);
    for (; *calls != -1; calls++) deny(*calls, number, error);
    for (async = 0; async < 2; async++) {
      int before;
      ssize_t result;
      if (async) CHECK(DO(uv_fs_access, "/", F_OK) == 0); /* The pool is there from now on. */
      before = open_descriptors();
      result = function();
      if (result != expected) {
        fprintf(stderr, "%s:%d: %ld, not %ld\n", __FILE__, line, (long)result, (long)expected);
        _exit(1);
      }
      CHECK(open_descriptors() == before && !uv_loop_alive(&loop));
    }
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define FAILS(function, number, ...)                                                               \
  do {                                                                                             \
    const long calls[] = {__VA_ARGS__, -1};                                                         \
    check(__LINE__, function, calls, number, EIO, UV_EIO);                                         \
  } while (0)

#define DOES_WITHOUT(function, number, error, result, ...)                                         \
  do {                                                                                             \
    const long calls[] = {__VA_ARGS__, -1};                                                         \
    check(__LINE__, function, calls, number, error, result);                                       \
  } while (0)

#ifdef SYS_open
#define OR(name) SYS_##name,
#else
#define OR(name)
#endif

static void each_error_comes_to_its_request(void) {
  FAILS(opens, ANY, OR(open) SYS_openat);
  FAILS(reads, FILE_NUMBER, SYS_read, SYS_readv);
  FAILS(reads_at, FILE_NUMBER, SYS_pread64);
  FAILS(reads_several_at, FILE_NUMBER, SYS_preadv);
  FAILS(writes, FILE_NUMBER, SYS_write);
  FAILS(writes_several, FILE_NUMBER, SYS_writev);
  FAILS(writes_at, FILE_NUMBER, SYS_pwrite64);
  FAILS(writes_several_at, FILE_NUMBER, SYS_pwritev);
  FAILS(syncs, FILE_NUMBER, SYS_fsync);
  FAILS(syncs_data, FILE_NUMBER, SYS_fdatasync);
  FAILS(cuts, FILE_NUMBER, SYS_ftruncate);
  FAILS(knows, ANY, SYS_statx, SYS_newfstatat);
  FAILS(knows_open, ANY, SYS_statx, SYS_newfstatat, SYS_fstat);
  FAILS(knows_system, ANY, SYS_statfs);
  FAILS(sets_mode, ANY, OR(chmod) SYS_fchmodat);
  FAILS(sets_open_mode, FILE_NUMBER, SYS_fchmod);
  FAILS(sets_owner, ANY, OR(chown) SYS_fchownat);
  FAILS(sets_times, ANY, SYS_utimensat);
  FAILS(links, ANY, OR(link) SYS_linkat);
  FAILS(links_by_name, ANY, OR(symlink) SYS_symlinkat);
  FAILS(reads_link, ANY, OR(readlink) SYS_readlinkat);
  FAILS(finds_path, ANY, OR(readlink) SYS_readlinkat);
  FAILS(renames, ANY, OR(rename) OR(renameat) SYS_renameat2);
  FAILS(makes, ANY, OR(mkdir) SYS_mkdirat);
  FAILS(makes_temporary, ANY, OR(mkdir) SYS_mkdirat);
  FAILS(makes_temporary_file, ANY, OR(open) SYS_openat);
  FAILS(removes, ANY, OR(unlink) SYS_unlinkat);
  FAILS(removes_directory, ANY, OR(rmdir) SYS_unlinkat);
  FAILS(lists, ANY, SYS_getdents64);
  FAILS(reads_directory, ANY, SYS_getdents64);
  FAILS(copies, ANY, SYS_statx, SYS_newfstatat, SYS_fstat);
  CHECK(!is_there("second"));
}

static void another_way_is_found(void) {
  static const int refusals[] = {ENOSYS, EPERM, EOPNOTSUPP, EINVAL};
  int i;
  for (i = 0; i < 4; i++) {
    DOES_WITHOUT(knows, ANY, refusals[i], 0, SYS_statx);
    DOES_WITHOUT(knows_open, ANY, refusals[i], 0, SYS_statx);
    DOES_WITHOUT(sends, ANY, refusals[i], 5, SYS_copy_file_range);
    DOES_WITHOUT(copies, ANY, refusals[i], 0, SYS_copy_file_range);
    CHECK(has("second", "hello") && unlink("second") == 0);
  }
  DOES_WITHOUT(sends, ANY, ENOSYS, 5, SYS_copy_file_range, SYS_sendfile);
  DOES_WITHOUT(copies, ANY, EIO, 0, SYS_copy_file_range);
  CHECK(has("second", "hello") && unlink("second") == 0);
  /* Owner and times are kept where that can be done. */
  DOES_WITHOUT(copies, ANY, EPERM, 0, SYS_utimensat, SYS_fchown);
  CHECK(has("second", "hello") && unlink("second") == 0);
  DOES_WITHOUT(copies, ANY, EIO, UV_EIO, SYS_fchmod);
  CHECK(!is_there("second"));
}

int main(void) {
  char directory[] = "/tmp/oxuv-fs-XXXXXX";
  int file;
  CHECK(setenv("UV_USE_IO_URING", "0", 1) == 0);
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  make("file", "hello");
  CHECK(symlink("file", "link") == 0 && mkdir("directory", 0700) == 0);
  file = open("file", O_RDWR);
  CHECK(dup2(file, FILE_NUMBER) == FILE_NUMBER && close(file) == 0);
  file = open("/dev/null", O_WRONLY);
  CHECK(dup2(file, OTHER_NUMBER) == OTHER_NUMBER && close(file) == 0);
  bufs[0] = uv_buf_init(memory, 1);
  bufs[1] = uv_buf_init(memory + 1, 1);
  each_error_comes_to_its_request();
  another_way_is_found();
  CHECK(has("file", "hello"));
  CHECK(unlink("file") == 0 && unlink("link") == 0 && rmdir("directory") == 0 && chdir("/") == 0 && rmdir(directory) == 0);
  puts("ok");
  return 0;
}

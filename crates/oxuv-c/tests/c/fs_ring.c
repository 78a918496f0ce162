/* What a loop's ring does with files: the same as a thread, where it is refused and where it is not.
 *
 * not under valgrind: it does not see what a ring writes
 * not under ASan: it makes system calls that are refused here
 * not under TSan: it knows nothing of what the kernel does */
#include "fs.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { COUNT = 3000 };

static int is_root(void) { return geteuid() == 0; }

/* From now on the call does this. */
static void filter(long call, unsigned action) {
  struct sock_filter lines[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, action),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, lines};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static int rings(void) {
  char path[64], target[64];
  int count = 0, number;
  for (number = 0; number < 64; number++) {
    ssize_t size;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
    size = readlink(path, target, sizeof(target) - 1);
    if (size > 0) {
      target[size] = 0;
      count += strstr(target, "io_uring") != NULL;
    }
  }
  return count;
}

static void in_child(void (*function)(void)) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    CHECK(uv_loop_init(&loop) == 0);
    function();
    CHECK(uv_loop_close(&loop) == 0);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* All that a ring can do. */
static void do_all(void) {
  char memory[5];
  uv_buf_t bufs[3];
  int file;
  bufs[0] = uv_buf_init("he", 2);
  bufs[1] = uv_buf_init("", 0);
  bufs[2] = uv_buf_init("llo", 3);
  CHECK(DO(uv_fs_mkdir, "new", 0700) == 0 && DO(uv_fs_mkdir, "new", 0700) == UV_EEXIST);
  file = (int)DO(uv_fs_open, "new/file", O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(file >= 0 && fcntl(file, F_GETFD) == FD_CLOEXEC);
  CHECK(DO(uv_fs_write, file, bufs, 3, -1) == 5 && DO(uv_fs_write, file, bufs, 3, -1) == 5);
  CHECK(DO(uv_fs_write, file, bufs, 1, 8) == 2);
  CHECK(DO(uv_fs_fsync, file) == 0 && DO(uv_fs_fdatasync, file) == 0);
  CHECK(DO(uv_fs_ftruncate, file, 9) == 0 && DO(uv_fs_ftruncate, file, -1) == UV_EINVAL);
  bufs[0] = uv_buf_init(memory, 1);
  bufs[1] = uv_buf_init(memory + 1, 4);
  CHECK(DO(uv_fs_read, file, bufs, 2, 4) == 5 && memcmp(memory, "ohelh", 5) == 0);
  CHECK(DO(uv_fs_read, file, bufs, 2, 100) == 0);
  CHECK(CALL(uv_fs_fstat, file) == 0 && req.statbuf.st_size == 9 && req.ptr == &req.statbuf);
  uv_fs_req_cleanup(&req);
  CHECK(DO(uv_fs_close, file) == 0 && fcntl(file, F_GETFD) == -1 && DO(uv_fs_close, file) == UV_EBADF);
  CHECK(DO(uv_fs_close, -1) == UV_EBADF && DO(uv_fs_read, file, bufs, 1, -1) == UV_EBADF);
  CHECK(DO(uv_fs_symlink, "file", "new/link", 0) == 0 && DO(uv_fs_link, "new/file", "new/second") == 0);
  CHECK(DO(uv_fs_rename, "new/second", "new/third") == 0 && DO(uv_fs_stat, "new/second") == UV_ENOENT);
  CHECK(CALL(uv_fs_lstat, "new/link") == 0 && S_ISLNK(req.statbuf.st_mode) && req.statbuf.st_birthtim.tv_sec != 0);
  uv_fs_req_cleanup(&req);
  CHECK(CALL(uv_fs_stat, "new/link") == 0 && S_ISREG(req.statbuf.st_mode) && req.statbuf.st_nlink == 2);
  uv_fs_req_cleanup(&req);
  CHECK(DO(uv_fs_rmdir, "new") == UV_ENOTEMPTY && DO(uv_fs_unlink, "new") < 0);
  CHECK(DO(uv_fs_unlink, "new/link") == 0 && DO(uv_fs_unlink, "new/file") == 0 && DO(uv_fs_unlink, "new/third") == 0);
  CHECK(DO(uv_fs_rmdir, "new") == 0 && DO(uv_fs_rmdir, "new") == UV_ENOENT);
}

/* A ring would look at the new path before the old one. */
static void the_old_path_is_told_before_the_new(void) {
  static char path[5000];
  memset(path, 'x', sizeof(path) - 1);
  CHECK(DO(uv_fs_rename, "none/x", path) == UV_ENOENT && DO(uv_fs_link, "none", path) == UV_ENOENT);
  CHECK(DO(uv_fs_link, path, "none") == UV_ENAMETOOLONG && DO(uv_fs_link, ".", path) == UV_ENAMETOOLONG);
}

static void with_a_ring(void) {
  do_all();
  the_old_path_is_told_before_the_new();
  CHECK(rings() == 1);
}

/* Not one call of it: the first would end the process. */
static void without_by_environment(void) {
  filter(SYS_io_uring_setup, SECCOMP_RET_KILL);
  filter(SYS_io_uring_enter, SECCOMP_RET_KILL);
  filter(SYS_io_uring_register, SECCOMP_RET_KILL);
  CHECK(setenv("UV_USE_IO_URING", "0", 1) == 0);
  CHECK(uv_loop_configure(&loop, UV_LOOP_USE_IO_URING_SQPOLL) == 0);
  do_all();
  CHECK(rings() == 0);
}

static long refused_call;
static int refusal;

static void refused_from_the_beginning(void) {
  filter(refused_call, SECCOMP_RET_ERRNO | (unsigned)refusal);
  do_all();
  do_all();
}

static int others;

static void count_other(uv_fs_t* request) {
  CHECK(request->result == 0 && request->statbuf.st_size == 5);
  others++;
  uv_fs_req_cleanup(request);
}

/* Some are queued, and some are the kernel's already: all come back. */
static void refused_in_the_middle(void) {
  static uv_fs_t requests[300];
  int i;
  do_all();
  for (i = 0; i < 300; i++) {
    CHECK(uv_fs_stat(&loop, &requests[i], "file", count_other) == 0);
    if (i == 150) uv_run(&loop, UV_RUN_NOWAIT);
    if (i == 200) filter(refused_call, SECCOMP_RET_ERRNO | (unsigned)refusal);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 300);
  do_all();
  CHECK(rings() == 0);
}

static void refusals(void) {
  static const long calls[] = {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};
  static const int errors[] = {ENOSYS, EPERM};
  int i, j;
  for (j = 0; j < 2; j++) {
    refusal = errors[j];
    for (i = 0; i < 3; i++) {
      refused_call = calls[i];
      in_child(refused_from_the_beginning);
    }
    refused_call = SYS_io_uring_enter;
    in_child(refused_in_the_middle);
  }
}

static uv_fs_t many[COUNT];
static char records[COUNT][8], found[COUNT * 8];
static int done;

static void one_done(uv_fs_t* request) {
  CHECK(request->result == 8);
  done++;
  uv_fs_req_cleanup(request);
}

/* Many more than a ring has room for, and all by the file's own position: each record is there once, and whole; nothing of it
 * is read twice. */
static void positions_are_used_by_one_at_a_time(void) {
  static char seen[COUNT];
  int i, number, file = open("records", O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  for (i = 0; i < COUNT; i++) {
    uv_buf_t buf = uv_buf_init(records[i], 8);
    CHECK(snprintf(records[i], 8, "%07d", i) == 7);
    CHECK(uv_fs_write(&loop, &many[i], file, &buf, 1, -1, one_done) == 0);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && done == COUNT);
  CHECK(pread(file, found, sizeof(found), 0) == (ssize_t)sizeof(found) && lseek(file, 0, SEEK_SET) == 0);
  for (i = 0; i < COUNT; i++) {
    number = atoi(found + 8 * i);
    CHECK(number >= 0 && number < COUNT && !seen[number]++);
  }
  memset(records, 0, sizeof(records));
  for (i = done = 0; i < COUNT; i++) {
    uv_buf_t buf = uv_buf_init(records[i], 8);
    CHECK(uv_fs_read(&loop, &many[i], file, &buf, 1, -1, one_done) == 0);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && done == COUNT);
  for (i = 0; i < COUNT; i++) CHECK(seen[atoi(records[i])]-- == 1);
  CHECK(close(file) == 0 && unlink("records") == 0);
}

/* 2000 buffers, which is more than one call takes. */
static void all_of_many_buffers_is_written(void) {
  static uv_buf_t bufs[2000];
  char text[2001];
  int i, file = open("buffers", O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (i = 0; i < 2000; i++) bufs[i] = uv_buf_init("abcdefghij" + i % 10, 1);
  CHECK(DO(uv_fs_write, file, bufs, 2000, -1) == 2000 && DO(uv_fs_write, file, bufs, 2000, 1000) == 2000);
  CHECK(pread(file, text, 2001, 1000) == 2000 && memcmp(text, "abcdefghijab", 12) == 0);
  for (i = 0; i < 2000; i++) bufs[i] = uv_buf_init(text + i, 1);
  CHECK(DO(uv_fs_read, file, bufs, 2000, 0) == 1024);
  CHECK(close(file) == 0 && unlink("buffers") == 0);
}

static void* write_to_fifo(void* argument) {
  int file;
  struct timespec moment = {0, 50 * 1000 * 1000};
  (void)argument;
  nanosleep(&moment, NULL);
  file = open("fifo", O_WRONLY);
  CHECK(file >= 0 && write(file, "late", 4) == 4 && close(file) == 0);
  return NULL;
}

static void* read_from_fifo(void* argument) {
  char memory[8];
  int file;
  struct timespec moment = {0, 50 * 1000 * 1000};
  (void)argument;
  nanosleep(&moment, NULL);
  file = open("fifo", O_RDONLY);
  CHECK(file >= 0 && read(file, memory, 8) == 5 && read(file, memory, 8) == 0 && close(file) == 0);
  return NULL;
}

/* Opening one waits for the other side, and what has no position takes no offset. */
static void fifos_and_pipes(void) {
  pthread_t thread;
  char memory[8];
  uv_buf_t buf = uv_buf_init(memory, 8);
  int file, ends[2];
  CHECK(mkfifo("fifo", 0600) == 0);
  CHECK(pthread_create(&thread, NULL, write_to_fifo, NULL) == 0);
  file = (int)DO(uv_fs_open, "fifo", O_RDONLY, 0);
  CHECK(file >= 0 && (fcntl(file, F_GETFL) & O_NONBLOCK) == 0);
  CHECK(DO(uv_fs_read, file, &buf, 1, -1) == 4 && DO(uv_fs_read, file, &buf, 1, -1) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && DO(uv_fs_close, file) == 0);
  CHECK(pthread_create(&thread, NULL, read_from_fifo, NULL) == 0);
  file = (int)DO(uv_fs_open, "fifo", O_WRONLY, 0);
  buf.len = 5;
  CHECK(file >= 0 && DO(uv_fs_write, file, &buf, 1, -1) == 5 && DO(uv_fs_close, file) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(DO(uv_fs_open, "fifo", O_WRONLY | O_NONBLOCK, 0) == UV_ENXIO && unlink("fifo") == 0);
  CHECK(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
  CHECK(DO(uv_fs_read, ends[0], &buf, 1, 1) == UV_ESPIPE && DO(uv_fs_write, ends[1], &buf, 1, 1) == UV_ESPIPE);
  CHECK(DO(uv_fs_fsync, ends[0]) == UV_EINVAL && DO(uv_fs_ftruncate, ends[1], 0) == UV_EINVAL);
  CHECK(DO(uv_fs_read, ends[0], &buf, 1, -1) == 3);
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && DO(uv_fs_read, ends[0], &buf, 1, -1) == UV_EAGAIN);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static ssize_t cancelled;

static void note_result(uv_fs_t* request) {
  cancelled = request->result;
  others++;
  uv_fs_req_cleanup(request);
}

static void stop_timer(uv_timer_t* timer) {
  CHECK(uv_cancel(timer->data) == 0);
  uv_close((uv_handle_t*)timer, NULL);
}

/* What is not begun is taken back, and so is a read that waits; what is done is not. */
static void requests_are_taken_back(void) {
  uv_timer_t timer;
  char memory[8];
  uv_buf_t buf = uv_buf_init(memory, 8);
  int ends[2];
  others = 0;
  /* A thread would have begun to make a file at once. */
  CHECK(uv_loop_configure(&loop, UV_LOOP_USE_IO_URING_SQPOLL) == 0);
  CHECK(uv_fs_open(&loop, &req, "never", O_CREAT | O_WRONLY, 0600, note_result) == 0 && uv_cancel((uv_req_t*)&req) == 0);
  CHECK(cancelled == 0 && uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 1 && cancelled == UV_ECANCELED);
  CHECK(!is_there("never"));
  CHECK(pipe(ends) == 0 && uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, stop_timer, 20, 0) == 0);
  timer.data = &req;
  CHECK(uv_fs_read(&loop, &req, ends[0], &buf, 1, -1, note_result) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 2 && cancelled == UV_ECANCELED);
  CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], memory, 8) == 1 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

static int descriptors(void) {
  int count = 0, number;
  for (number = 0; number < 1024; number++) count += fcntl(number, F_GETFD) != -1;
  return count;
}

static char under_way, given_up, told;

static void close_given_up(uv_fs_t* request) {
  /* Whoever has taken it back need not look whether there is a file. */
  if (request->data == &given_up) CHECK(request->result == UV_ECANCELED);
  if (request->result >= 0) CHECK(close((int)request->result) == 0);
  request->data = &told;
  others++;
  uv_fs_req_cleanup(request);
}

static void give_up(uv_fs_t* request) {
  int error;
  if (request->data == &told) return;
  error = uv_cancel((uv_req_t*)request);
  CHECK(error == 0 || error == UV_EBUSY);
  if (error == 0) request->data = &given_up;
}

/* Opens, some of which wait, are taken back before, while and after the kernel does them: no file stays open. */
static void what_is_given_up_leaves_no_file_open(void) {
  enum { MANY = 60 };
  static uv_fs_t requests[MANY];
  int before, file, i, round, reader;
  file = (int)DO(uv_fs_open, "file", O_RDONLY, 0);
  CHECK(file >= 0 && close(file) == 0 && mkfifo("fifo", 0600) == 0);
  before = descriptors();
  for (round = 0; round < 8; round++) {
    others = 0;
    for (i = 0; i < MANY; i++) {
      requests[i].data = &under_way;
      CHECK(uv_fs_open(&loop, &requests[i], "file", O_RDONLY, 0, close_given_up) == 0);
    }
    CHECK(uv_fs_open(&loop, &req, "fifo", O_WRONLY, 0, close_given_up) == 0);
    req.data = &under_way;
    if (round & 1) uv_run(&loop, UV_RUN_NOWAIT);
    for (i = 0; i < MANY; i += 2) give_up(&requests[i]);
    /* The other side comes before or after. */
    reader = round & 2 ? open("fifo", O_RDONLY | O_NONBLOCK) : -1;
    if (round & 4) give_up(&req);
    if (reader == -1) reader = open("fifo", O_RDONLY | O_NONBLOCK);
    CHECK(reader >= 0 && uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == MANY + 1 && close(reader) == 0);
    CHECK(descriptors() == before);
  }
  CHECK(unlink("fifo") == 0);
}

static void* run_once(void* argument) {
  (void)argument;
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0);
  return NULL;
}

/* A thread that has entered a request may end before it is done; the loop goes on on another one. */
static void threads_may_end(void) {
  pthread_t thread;
  char memory[8];
  uv_buf_t buf = uv_buf_init(memory, 8);
  int ends[2];
  others = 0;
  CHECK(pipe(ends) == 0 && uv_fs_read(&loop, &req, ends[0], &buf, 1, -1, note_result) == 0);
  CHECK(pthread_create(&thread, NULL, run_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(write(ends[1], "four", 4) == 4);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 1 && cancelled == 4 && memcmp(memory, "four", 4) == 0);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* The ring is there; then the user changes, and what it may is what that one may. */
static void users_may_change(void) {
  uv_buf_t buf;
  char memory[4];
  int file;
  buf = uv_buf_init(memory, 4);
  CHECK(chmod(".", 0755) == 0);
  make("secret", "root");
  CHECK(chmod("secret", 0600) == 0);
  file = (int)DO(uv_fs_open, "secret", O_RDONLY, 0);
  CHECK(file >= 0 && rings() == 1);
  CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
  CHECK(DO(uv_fs_open, "secret", O_RDONLY, 0) == UV_EACCES);
  CHECK(DO(uv_fs_open, "secret", O_RDONLY | O_CREAT, 0600) == UV_EACCES);
  CHECK(DO(uv_fs_mkdir, "mine", 0700) == UV_EACCES && DO(uv_fs_unlink, "secret") == UV_EACCES);
  CHECK(DO(uv_fs_read, file, &buf, 1, 0) == 4 && DO(uv_fs_close, file) == 0);
}

/* A program that was just written can be run. */
static void what_was_written_can_be_run(void) {
  static const char text[] = "#!/bin/sh\nexit 7\n";
  uv_buf_t buf = uv_buf_init((char*)text, sizeof(text) - 1);
  int i, file, status;
  for (i = 0; i < 50; i++) {
    pid_t child;
    file = (int)DO(uv_fs_open, "program", O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK(file >= 0 && DO(uv_fs_write, file, &buf, 1, -1) == (ssize_t)buf.len && DO(uv_fs_close, file) == 0);
    child = vfork();
    if (child == 0) {
      execl("./program", "program", (char*)NULL);
      _exit(errno);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
  CHECK(unlink("program") == 0);
}

/* A child has nothing of its parent's ring, and a loop of its own has one of its own. */
static void children_have_their_own(void) {
  uv_loop_t own;
  char memory[8];
  uv_buf_t buf = uv_buf_init(memory, 8);
  int ends[2], status;
  pid_t child;
  others = 0;
  CHECK(pipe(ends) == 0 && uv_fs_read(&loop, &req, ends[0], &buf, 1, -1, note_result) == 0);
  CHECK(uv_run(&loop, UV_RUN_NOWAIT) != 0);
  child = fork();
  if (child == 0) {
    static uv_fs_t request;
    CHECK(uv_loop_init(&own) == 0 && uv_fs_stat(&own, &request, "file", count_other) == 0);
    CHECK(uv_run(&own, UV_RUN_DEFAULT) == 0 && others == 1 && uv_loop_close(&own) == 0);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* Of its parent's loop it can make its own, in which what was under way is lost. */
  child = fork();
  if (child == 0) {
    CHECK(uv_loop_fork(&loop) == 0 && rings() == 0);
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 1 && cancelled == UV_ECANCELED);
    do_all();
    CHECK(uv_loop_close(&loop) == 0);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* In the parent itself it does no harm. */
  CHECK(uv_loop_fork(&loop) == 0);
  CHECK(write(ends[1], "y", 1) == 1 && uv_run(&loop, UV_RUN_DEFAULT) == 0 && others == 1 && cancelled == 1);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* One call of the kernel's own, to see whether it has rings and lets us. */
static int can_have_rings(void) {
  char parameters[256] = {0};
  int ring = (int)syscall(SYS_io_uring_setup, 4, parameters);
  if (ring < 0) return 0;
  close(ring);
  return 1;
}

int main(void) {
  char directory[] = "/tmp/oxuv-fs-XXXXXX";
  CHECK(unsetenv("UV_USE_IO_URING") == 0);
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  make("file", "hello");
  async = 1;
  in_child(without_by_environment);
  refusals();
  if (can_have_rings()) {
    in_child(with_a_ring);
    if (is_root()) in_child(users_may_change);
    unlink("secret");
  } else {
    fprintf(stderr, "not run: there are no rings here, so 3 tests of them say nothing and the others test threads\n");
  }
  in_child(positions_are_used_by_one_at_a_time);
  in_child(all_of_many_buffers_is_written);
  in_child(fifos_and_pipes);
  if (can_have_rings()) in_child(requests_are_taken_back);
  in_child(what_is_given_up_leaves_no_file_open);
  in_child(threads_may_end);
  in_child(what_was_written_can_be_run);
  in_child(children_have_their_own);
  CHECK(unlink("file") == 0 && chdir("/") == 0 && rmdir(directory) == 0);
  puts("ok");
  return 0;
}

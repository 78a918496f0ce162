/* The bytes of files. */
#include "fs.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static char memory[8192];

static uv_buf_t buf(const char* bytes) { return uv_buf_init((char*)bytes, (unsigned)strlen(bytes)); }

static void bytes_go_where_the_position_is_or_where_they_are_told(void) {
  uv_buf_t text[2], room[2];
  int file = (int)DO(uv_fs_open, "file", O_RDWR | O_CREAT, 0640);
  CHECK(file >= 0 && fcntl(file, F_GETFD) == FD_CLOEXEC);
  text[0] = buf("hello ");
  text[1] = buf("world");
  CHECK(DO(uv_fs_write, file, text, 2, -1) == 11);
  CHECK(lseek(file, 0, SEEK_CUR) == 11);
  text[0] = buf("W");
  CHECK(DO(uv_fs_write, file, text, 1, 6) == 1);
  CHECK(lseek(file, 0, SEEK_CUR) == 11);

  room[0] = uv_buf_init(memory, 3);
  room[1] = uv_buf_init(memory + 3, 100);
  CHECK(DO(uv_fs_read, file, room, 2, 0) == 11);
  CHECK(memcmp(memory, "hello World", 11) == 0);
  CHECK(lseek(file, 6, SEEK_SET) == 6);
  CHECK(DO(uv_fs_read, file, room, 1, -1) == 3 && memcmp(memory, "Wor", 3) == 0);
  CHECK(DO(uv_fs_read, file, room, 2, -1) == 2 && memcmp(memory, "ld", 2) == 0);
  CHECK(DO(uv_fs_read, file, room, 2, -1) == 0);
  CHECK(DO(uv_fs_read, file, room, 1, 11) == 0);

  CHECK(DO(uv_fs_ftruncate, file, 5) == 0 && has("file", "hello"));
  CHECK(DO(uv_fs_ftruncate, file, -1) == UV_EINVAL && DO(uv_fs_ftruncate, -1, -1) == UV_EINVAL);
  CHECK(DO(uv_fs_fsync, file) == 0 && DO(uv_fs_fdatasync, file) == 0);
  CHECK(DO(uv_fs_close, file) == 0);
  CHECK(fcntl(file, F_GETFD) == -1 && errno == EBADF);
  CHECK(unlink("file") == 0);
}

static void what_is_opened_for_appending_is_written_at_its_end(void) {
  uv_buf_t text = buf("cd");
  int file;
  make("file", "ab");
  file = (int)DO(uv_fs_open, "file", O_WRONLY | O_APPEND, 0);
  CHECK(DO(uv_fs_write, file, &text, 1, -1) == 2 && DO(uv_fs_write, file, &text, 1, 0) == 2);
  CHECK(DO(uv_fs_close, file) == 0 && has("file", "abcdcd") && unlink("file") == 0);
}

static void what_is_wrong_is_told(void) {
  uv_buf_t room = uv_buf_init(memory, 10), vast[2];
  int pipes[2];
  CHECK(DO(uv_fs_open, "none", O_RDONLY, 0) == UV_ENOENT);
  CHECK(DO(uv_fs_open, ".", O_WRONLY, 0) == UV_EISDIR);
  CHECK(DO(uv_fs_open, NULL, O_RDONLY, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_close, -1) == UV_EBADF && DO(uv_fs_close, 12345) == UV_EBADF);
  CHECK(DO(uv_fs_read, -1, &room, 1, 0) == UV_EBADF && DO(uv_fs_write, 12345, &room, 1, 0) == UV_EBADF);
  CHECK(DO(uv_fs_read, 0, NULL, 1, 0) == UV_EINVAL && DO(uv_fs_read, 0, &room, 0, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_write, 0, NULL, 1, 0) == UV_EINVAL && DO(uv_fs_write, 0, &room, 0, 0) == UV_EINVAL);
  CHECK(DO(uv_fs_fsync, -1) == UV_EBADF && DO(uv_fs_fdatasync, 12345) == UV_EBADF);
  CHECK(DO(uv_fs_ftruncate, -100, 0) == UV_EBADF && DO(uv_fs_fstat, -100) == UV_EBADF);
  CHECK(pipe(pipes) == 0);
  CHECK(DO(uv_fs_write, pipes[1], &room, 1, 0) == UV_ESPIPE);
  CHECK(DO(uv_fs_fsync, pipes[1]) == UV_EINVAL);
  CHECK(DO(uv_fs_write, pipes[0], &room, 1, -1) == UV_EBADF);
  CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0);

  /* Their sum must not become a small number. */
  vast[0].base = vast[1].base = memory;
  vast[0].len = vast[1].len = (size_t)1 << 63;
  CHECK(DO(uv_fs_write, 1, vast, 2, -1) == UV_EINVAL);
}

/* libuv's pull request 4004: no more than 1024 of them were written. */
static void however_many_buffers_are_written(void) {
  enum { COUNT = 2500 };
  static uv_buf_t bufs[COUNT];
  static char bytes[COUNT], back[COUNT];
  int i, file = open("file", O_RDWR | O_CREAT, 0600);
  for (i = 0; i < COUNT; i++) {
    bytes[i] = (char)(i % 101);
    bufs[i] = uv_buf_init(&bytes[i], 1);
  }
  CHECK(DO(uv_fs_write, file, bufs, COUNT, -1) == COUNT);
  CHECK(pread(file, back, COUNT, 0) == COUNT && memcmp(bytes, back, COUNT) == 0);
  CHECK(DO(uv_fs_write, file, bufs, COUNT, 10) == COUNT);
  CHECK(pread(file, back, COUNT, 10) == COUNT && memcmp(bytes, back, COUNT) == 0);
  CHECK(lseek(file, 0, SEEK_END) == COUNT + 10);
  /* The array is the program's: it is as it was. */
  for (i = 0; i < COUNT; i++) CHECK(bufs[i].base == &bytes[i] && bufs[i].len == 1);
  /* Of reads it is what the system takes at once. */
  CHECK(DO(uv_fs_read, file, bufs, COUNT, 0) == 1024);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

static void empty_buffers_are_nothing(void) {
  uv_buf_t bufs[4];
  int file = open("file", O_RDWR | O_CREAT, 0600);
  bufs[0] = bufs[2] = uv_buf_init(NULL, 0);
  bufs[1] = buf("ab");
  bufs[3] = buf("c");
  CHECK(DO(uv_fs_write, file, bufs, 1, -1) == 0 && DO(uv_fs_write, file, bufs, 4, -1) == 3);
  CHECK(has("file", "abc"));
  bufs[1] = bufs[3] = uv_buf_init(memory, 2);
  CHECK(DO(uv_fs_read, file, bufs, 1, 0) == 0 && DO(uv_fs_read, file, bufs, 4, 0) == 3);
  CHECK(close(file) == 0 && unlink("file") == 0);
}

/* A pipe takes a part; the rest follows when there is room, beginning in the midst of a buffer. */
static void drain(void* arg) {
  size_t total = 0;
  char bytes[999];
  ssize_t size;
  while ((size = read(*(int*)arg, bytes, sizeof(bytes))) > 0) {
    ssize_t i;
    for (i = 0; i < size; i++) CHECK(bytes[i] == (char)((total + (size_t)i) % 127));
    total += (size_t)size;
  }
  CHECK(total == 3 * 100001);
}

static void what_is_taken_in_parts_is_written_whole(void) {
  size_t i, size = 100001;
  char* bytes = malloc(3 * size);
  uv_buf_t bufs[3];
  uv_thread_t thread;
  int pipes[2];
  for (i = 0; i < 3 * size; i++) bytes[i] = (char)(i % 127);
  for (i = 0; i < 3; i++) bufs[i] = uv_buf_init(bytes + i * size, (unsigned)size);
  CHECK(pipe(pipes) == 0 && uv_thread_create(&thread, drain, &pipes[0]) == 0);
  CHECK(DO(uv_fs_write, pipes[1], bufs, 3, -1) == 3 * (ssize_t)size);
  CHECK(close(pipes[1]) == 0 && uv_thread_join(&thread) == 0 && close(pipes[0]) == 0);
  free(bytes);
}

/* The report on 32-bit results, libuv#3360. */
static void more_than_a_result_can_say_is_refused(void) {
  size_t size = (size_t)1 << 31;
  char* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int file = open("/dev/null", O_WRONLY);
  uv_buf_t bufs[2];
  CHECK(bytes != MAP_FAILED && file >= 0);
  bufs[0].base = bufs[1].base = bytes;
  bufs[0].len = size;
  CHECK(DO(uv_fs_write, file, bufs, 1, -1) == UV_EINVAL);
  bufs[0].len = bufs[1].len = size / 2;
  CHECK(DO(uv_fs_write, file, bufs, 2, -1) == UV_EINVAL);
  CHECK(DO(uv_fs_write, file, bufs, 1, -1) == (ssize_t)size / 2);
  CHECK(close(file) == 0 && munmap(bytes, size) == 0);
}

static void files_may_be_large(void) {
  int64_t far = ((int64_t)5 << 30) + 3;
  uv_buf_t text = buf("end"), room = uv_buf_init(memory, 10);
  int file = (int)DO(uv_fs_open, "file", O_RDWR | O_CREAT, 0600);
  CHECK(DO(uv_fs_write, file, &text, 1, far) == 3);
  CHECK(DO(uv_fs_read, file, &room, 1, far) == 3 && memcmp(memory, "end", 3) == 0);
  CALL(uv_fs_fstat, file);
  CHECK(req.statbuf.st_size == (uint64_t)far + 3);
  cleaned(0);
  CHECK(DO(uv_fs_ftruncate, file, far - 1) == 0 && lseek(file, 0, SEEK_END) == far - 1);
  CHECK(DO(uv_fs_close, file) == 0 && unlink("file") == 0);
}

/* libuv#2332: where the system lacks the call for several buffers at an offset. */
static void deny(int call) {
  struct sock_filter lines[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, lines};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void several_buffers_are_filled_without_a_call_for_it(void) {
  pid_t child;
  int status;
  if (async) return; /* A thread does the same, and a child has not its parent's threads. */
  make("file", "0123456789");
  child = fork();
  if (child == 0) {
    uv_buf_t bufs[3];
    int file = open("file", O_RDWR);
    deny(SYS_preadv);
    deny(SYS_pwritev);
    bufs[0] = uv_buf_init(memory, 3);
    bufs[1] = uv_buf_init(memory + 3, 3);
    bufs[2] = uv_buf_init(memory + 6, 30);
    CHECK(preadv(file, (struct iovec*)bufs, 2, 0) == -1 && errno == ENOSYS);
    CHECK(DO(uv_fs_read, file, bufs, 3, 2) == 8 && memcmp(memory, "23456789", 8) == 0);
    CHECK(DO(uv_fs_read, file, bufs, 2, 2) == 6);
    bufs[0] = buf("ab");
    bufs[1] = uv_buf_init(NULL, 0);
    bufs[2] = buf("c");
    CHECK(DO(uv_fs_write, file, bufs, 3, 1) == 3);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(has("file", "0abc456789") && unlink("file") == 0);
}

static void test(void) {
  bytes_go_where_the_position_is_or_where_they_are_told();
  what_is_opened_for_appending_is_written_at_its_end();
  what_is_wrong_is_told();
  however_many_buffers_are_written();
  empty_buffers_are_nothing();
  what_is_taken_in_parts_is_written_whole();
  more_than_a_result_can_say_is_refused();
  files_may_be_large();
  several_buffers_are_filled_without_a_call_for_it();
}

int main(void) {
  return in_both_ways(test);
}

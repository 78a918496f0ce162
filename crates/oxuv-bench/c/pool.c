/* What the pool's threads do: work that is nothing, and files. So many requests are under way all the time. */

#include "workloads.h"

#include <fcntl.h>
#include <string.h>

/* What the bench has made in the directory that this runs in. */
#define FOLDERS 16
#define FILES 64
#define LARGE "large"
#define LARGE_SIZE (16 << 20)
#define PIECE 4096

struct request {
  union {
    uv_work_t work;
    uv_fs_t fs;
  } is;
  uv_file file;
  uv_buf_t buf;
  char bytes[PIECE];
};

static uv_loop_t loop;
static struct request *requests;
static long depth;
static long left;
static char paths[FOLDERS * FILES][16];
static uv_file large;
static void (*start)(struct request *request);

static void start_all(void) {
  long i;

  for (i = 0; i < depth && left > 0; i++) {
    left--;
    start(&requests[i]);
  }
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void next(struct request *request) {
  if (left > 0) {
    left--;
    start(request);
  }
}

static void run(void (*operation)(struct request *), long handles, long operations) {
  long i;

  CHECK(uv_loop_init(&loop));
  if (getenv("OXUV_BENCH_SQPOLL") != NULL)
    uv_loop_configure(&loop, UV_LOOP_USE_IO_URING_SQPOLL);
  start = operation;
  depth = handles;
  requests = calloc(handles, sizeof *requests);
  CHECK(requests == NULL ? -1 : 0);
  for (i = 0; i < handles; i++)
    requests[i].buf = uv_buf_init(requests[i].bytes, PIECE);
  for (i = 0; i < FOLDERS * FILES; i++)
    snprintf(paths[i], sizeof paths[i], "%ld/%ld", i / FILES, i % FILES);
  /* Has the threads started. */
  left = 1;
  start_all();
  left = operations;
  timed_section(start_all);
}

static void nothing(uv_work_t *work) {
  (void) work;
}

static void on_work(uv_work_t *work, int status) {
  CHECK(status);
  next((struct request *) work);
}

static void start_work(struct request *request) {
  CHECK(uv_queue_work(&loop, &request->is.work, nothing, on_work));
}

void pool_work(long handles, long operations) {
  run(start_work, handles, operations);
}

static const char *any_path(void) {
  return paths[next_random() % (FOLDERS * FILES)];
}

static void on_stat(uv_fs_t *fs) {
  CHECK(fs->result);
  uv_fs_req_cleanup(fs);
  next((struct request *) fs);
}

static void start_stat(struct request *request) {
  CHECK(uv_fs_stat(&loop, &request->is.fs, any_path(), on_stat));
}

void pool_stat(long handles, long operations) {
  run(start_stat, handles, operations);
}

static void on_read(uv_fs_t *fs) {
  CHECK(fs->result == PIECE ? 0 : -1);
  uv_fs_req_cleanup(fs);
  next((struct request *) fs);
}

static void start_read(struct request *request) {
  int64_t offset = next_random() % (LARGE_SIZE / PIECE) * PIECE;

  CHECK(uv_fs_read(&loop, &request->is.fs, large, &request->buf, 1, offset, on_read));
}

void pool_read(long handles, long operations) {
  large = open(LARGE, O_RDONLY | O_CLOEXEC);
  CHECK(large);
  run(start_read, handles, operations);
}

static void on_closed(uv_fs_t *fs) {
  CHECK(fs->result);
  uv_fs_req_cleanup(fs);
  next((struct request *) fs);
}

static void on_piece(uv_fs_t *fs) {
  struct request *request = (struct request *) fs;

  CHECK(fs->result == PIECE ? 0 : -1);
  uv_fs_req_cleanup(fs);
  CHECK(uv_fs_close(&loop, fs, request->file, on_closed));
}

static void on_opened(uv_fs_t *fs) {
  struct request *request = (struct request *) fs;

  CHECK(fs->result);
  request->file = (uv_file) fs->result;
  uv_fs_req_cleanup(fs);
  CHECK(uv_fs_read(&loop, fs, request->file, &request->buf, 1, 0, on_piece));
}

static void start_open(struct request *request) {
  CHECK(uv_fs_open(&loop, &request->is.fs, any_path(), O_RDONLY, 0, on_opened));
}

void pool_open(long handles, long operations) {
  run(start_open, handles, operations);
}

/* File requests on the pool: many at a time, taken back, memory that goes with its callback.
 *
 * descriptors are not looked for under valgrind: the program ends in the midst of a request */
#include "fs.h"

static uv_loop_t lp;
static int heard_of, cancelled;

static void free_it(uv_fs_t* request) {
  heard_of++;
  CHECK(request->result == 0 && request->ptr == &request->statbuf);
  uv_fs_req_cleanup(request);
  memset(request, 0xdb, sizeof(*request));
  free(request);
}

static void requests_may_be_many_and_go_in_their_callbacks(void) {
  int i;
  heard_of = 0;
  for (i = 0; i < 500; i++) {
    char path[] = "/tmp";
    CHECK(uv_fs_stat(&lp, dirty(sizeof(uv_fs_t)), path, free_it) == 0);
    memset(path, 'x', 4);
  }
  CHECK(uv_loop_alive(&lp) && lp.active_reqs.count == 500 && uv_loop_close(&lp) == UV_EBUSY);
  CHECK(uv_run(&lp, UV_RUN_DEFAULT) == 0 && heard_of == 500 && lp.active_reqs.count == 0);
}

/* Each step is begun in the callback of the one before, with the same request. */
static int step;
static uv_buf_t step_buf;
static char text[] = "hello", back[10];

static void next_step(uv_fs_t* request) {
  int file = (int)(intptr_t)request->data;
  ssize_t result = request->result;
  uv_fs_req_cleanup(request);
  switch (step++) {
    case 0:
      CHECK(result >= 0);
      request->data = (void*)(intptr_t)result;
      step_buf = uv_buf_init(text, 5);
      CHECK(uv_fs_write(&lp, request, (int)result, &step_buf, 1, -1, next_step) == 0);
      memset(&step_buf, 0xdb, sizeof(step_buf));
      return;
    case 1:
      CHECK(result == 5);
      step_buf = uv_buf_init(back, 10);
      CHECK(uv_fs_read(&lp, request, file, &step_buf, 1, 1, next_step) == 0);
      memset(&step_buf, 0xdb, sizeof(step_buf));
      return;
    case 2:
      CHECK(result == 4 && memcmp(back, "ello", 4) == 0);
      CHECK(uv_fs_close(&lp, request, file, next_step) == 0);
      return;
    case 3:
      CHECK(result == 0);
      CHECK(uv_fs_unlink(&lp, request, "file", next_step) == 0);
      return;
    default:
      CHECK(result == 0);
  }
}

static void a_request_is_used_again_in_its_callback(void) {
  uv_fs_t* request = dirty(sizeof(*request));
  char directory[] = "/tmp/oxuv-fs-XXXXXX";
  CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
  step = 0;
  CHECK(uv_fs_open(&lp, request, "file", O_RDWR | O_CREAT, 0600, next_step) == 0);
  CHECK(uv_run(&lp, UV_RUN_DEFAULT) == 0 && step == 5);
  free(request);
  CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

/* Work that keeps all threads until it is let go. */
enum { THREADS = 4 };
static uv_sem_t begun, go;

static void wait_to_go(uv_work_t* work) {
  (void)work;
  uv_sem_post(&begun);
  uv_sem_wait(&go);
}

static void taken_back(uv_fs_t* request) {
  CHECK(request->result == UV_ECANCELED && request->ptr == request->data && request->bufs == NULL);
  CHECK(uv_fs_get_system_error(request) == ECANCELED);
  cancelled++;
  uv_fs_req_cleanup(request);
  uv_fs_req_cleanup(request);
}

static void heard_well(uv_fs_t* request) {
  CHECK(request->result == 0 && uv_cancel((uv_req_t*)request) == UV_EBUSY);
  heard_of++;
  uv_fs_req_cleanup(request);
}

static void a_request_is_taken_back_until_it_has_begun(void) {
  static uv_work_t works[THREADS];
  static uv_fs_t requests[12];
  uv_buf_t bufs[8];
  uv_dirent_t entry;
  uv_fs_t* opened = dirty(sizeof(*opened));
  uv_dir_t* dir;
  int i, count = 0;
  memset(requests, 0, sizeof(requests));
  memset(bufs, 0, sizeof(bufs));
  CHECK(uv_fs_opendir(NULL, opened, "/tmp", NULL) == 0);
  dir = opened->ptr;
  dir->dirents = &entry;
  dir->nentries = 1;
  uv_fs_req_cleanup(opened);
  CHECK(uv_sem_init(&begun, 0) == 0 && uv_sem_init(&go, 0) == 0);
  for (i = 0; i < THREADS; i++) CHECK(uv_queue_work(&lp, &works[i], wait_to_go, NULL) == 0);
  for (i = 0; i < THREADS; i++) uv_sem_wait(&begun);

  heard_of = cancelled = 0;
  CHECK(uv_fs_stat(&lp, &requests[count++], "/", taken_back) == 0);
  CHECK(uv_fs_rename(&lp, &requests[count++], "/none", "/nowhere", taken_back) == 0);
  CHECK(uv_fs_scandir(&lp, &requests[count++], "/", 0, taken_back) == 0);
  CHECK(uv_fs_write(&lp, &requests[count++], 1, bufs, 2, -1, taken_back) == 0);
  CHECK(uv_fs_read(&lp, &requests[count++], 0, bufs, 8, -1, taken_back) == 0);
  CHECK(uv_fs_mkdtemp(&lp, &requests[count++], "/none/XXXXXX", taken_back) == 0);
  CHECK(uv_fs_realpath(&lp, &requests[count++], "/", taken_back) == 0);
  CHECK(uv_fs_opendir(&lp, &requests[count++], "/", taken_back) == 0);
  requests[count].data = dir;
  CHECK(uv_fs_readdir(&lp, &requests[count++], dir, taken_back) == 0);
  requests[count].data = dir;
  CHECK(uv_fs_closedir(&lp, &requests[count++], dir, taken_back) == 0);
  CHECK(uv_fs_access(&lp, &requests[count], "/", F_OK, heard_well) == 0);
  for (i = 0; i < count; i++) CHECK(uv_cancel((uv_req_t*)&requests[i]) == 0);
  for (i = 0; i < count; i++) CHECK(uv_cancel((uv_req_t*)&requests[i]) == 0);
  CHECK(cancelled == 0);
  for (i = 0; i < THREADS; i++) uv_sem_post(&go);
  CHECK(uv_run(&lp, UV_RUN_DEFAULT) == 0 && cancelled == count && heard_of == 1);
  uv_sem_destroy(&begun);
  uv_sem_destroy(&go);

  /* A directory whose closing was taken back is open still. */
  CHECK(uv_fs_readdir(NULL, opened, dir, NULL) == 1);
  uv_fs_req_cleanup(opened);
  CHECK(uv_fs_closedir(NULL, opened, dir, NULL) == 0);
  uv_fs_req_cleanup(opened);
  free(opened);
}

/* neovim#32332: nobody opens the other side, and the program ends all the same. */
static void never(uv_fs_t* request) {
  (void)request;
  CHECK(!"called");
}

static void a_program_ends_while_a_thread_waits(const char* fifo) {
  static uv_fs_t request;
  CHECK(mkfifo(fifo, 0600) == 0);
  CHECK(uv_fs_open(&lp, &request, fifo, O_RDONLY, 0, never) == 0);
  CHECK(usleep(50000) == 0 && uv_run(&lp, UV_RUN_NOWAIT) != 0);
}

int main(void) {
  char fifo[64];
  CHECK(setenv("UV_THREADPOOL_SIZE", "4", 1) == 0 && uv_loop_init(&lp) == 0);
  requests_may_be_many_and_go_in_their_callbacks();
  a_request_is_used_again_in_its_callback();
  a_request_is_taken_back_until_it_has_begun();
  snprintf(fifo, sizeof(fifo), "/tmp/oxuv-fifo-%ld", (long)getpid());
  a_program_ends_while_a_thread_waits(fifo);
  CHECK(unlink(fifo) == 0);
  puts("ok");
  return 0;
}

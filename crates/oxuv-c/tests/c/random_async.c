/* Random bytes that come later. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "check.h"

static uv_loop_t* loop;
static uv_sem_t begun;
static uv_sem_t go_on;
static int statuses[8];
static int calls;

static void block(uv_work_t* req) {
  (void) req;
  uv_sem_post(&begun);
  uv_sem_wait(&go_on);
}

static void on_random(uv_random_t* req, int status, void* buf, size_t buflen) {
  CHECK(req->loop == loop && req->type == UV_RANDOM);
  CHECK(req->data == buf || (buf == NULL && buflen <= 5));
  CHECK(uv_cancel((uv_req_t*) req) == UV_EBUSY);
  statuses[calls++] = status;
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static uv_random_t* ask(void* buf, size_t size) {
  uv_random_t* req = dirty(sizeof(*req));
  req->data = buf;
  CHECK(uv_random(loop, req, buf, size, 0, on_random) == 0);
  return req;
}

static void bytes_come(void) {
  static unsigned char bytes[100000];
  size_t i, j;
  calls = 0;
  ask(bytes, sizeof(bytes));
  ask(bytes, 0);
  ask(NULL, 0);
  CHECK(calls == 0 && uv_loop_close(loop) == UV_EBUSY);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 3 && statuses[0] == 0 && statuses[1] == 0 && statuses[2] == 0);
  /* That 32 bytes stay zero happens once in 2^256 runs. */
  for (i = 0; i < sizeof(bytes); i += 32) {
    for (j = 0; j < 32 && bytes[i + j] == 0; j++) continue;
    CHECK(j < 32);
  }
}

static void what_cannot_be_is_refused(void) {
  uv_random_t req;
  char byte;
  calls = 0;
  CHECK(uv_random(loop, &req, &byte, (size_t) 1 << 31, 0, on_random) == UV_E2BIG);
  CHECK(uv_random(loop, &req, &byte, 1, 1, on_random) == UV_EINVAL);
  CHECK(uv_random(NULL, &req, &byte, 1, 0, on_random) == UV_EINVAL);
  CHECK(uv_random(loop, NULL, &byte, 1, 0, on_random) == UV_EINVAL);
  CHECK(!uv_loop_alive(loop));
  ask(NULL, 5);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && statuses[0] == UV_EFAULT);
}

static void it_is_taken_back(void) {
  uv_work_t work;
  char bytes[8] = {0};
  uv_random_t* req;
  calls = 0;
  CHECK(uv_queue_work(loop, &work, block, NULL) == 0);
  uv_sem_wait(&begun);
  req = ask(bytes, sizeof(bytes));
  CHECK(uv_cancel((uv_req_t*) req) == 0);
  CHECK(uv_cancel((uv_req_t*) req) == 0);
  CHECK(calls == 0);
  uv_sem_post(&go_on);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(calls == 1 && statuses[0] == UV_ECANCELED);
  CHECK(memcmp(bytes, "\0\0\0\0\0\0\0", 8) == 0);
}

int main(void) {
  CHECK(setenv("UV_THREADPOOL_SIZE", "1", 1) == 0);
  CHECK(uv_sem_init(&begun, 0) == 0 && uv_sem_init(&go_on, 0) == 0);
  loop = uv_default_loop();
  bytes_come();
  what_cannot_be_is_refused();
  it_is_taken_back();
  CHECK(uv_loop_close(loop) == 0);
  uv_library_shutdown();
  puts("ok");
  return 0;
}

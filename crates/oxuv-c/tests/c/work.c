/* Work on a pool of one thread. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "check.h"

static uv_loop_t* loop;
static char order[64];
static uv_sem_t begun;
static uv_sem_t go_on;

static void note(char what) {
  size_t length = strlen(order);
  CHECK(length + 1 < sizeof(order));
  order[length] = what;
}

static void forget(void) { memset(order, 0, sizeof(order)); }

static uv_req_t* as_req(uv_work_t* work) { return (uv_req_t*) work; }

/* Keeps the thread busy until `go_on`. */
static void block(uv_work_t* req) {
  (void) req;
  uv_sem_post(&begun);
  uv_sem_wait(&go_on);
}

static void nothing(uv_work_t* req) { (void) req; }

static void never(uv_work_t* req) {
  (void) req;
  CHECK(!"it was cancelled");
}

/* A letter for each: its data, small if it was done, capital if it was cancelled. */
static void on_done(uv_work_t* req, int status) {
  char letter = (char) (size_t) req->data;
  CHECK(status == 0 || status == UV_ECANCELED);
  CHECK(req->loop == loop && uv_req_get_type(as_req(req)) == UV_WORK);
  CHECK(uv_cancel(as_req(req)) == UV_EBUSY);
  note(status == 0 ? letter : letter - 32);
  memset(req, 0xdb, sizeof(*req));
  free(req);
}

static uv_work_t* queue(uv_work_cb cb, char letter) {
  uv_work_t* req = dirty(sizeof(*req));
  req->data = (void*) (size_t) letter;
  CHECK(uv_queue_work(loop, req, cb, on_done) == 0);
  CHECK(req->data == (void*) (size_t) letter);
  return req;
}

static void what_has_not_begun_is_taken_back(void) {
  uv_work_t *a, *c, *e;
  forget();
  a = queue(block, 'a');
  uv_sem_wait(&begun);
  queue(nothing, 'b');
  c = queue(never, 'c');
  queue(nothing, 'd');
  e = queue(never, 'e');
  CHECK(uv_cancel(as_req(a)) == UV_EBUSY);
  CHECK(uv_cancel(as_req(c)) == 0);
  CHECK(uv_cancel(as_req(c)) == 0);
  CHECK(uv_cancel(as_req(e)) == 0);
  CHECK(strcmp(order, "") == 0);
  CHECK(uv_loop_alive(loop) && uv_loop_close(loop) == UV_EBUSY);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(strcmp(order, "CE") == 0);
  uv_sem_post(&go_on);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(strcmp(order, "CEabd") == 0);
}

static void again(uv_work_t* req, int status) {
  int* left = req->data;
  CHECK(status == 0);
  if (--*left > 0) CHECK(uv_queue_work(loop, req, nothing, again) == 0);
}

static void its_callback_may_queue_it_again(void) {
  uv_work_t req;
  int left = 100;
  memset(&req, 0xff, sizeof(req));
  req.data = &left;
  CHECK(uv_queue_work(loop, &req, nothing, again) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(left == 0);
}

static void count(uv_work_t* req) { ++*(int*) req->data; }

static void the_callback_may_be_null(void) {
  uv_work_t req;
  int counted = 0;
  memset(&req, 0xff, sizeof(req));
  req.data = &counted;
  CHECK(uv_queue_work(loop, &req, NULL, on_done) == UV_EINVAL);
  CHECK(!uv_loop_alive(loop));
  CHECK(uv_queue_work(loop, &req, count, NULL) == 0);
  CHECK(uv_loop_alive(loop) && loop->active_reqs.count == 1);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(counted == 1 && loop->active_reqs.count == 0);
}

enum { MANY = 10000 };

static int next_to_run;
static int next_to_come;

static void in_order(uv_work_t* req) { CHECK((size_t) req->data == (size_t) next_to_run++); }

static void came_in_order(uv_work_t* req, int status) {
  CHECK(status == 0 && (size_t) req->data == (size_t) next_to_come++);
  free(req);
}

static void many_run_and_come_in_order(void) {
  size_t i;
  for (i = 0; i < MANY; i++) {
    uv_work_t* req = dirty(sizeof(*req));
    req->data = (void*) i;
    CHECK(uv_queue_work(loop, req, in_order, came_in_order) == 0);
  }
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(next_to_run == MANY && next_to_come == MANY);
}

static void on_async(uv_async_t* async) {
  note('!');
  uv_close((uv_handle_t*) async, NULL);
}

/* Both are there when the loop looks. */
static void results_come_before_asyncs(void) {
  uv_async_t async;
  forget();
  CHECK(uv_async_init(loop, &async, on_async) == 0);
  queue(block, 'a');
  uv_sem_wait(&begun);
  CHECK(uv_async_send(&async) == 0);
  CHECK(uv_cancel(as_req(queue(never, 'b'))) == 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(strcmp(order, "B!") == 0);
  uv_sem_post(&go_on);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(strcmp(order, "B!a") == 0);
}

static void run_inside(uv_work_t* req, int status) {
  (void) req;
  CHECK(status == UV_ECANCELED);
  note('(');
  uv_run(loop, UV_RUN_NOWAIT);
  note(')');
}

/* What came in the same batch is not lost. */
static void a_callback_may_run_the_loop(void) {
  uv_work_t req;
  forget();
  queue(block, 'a');
  uv_sem_wait(&begun);
  CHECK(uv_queue_work(loop, &req, never, run_inside) == 0);
  CHECK(uv_cancel(as_req(&req)) == 0);
  CHECK(uv_cancel(as_req(queue(never, 'b'))) == 0);
  CHECK(uv_cancel(as_req(queue(never, 'c'))) == 0);
  CHECK(uv_run(loop, UV_RUN_NOWAIT) != 0);
  CHECK(strcmp(order, "(BC)") == 0);
  uv_sem_post(&go_on);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(strcmp(order, "(BC)a") == 0);
}

static void name_of_thread(uv_work_t* req) {
  uv_thread_t self = uv_thread_self();
  CHECK(uv_thread_getname(&self, req->data, 16) == 0);
}

static void threads_have_a_name(void) {
  uv_work_t req;
  char name[16];
  req.data = name;
  CHECK(uv_queue_work(loop, &req, name_of_thread, NULL) == 0);
  CHECK(uv_run(loop, UV_RUN_DEFAULT) == 0);
  CHECK(strcmp(name, "libuv-worker") == 0);
}

int main(void) {
  CHECK(setenv("UV_THREADPOOL_SIZE", "1", 1) == 0);
  CHECK(uv_sem_init(&begun, 0) == 0 && uv_sem_init(&go_on, 0) == 0);
  loop = uv_default_loop();
  the_callback_may_be_null();
  what_has_not_begun_is_taken_back();
  its_callback_may_queue_it_again();
  many_run_and_come_in_order();
  results_come_before_asyncs();
  a_callback_may_run_the_loop();
  threads_have_a_name();
  CHECK(uv_loop_close(loop) == 0);
  uv_library_shutdown();
  /* It starts anew. */
  loop = uv_default_loop();
  the_callback_may_be_null();
  CHECK(uv_loop_close(loop) == 0);
  uv_library_shutdown();
  uv_sem_destroy(&begun);
  uv_sem_destroy(&go_on);
  puts("ok");
  return 0;
}

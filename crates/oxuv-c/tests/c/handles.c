/* What all handles and requests have in common: kinds, data, references, closing. */
#include "check.h"

static uv_loop_t loop;
static int closed;

/* Each kind of handle and of request has the size and the name of its type. */
static void kinds(void) {
#define HANDLE(number, name)                                                                       \
  CHECK(uv_handle_size(UV_##number) == sizeof(uv_##name##_t));                                     \
  CHECK(strcmp(uv_handle_type_name(UV_##number), #name) == 0);
  UV_HANDLE_TYPE_MAP(HANDLE)
#define REQUEST(number, name)                                                                      \
  CHECK(uv_req_size(UV_##number) == sizeof(uv_##name##_t));                                        \
  CHECK(strcmp(uv_req_type_name(UV_##number), #name) == 0);
  UV_REQ_TYPE_MAP(REQUEST)
  CHECK(strcmp(uv_handle_type_name(UV_FILE), "file") == 0);
  CHECK(uv_handle_size(UV_FILE) == (size_t) -1);
  CHECK(uv_handle_size(UV_UNKNOWN_HANDLE) == (size_t) -1);
  CHECK(uv_handle_size(UV_HANDLE_TYPE_MAX) == (size_t) -1);
  CHECK(uv_handle_size((uv_handle_type) -1) == (size_t) -1);
  CHECK(uv_handle_type_name(UV_UNKNOWN_HANDLE) == NULL);
  CHECK(uv_handle_type_name(UV_HANDLE_TYPE_MAX) == NULL);
  CHECK(uv_handle_type_name((uv_handle_type) -1) == NULL);
  CHECK(uv_req_size(UV_UNKNOWN_REQ) == (size_t) -1);
  CHECK(uv_req_size(UV_REQ_TYPE_MAX) == (size_t) -1);
  CHECK(uv_req_size((uv_req_type) -1) == (size_t) -1);
  CHECK(uv_req_type_name(UV_UNKNOWN_REQ) == NULL);
  CHECK(uv_req_type_name(UV_REQ_TYPE_MAX) == NULL);
  CHECK(uv_req_type_name((uv_req_type) -1) == NULL);
}

static void requests(void) {
  uv_req_t req;
  memset(&req, 0xdb, sizeof(req));
  uv_req_set_data(&req, &loop);
  CHECK(req.data == &loop && uv_req_get_data(&req) == &loop);
  req.type = UV_WORK;
  CHECK(uv_req_get_type(&req) == UV_WORK);
}

static void on_close(uv_handle_t* handle) {
  closed++;
  CHECK(uv_is_closing(handle) && !uv_is_active(handle) && !uv_has_ref(handle));
  CHECK(uv_handle_get_data(handle) == &closed);
  CHECK(uv_handle_get_loop(handle) == &loop);
}

/* What is the same for all kinds; `active` says whether this one is active from its init on. */
static void common(void* memory, uv_handle_type type, int active) {
  uv_handle_t* handle = memory;
  unsigned int before = loop.active_handles - active;
  uv_os_fd_t fd = -5;
  CHECK(uv_handle_get_type(handle) == type && handle->type == type);
  CHECK(uv_handle_get_loop(handle) == &loop && handle->loop == &loop);
  uv_handle_set_data(handle, &closed);
  CHECK(handle->data == &closed && uv_handle_get_data(handle) == &closed);
  CHECK(!uv_is_closing(handle));
  CHECK(!uv_is_active(handle) == !active);
  CHECK(uv_has_ref(handle));
  CHECK(uv_fileno(handle, &fd) == (type == UV_TCP ? UV_EBADF : UV_EINVAL) && fd == -5);
  uv_ref(handle);
  CHECK(uv_has_ref(handle) && loop.active_handles == before + active);
  uv_unref(handle);
  CHECK(!uv_has_ref(handle) && loop.active_handles == before);
  uv_unref(handle);
  CHECK(!uv_has_ref(handle) && loop.active_handles == before);
  CHECK(!uv_is_active(handle) == !active);
  uv_ref(handle);
  CHECK(uv_has_ref(handle) && loop.active_handles == before + active);
  uv_close(handle, on_close);
  CHECK(uv_is_closing(handle) && !uv_is_active(handle));
  CHECK(uv_has_ref(handle)); /* no less than before */
  CHECK(loop.active_handles == before);
  uv_unref(handle);
  CHECK(!uv_has_ref(handle) && loop.active_handles == before);
  uv_ref(handle);
  CHECK(uv_has_ref(handle) && loop.active_handles == before);
  CHECK(uv_loop_alive(&loop)); /* something is to be closed */
  CHECK(uv_fileno(handle, &fd) == (type == UV_TCP ? UV_EBADF : UV_EINVAL) && fd == -5);
  CHECK(uv_loop_close(&loop) == UV_EBUSY);
  CHECK(closed == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(closed == 1);
  /* Asked after it is closed, as programs do. */
  CHECK(uv_is_closing(handle) && !uv_is_active(handle) && !uv_has_ref(handle));
  closed = 0;
}

#define COMMON(name, number, init, active)                                                         \
  do {                                                                                             \
    uv_##name##_t* handle = dirty(sizeof(*handle));                                                \
    CHECK(init == 0);                                                                              \
    common(handle, UV_##number, active);                                                           \
    free(handle);                                                                                  \
  } while (0)

static void after(uv_timer_t* timer) { (void) timer; }

static void unreferenced_handles_do_not_keep_the_loop_alive(void) {
  uv_timer_t timer;
  CHECK(uv_timer_init(&loop, &timer) == 0);
  uv_unref((uv_handle_t*) &timer); /* before it is started */
  CHECK(uv_timer_start(&timer, after, 100000, 0) == 0);
  CHECK(uv_is_active((uv_handle_t*) &timer) && loop.active_handles == 0);
  CHECK(!uv_loop_alive(&loop) && uv_run(&loop, UV_RUN_DEFAULT) == 0);
  uv_ref((uv_handle_t*) &timer);
  CHECK(loop.active_handles == 1 && uv_loop_alive(&loop));
  CHECK(uv_timer_stop(&timer) == 0);
  CHECK(loop.active_handles == 0 && uv_has_ref((uv_handle_t*) &timer));
  uv_close((uv_handle_t*) &timer, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
}

int main(void) {
  kinds();
  requests();
  memset(&loop, 0xff, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
  COMMON(timer, TIMER, uv_timer_init(&loop, handle), 0);
  COMMON(idle, IDLE, uv_idle_init(&loop, handle), 0);
  COMMON(prepare, PREPARE, uv_prepare_init(&loop, handle), 0);
  COMMON(check, CHECK, uv_check_init(&loop, handle), 0);
  COMMON(async, ASYNC, uv_async_init(&loop, handle, NULL), 1);
  COMMON(tcp, TCP, uv_tcp_init(&loop, handle), 0);
  unreferenced_handles_do_not_keep_the_loop_alive();
  CHECK(uv_loop_close(&loop) == 0);
  puts("ok");
  return 0;
}

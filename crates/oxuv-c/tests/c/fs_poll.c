/* Handles that look at a file again and again. */
#include "watched.h"

static int is_zero(const uv_stat_t* stat) {
  uv_stat_t zero;
  memset(&zero, 0, sizeof(zero));
  return memcmp(stat, &zero, sizeof(zero)) == 0;
}

static void hear(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  char line[100];
  CHECK(handle->loop == &loop && handle->type == UV_FS_POLL);
  CHECK(status == 0 || is_zero(now));
  snprintf(line, sizeof(line), "%s %d%s %d", status == 0 ? "ok" : uv_err_name(status), (int)before->st_size,
           is_zero(before) ? "?" : "", (int)now->st_size);
  note(line);
}

static uv_fs_poll_t* new_handle(void) {
  uv_fs_poll_t* handle = dirty(sizeof(*handle));
  CHECK(uv_fs_poll_init(&loop, handle) == 0);
  CHECK(handle->data == (void*)-1 && handle->loop == &loop && handle->type == UV_FS_POLL);
  CHECK(!uv_is_active((uv_handle_t*)handle) && uv_has_ref((uv_handle_t*)handle));
  return handle;
}

/* Turns until this is told. A change may be seen in two parts: there may be more. */
static void hear_of(const char* line) {
  while (strstr(told, line) == NULL) CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
  told[0] = 0;
}

static void stop(uv_timer_t* timer) { uv_stop(timer->loop); }

/* Lets several looks be taken. */
static void look_on(void) {
  uv_timer_t timer;
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, stop, 30, 0) == 0);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_close((uv_handle_t*)&timer, NULL);
  turns(1);
}

/* Turns until no look is under way: what is changed from now on is a change. */
static void wait_for_look(void) {
  while (loop.active_reqs.count > 0) CHECK(uv_run(&loop, UV_RUN_ONCE) == 1);
}

static void nothing_is_told(void) {
  look_on();
  TOLD("");
}

/* The same, when what was changed last has been seen whole. */
static void nothing_more_is_told(void) {
  look_on();
  told[0] = 0;
  nothing_is_told();
}

static int closed;

static void count_closed(uv_handle_t* handle) {
  closed++;
  free_handle(handle);
}

static void end(uv_fs_poll_t* handle) {
  closed = 0;
  uv_close((uv_handle_t*)handle, count_closed);
  CHECK(uv_loop_close(&loop) == UV_EBUSY);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && closed == 1);
}

static void changes_and_errors_are_told_once(void) {
  uv_fs_poll_t* handle = new_handle();
  CHECK(uv_fs_poll_start(handle, hear, "file", 1) == 0);
  CHECK(uv_is_active((uv_handle_t*)handle) && loop.active_reqs.count == 1);
  hear_of("ENOENT 0? 0;");
  nothing_is_told();
  make("file");
  hear_of("ok 0? 0;");
  append("file");
  hear_of(" 1;");
  nothing_more_is_told();
  CHECK(chmod("file", 0600) == 0);
  hear_of("ok 1 1;");
  nothing_more_is_told();
  CHECK(unlink("file") == 0);
  hear_of("ENOENT 1 0;");
  nothing_is_told();
  end(handle);
}

static void the_first_look_is_not_told(void) {
  uv_fs_poll_t* handle = new_handle();
  append("file");
  CHECK(uv_fs_poll_start(handle, hear, "file", 0) == 0);
  wait_for_look();
  nothing_is_told();
  append("file");
  hear_of(" 2;");
  CHECK(uv_fs_poll_stop(handle) == 0 && uv_fs_poll_stop(handle) == 0);
  append("file");
  nothing_is_told();
  CHECK(unlink("file") == 0);
  end(handle);
}

static void never(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  (void)handle, (void)status, (void)before, (void)now;
  CHECK(0);
}

static void started_is_started(void) {
  uv_fs_poll_t* handle = new_handle();
  CHECK(uv_fs_poll_start(handle, hear, NULL, 1) == UV_EINVAL);
  CHECK(uv_fs_poll_start(handle, hear, "none", 1) == 0);
  CHECK(uv_fs_poll_start(handle, never, "/", 1000) == 0);
  hear_of("ENOENT 0? 0;");
  end(handle);
}

/* libuv#2287 */
static void stopped_and_started_while_a_look_is_under_way(void) {
  uv_fs_poll_t* handle = new_handle();
  int count;
  append("file");
  for (count = 0; count < 5; count++) {
    CHECK(uv_fs_poll_start(handle, never, "none", 1) == 0);
    CHECK(uv_fs_poll_stop(handle) == 0);
  }
  CHECK(uv_fs_poll_start(handle, hear, "file", 1) == 0);
  wait_for_look();
  nothing_is_told();
  append("file");
  hear_of(" 2;");
  CHECK(unlink("file") == 0);
  end(handle);
}

/* libuv#1869 */
static void closed_while_a_look_is_under_way(void) {
  uv_fs_poll_t* handle = new_handle();
  CHECK(uv_fs_poll_start(handle, never, "none", 1) == 0);
  end(handle);
  CHECK(loop.active_reqs.count == 0 && uv_loop_close(&loop) == 0);
  CHECK(uv_loop_init(&loop) == 0);
  handle = new_handle();
  uv_close((uv_handle_t*)handle, count_closed);
  CHECK(uv_fs_poll_start(handle, never, "none", 1) == UV_EINVAL);
  CHECK(uv_fs_poll_stop(handle) == 0);
}

static void close_in_callback(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  hear(handle, status, before, now);
  uv_close((uv_handle_t*)handle, count_closed);
}

static void start_in_callback(uv_fs_poll_t* handle, int status, const uv_stat_t* before, const uv_stat_t* now) {
  hear(handle, status, before, now);
  CHECK(uv_fs_poll_stop(handle) == 0);
  CHECK(uv_fs_poll_start(handle, close_in_callback, "none", 1) == 0);
}

static void callbacks_may_do_anything(void) {
  uv_fs_poll_t* handle = new_handle();
  closed = 0;
  CHECK(uv_fs_poll_start(handle, start_in_callback, "none", 1) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0 && closed == 1);
  TOLD("ENOENT 0? 0;ENOENT 0? 0;");
}

static void the_path_is_told(void) {
  uv_fs_poll_t* handle = new_handle();
  char buffer[8];
  size_t size = sizeof(buffer);
  CHECK(uv_fs_poll_getpath(handle, buffer, &size) == UV_EINVAL && size == 0);
  CHECK(uv_fs_poll_start(handle, hear, "./none", 1000) == 0);
  CHECK(uv_fs_poll_getpath(handle, buffer, &size) == UV_EINVAL && size == 0);
  CHECK(uv_fs_poll_getpath(handle, buffer, NULL) == UV_EINVAL);
  size = 6;
  CHECK(uv_fs_poll_getpath(handle, buffer, &size) == UV_ENOBUFS && size == 7);
  CHECK(uv_fs_poll_getpath(handle, buffer, &size) == 0 && size == 6 && strcmp(buffer, "./none") == 0);
  end(handle);
  told[0] = 0;
}

static void an_unreferenced_one_keeps_the_loop_for_its_look(void) {
  uv_fs_poll_t* handle = new_handle();
  CHECK(uv_fs_poll_start(handle, hear, "none", 1000000) == 0);
  uv_unref((uv_handle_t*)handle);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  TOLD("ENOENT 0? 0;");
  end(handle);
}

int main(void) {
  in_place(changes_and_errors_are_told_once);
  in_place(the_first_look_is_not_told);
  in_place(started_is_started);
  in_place(stopped_and_started_while_a_look_is_under_way);
  in_place(closed_while_a_look_is_under_way);
  in_place(callbacks_may_do_anything);
  in_place(the_path_is_told);
  in_place(an_unreferenced_one_keeps_the_loop_for_its_look);
  puts("ok");
  return 0;
}

/* Handles that tell of changes of files. */
#include "watched.h"

static char letter(const uv_fs_event_t* handle) { return handle->data == NULL ? '?' : *(char*)handle->data; }

static void hear(uv_fs_event_t* handle, const char* name, int events, int status) {
  char line[300];
  CHECK(handle->loop == &loop && handle->type == UV_FS_EVENT && status == 0);
  snprintf(line, sizeof(line), "%c%d %s", letter(handle), events, name == NULL ? "-" : name);
  note(line);
}

static uv_fs_event_t* new_handle(const char* data) {
  uv_fs_event_t* handle = dirty(sizeof(*handle));
  CHECK(uv_fs_event_init(&loop, handle) == 0);
  CHECK(handle->data == (void*)-1 && handle->loop == &loop && handle->type == UV_FS_EVENT);
  CHECK(!uv_is_active((uv_handle_t*)handle) && uv_has_ref((uv_handle_t*)handle));
  handle->data = (void*)data;
  return handle;
}

static uv_fs_event_t* watch(const char* data, const char* path, unsigned flags) {
  uv_fs_event_t* handle = new_handle(data);
  CHECK(uv_fs_event_start(handle, hear, path, flags) == 0);
  CHECK(uv_is_active((uv_handle_t*)handle));
  return handle;
}

static void end(uv_fs_event_t* handle) { uv_close((uv_handle_t*)handle, free_handle); }

static void what_happens_has_a_name_and_a_kind(void) {
  uv_fs_event_t *directory, *file;
  make("file");
  CHECK(mkdir("sub", 0700) == 0);
  directory = watch("d", ".", UV_FS_EVENT_WATCH_ENTRY | UV_FS_EVENT_STAT);
  file = watch("f", "./file", 0);
  turns(1);
  TOLD("");
  append("file");
  turns(1);
  TOLD("d2 file;f2 file;");
  CHECK(chmod("file", 0600) == 0 && chmod("sub", 0755) == 0);
  turns(1);
  TOLD("d2 file;f2 file;d3 sub;");
  CHECK(rename("file", "new") == 0);
  turns(1);
  TOLD("d1 file;d1 new;f1 file;");
  make("sub/unseen");
  CHECK(unlink("sub/unseen") == 0 && rmdir("sub") == 0);
  turns(1);
  TOLD("d1 sub;");
  /* The links have changed; it is gone; and so is the kernel's watch. */
  CHECK(uv_fs_event_stop(directory) == 0 && unlink("new") == 0);
  turns(1);
  TOLD("f2 file;f1 file;f1 file;");
  CHECK(uv_fs_event_start(directory, hear, ".", 0) == 0);
  make("file");
  CHECK(unlink("file") == 0);
  turns(1);
  TOLD("d1 file;d1 file;");
  CHECK(uv_is_active((uv_handle_t*)file) && uv_fs_event_stop(file) == 0);
  end(directory);
  end(file);
}

static void the_directory_itself_goes(void) {
  uv_fs_event_t* handle;
  CHECK(mkdir("sub", 0700) == 0);
  handle = watch("s", "sub", 0);
  CHECK(rename("sub", "moved") == 0);
  turns(1);
  TOLD("s1 sub;");
  CHECK(rmdir("moved") == 0);
  turns(1);
  TOLD("s1 sub;s1 sub;");
  end(handle);
}

static void refusals(void) {
  uv_fs_event_t* handle = new_handle("r");
  char name[5000];
  CHECK(uv_fs_event_start(handle, hear, "none", 0) == UV_ENOENT);
  CHECK(uv_fs_event_start(handle, hear, "", 0) == UV_ENOENT);
  CHECK(uv_fs_event_start(handle, hear, NULL, 0) == UV_EINVAL);
  memset(name, 'x', sizeof(name) - 1);
  name[sizeof(name) - 1] = 0;
  CHECK(uv_fs_event_start(handle, hear, name, UV_FS_EVENT_RECURSIVE) == UV_ENAMETOOLONG);
  CHECK(!uv_is_active((uv_handle_t*)handle) && uv_fs_event_stop(handle) == 0);
  CHECK(uv_fs_event_start(handle, hear, ".", 0) == 0);
  CHECK(uv_fs_event_start(handle, NULL, ".", UV_FS_EVENT_RECURSIVE) == UV_EINVAL);
  make("file");
  turns(1);
  TOLD("r1 file;");
  CHECK(unlink("file") == 0);
  CHECK(uv_fs_event_stop(handle) == 0 && uv_fs_event_stop(handle) == 0);
  turns(1);
  TOLD("");
  /* Without a callback nobody hears. */
  CHECK(uv_fs_event_start(handle, NULL, ".", 0) == 0);
  make("file");
  CHECK(unlink("file") == 0);
  turns(1);
  end(handle);
  CHECK(uv_fs_event_start(handle, hear, ".", 0) == UV_EINVAL);
  CHECK(uv_fs_event_stop(handle) == 0);
}

static void the_path_is_told(void) {
  uv_fs_event_t* handle = new_handle("p");
  uv_fs_event_t zero;
  char buffer[8];
  size_t size = sizeof(buffer);
  CHECK(uv_fs_event_getpath(handle, buffer, &size) == UV_EINVAL && size == 0);
  make("file");
  CHECK(uv_fs_event_start(handle, hear, "./file", 0) == 0);
  CHECK(uv_fs_event_getpath(handle, NULL, &size) == UV_EINVAL && size == 0);
  CHECK(uv_fs_event_getpath(handle, buffer, &size) == UV_EINVAL && size == 0);
  CHECK(uv_fs_event_getpath(handle, buffer, NULL) == UV_EINVAL);
  memset(buffer, 'x', sizeof(buffer));
  for (size = 1; size <= 6; size++) {
    size_t given = size;
    CHECK(uv_fs_event_getpath(handle, buffer, &given) == UV_ENOBUFS && given == 7);
  }
  CHECK(buffer[0] == 'x');
  size = 7;
  CHECK(uv_fs_event_getpath(handle, buffer, &size) == 0 && size == 6);
  CHECK(memcmp(buffer, "./file\0x", 8) == 0);
  CHECK(unlink("file") == 0);
  end(handle);
  size = sizeof(buffer);
  CHECK(uv_fs_event_getpath(handle, buffer, &size) == UV_EINVAL);
  memset(&zero, 0, sizeof(zero));
  CHECK(uv_fs_event_start(&zero, hear, ".", 0) == UV_EINVAL);
  CHECK(uv_fs_event_stop(&zero) == UV_EINVAL);
  CHECK(uv_fs_event_getpath(&zero, buffer, &size) == UV_EINVAL);
}

static uv_fs_event_t* others[3];

static void change_others(uv_fs_event_t* handle, const char* name, int events, int status) {
  hear(handle, name, events, status);
  if (strcmp(name, "one") != 0) return;
  /* The second is closed, the third goes behind this one, and this one behind both. */
  end(others[1]);
  CHECK(uv_fs_event_stop(others[2]) == 0 && uv_fs_event_start(others[2], hear, ".", 0) == 0);
  CHECK(uv_fs_event_stop(handle) == 0 && uv_fs_event_start(handle, hear, ".", 0) == 0);
}

static void close_itself(uv_fs_event_t* handle, const char* name, int events, int status) {
  hear(handle, name, events, status);
  end(handle);
}

static void callbacks_may_do_anything(void) {
  uv_fs_event_t* handle = new_handle("a");
  CHECK(uv_fs_event_start(handle, change_others, ".", 0) == 0);
  others[1] = watch("b", ".", 0);
  others[2] = watch("c", ".", 0);
  make("one");
  make("two");
  turns(1);
  TOLD("a1 one;c1 two;a1 two;");
  CHECK(uv_fs_event_stop(handle) == 0 && uv_fs_event_start(handle, close_itself, ".", 0) == 0);
  CHECK(unlink("one") == 0 && unlink("two") == 0);
  turns(1);
  TOLD("c1 one;a1 one;c1 two;");
  end(others[2]);
  turns(1);
}

static int depth;

static void run_inside(uv_fs_event_t* handle, const char* name, int events, int status) {
  char before[32];
  snprintf(before, sizeof(before), "%s", name);
  hear(handle, name, events, status);
  if (depth++ == 0) uv_run(&loop, UV_RUN_NOWAIT);
  /* The name stays what it was. */
  CHECK(strcmp(before, name) == 0);
}

static void a_run_inside_goes_on_with_the_batch(void) {
  uv_fs_event_t* handle = new_handle("i");
  depth = 0;
  CHECK(uv_fs_event_start(handle, run_inside, ".", 0) == 0);
  make("one");
  make("two");
  turns(1);
  TOLD("i1 one;i1 two;");
  CHECK(depth == 2 && unlink("one") == 0 && unlink("two") == 0);
  end(handle);
}

static void all_beneath_is_watched_on_demand(void) {
  uv_fs_event_t *flat, *deep;
  CHECK(mkdir("root", 0700) == 0 && mkdir("root/a", 0700) == 0 && mkdir("root_", 0700) == 0);
  CHECK(symlink("../root_", "root/link") == 0);
  flat = watch("f", "root", 0);
  deep = watch("d", "root", UV_FS_EVENT_RECURSIVE);
  make("root/a/x");
  make("root_/x");
  turns(1);
  TOLD("d1 a/x;");
  CHECK(mkdir("root/b", 0700) == 0 && mkdir("root/b/c", 0700) == 0);
  make("root/b/c/y");
  turns(2);
  TOLD("f1 b;d1 b;d1 b/c;d1 b/c/y;");
  append("root/b/c/y");
  turns(1);
  TOLD("d2 b/c/y;");
  CHECK(unlink("root/b/c/y") == 0 && rmdir("root/b/c") == 0 && rmdir("root/b") == 0);
  turns(1);
  TOLD("d1 b/c/y;d1 b/c;f1 b;d1 b;");
  end(flat);
  end(deep);
  CHECK(unlink("root/a/x") == 0 && unlink("root_/x") == 0 && unlink("root/link") == 0);
  CHECK(rmdir("root/a") == 0 && rmdir("root") == 0 && rmdir("root_") == 0);
}

static void the_descriptor_is_made_late_and_may_be_refused(void) {
  uv_fs_event_t* handle = new_handle("l");
  struct rlimit before, none;
  int free_number = dup(0);
  CHECK(free_number > 0 && close(free_number) == 0);
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = (rlim_t)free_number;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(uv_fs_event_start(handle, hear, ".", 0) == UV_EMFILE);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(fcntl(free_number, F_GETFD) == -1);
  CHECK(uv_fs_event_start(handle, hear, ".", 0) == 0);
  CHECK(fcntl(free_number, F_GETFD) == FD_CLOEXEC);
  make("file");
  turns(1);
  TOLD("l1 file;");
  CHECK(unlink("file") == 0);
  end(handle);
  turns(1);
  CHECK(uv_loop_close(&loop) == 0 && fcntl(free_number, F_GETFD) == -1);
  CHECK(uv_loop_init(&loop) == 0);
}

static void an_unreferenced_one_keeps_nothing_alive(void) {
  uv_fs_event_t* handle = watch("u", ".", 0);
  turns(1);
  CHECK(uv_loop_alive(&loop) && uv_backend_timeout(&loop) == -1);
  uv_unref((uv_handle_t*)handle);
  CHECK(!uv_loop_alive(&loop) && uv_run(&loop, UV_RUN_DEFAULT) == 0);
  end(handle);
}

int main(void) {
  in_place(what_happens_has_a_name_and_a_kind);
  in_place(the_directory_itself_goes);
  in_place(refusals);
  in_place(the_path_is_told);
  in_place(callbacks_may_do_anything);
  in_place(a_run_inside_goes_on_with_the_batch);
  in_place(all_beneath_is_watched_on_demand);
  in_place(the_descriptor_is_made_late_and_may_be_refused);
  in_place(an_unreferenced_one_keeps_nothing_alive);
  puts("ok");
  return 0;
}

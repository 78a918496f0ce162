/* File requests: what they tell, and what they let go of. */
#include "fs.h"

static void a_request_tells_what_it_is(void) {
  CHECK(CALL(uv_fs_access, "none", F_OK) == UV_ENOENT);
  CHECK(uv_fs_get_type(&req) == UV_FS_ACCESS && uv_fs_get_result(&req) == UV_ENOENT);
  CHECK(uv_fs_get_system_error(&req) == ENOENT && uv_fs_get_ptr(&req) == NULL);
  CHECK(strcmp(uv_fs_get_path(&req), "none") == 0 && uv_fs_get_statbuf(&req) == &req.statbuf);
  CHECK(req.type == UV_FS && uv_req_get_type((uv_req_t*)&req) == UV_FS && strcmp(uv_req_type_name(UV_FS), "fs") == 0);
  cleaned(0);
  CHECK(uv_fs_get_path(&req) == NULL && uv_fs_get_result(&req) == UV_ENOENT);
  CHECK(CALL(uv_fs_stat, ".") == 0 && uv_fs_get_type(&req) == UV_FS_STAT && uv_fs_get_system_error(&req) == 0);
  CHECK(uv_fs_get_ptr(&req) == &req.statbuf);
  cleaned(0);
}

/* The program's own value is left alone. */
static void data_is_the_programs(void) {
  int mine;
  fresh();
  req.data = &mine;
  CHECK(outcome(uv_fs_access(async ? &loop : NULL, &req, ".", F_OK, async ? heard : NULL)) == 0);
  CHECK(req.data == &mine && cleaned(0) == 0 && req.data == &mine);
}

static void a_request_is_cleaned_up_in_any_state(void) {
  uv_fs_t zero;
  memset(&zero, 0, sizeof(zero));
  uv_fs_req_cleanup(NULL);
  uv_fs_req_cleanup(&zero);
  /* One that was refused, one that has failed, one that has found something; each twice. */
  CHECK(DO(uv_fs_copyfile, "a", "b", 99) == UV_EINVAL && cleaned(1));
  CHECK(DO(uv_fs_realpath, "none") == UV_ENOENT && cleaned(1));
  CHECK(DO(uv_fs_mkdtemp, "none/XXXXXX") == UV_ENOENT && cleaned(1));
  CHECK(DO(uv_fs_realpath, ".") == 0 && cleaned(1));
  CHECK(DO(uv_fs_scandir, "/", 0) > 0 && cleaned(1));
  CHECK(DO(uv_fs_statfs, ".") == 0 && cleaned(1));
  CHECK(DO(uv_fs_rename, "none", "nowhere") == UV_ENOENT && cleaned(1));
}

static void no_request_is_an_error(void) {
  uv_buf_t buf = uv_buf_init(NULL, 0);
  uv_dir_t dir;
  CHECK(uv_fs_open(NULL, NULL, ".", 0, 0, NULL) == UV_EINVAL && uv_fs_close(NULL, NULL, 0, NULL) == UV_EINVAL);
  CHECK(uv_fs_read(NULL, NULL, 0, &buf, 1, 0, NULL) == UV_EINVAL);
  CHECK(uv_fs_write(&loop, NULL, 0, &buf, 1, 0, heard) == UV_EINVAL);
  CHECK(uv_fs_scandir(&loop, NULL, ".", 0, heard) == UV_EINVAL && uv_fs_readdir(NULL, NULL, &dir, NULL) == UV_EINVAL);
  CHECK(uv_fs_closedir(&loop, NULL, &dir, heard) == UV_EINVAL && uv_fs_lutime(NULL, NULL, ".", 0, 0, NULL) == UV_EINVAL);
  CHECK(uv_fs_mkstemp(NULL, NULL, "XXXXXX", NULL) == UV_EINVAL && uv_fs_symlink(NULL, NULL, "a", "b", 0, NULL) == UV_EINVAL);
  CHECK(!uv_loop_alive(&loop));
}

/* Who wants to be called back has a loop. */
static void no_loop_is_an_error(void) {
  CHECK(uv_fs_stat(NULL, fresh(), ".", heard) == UV_EINVAL);
  uv_fs_req_cleanup(&req);
  uv_fs_req_cleanup(&req);
}

static void test(void) {
  a_request_tells_what_it_is();
  data_is_the_programs();
  a_request_is_cleaned_up_in_any_state();
  no_request_is_an_error();
  no_loop_is_an_error();
}

int main(void) {
  return in_both_ways(test);
}

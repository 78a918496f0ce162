/* Sends text through a filter: another program, which changes it.
 *
 *     cc filter.c -o filter $(pkg-config --cflags --libs libuv) && ./filter hello tr a-z A-Z
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static void give_room(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  static char room[4096];
  (void) handle;
  (void) suggested;
  *buf = uv_buf_init(room, sizeof(room));
}

static void on_read(uv_stream_t* output, ssize_t nread, const uv_buf_t* buf) {
  if (nread >= 0) fwrite(buf->base, 1, (size_t) nread, stdout);
  else uv_close((uv_handle_t*) output, NULL);
}

/* The filter sees the end of its input when the pipe is closed. It may end without having read everything. */
static void on_written(uv_write_t* req, int status) {
  (void) status;
  uv_close((uv_handle_t*) req->handle, NULL);
}

static void on_exit_(uv_process_t* process, int64_t status, int signal) {
  if (status != 0 || signal != 0) fprintf(stderr, "the filter has failed\n");
  uv_close((uv_handle_t*) process, NULL);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  uv_pipe_t input, output;
  uv_process_t process;
  uv_write_t write;
  uv_buf_t text;
  uv_stdio_container_t stdio[3];
  uv_process_options_t options;
  int error;
  if (argc < 3) {
    fprintf(stderr, "usage: %s TEXT PROGRAM [ARGUMENT ...]\n", argv[0]);
    return 1;
  }
  uv_pipe_init(loop, &input, 0);
  uv_pipe_init(loop, &output, 0);
  stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE; /* The child reads, */
  stdio[0].data.stream = (uv_stream_t*) &input;
  stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE; /* and writes. */
  stdio[1].data.stream = (uv_stream_t*) &output;
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  memset(&options, 0, sizeof(options));
  options.file = argv[2];
  options.args = argv + 2;
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = on_exit_;
  error = uv_spawn(loop, &process, &options);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", argv[2], uv_strerror(error));
    return 1;
  }
  text = uv_buf_init(argv[1], (unsigned) strlen(argv[1]));
  uv_write(&write, (uv_stream_t*) &input, &text, 1, on_written);
  uv_read_start((uv_stream_t*) &output, give_room, on_read);
  uv_run(loop, UV_RUN_DEFAULT);
  putchar('\n');
  return uv_loop_close(loop) == 0 ? 0 : 1;
}

/* Runs a command and collects what it prints.
 *
 *     cc run_command.c -o run_command $(pkg-config --cflags --libs libuv) && ./run_command ls /
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static char* collected;
static size_t size;

static void give_room(uv_handle_t* handle, size_t suggested, uv_buf_t* buf) {
  char* larger = realloc(collected, size + suggested);
  (void) handle;
  *buf = uv_buf_init(NULL, 0); /* No room is UV_ENOBUFS in the read callback. */
  if (larger == NULL) return;
  collected = larger;
  *buf = uv_buf_init(collected + size, (unsigned) suggested);
}

static void on_read(uv_stream_t* output, ssize_t nread, const uv_buf_t* buf) {
  (void) buf;
  if (nread >= 0) {
    size += (size_t) nread;
    return;
  }
  if (nread != UV_EOF) fprintf(stderr, "its output cannot be read: %s\n", uv_strerror((int) nread));
  uv_close((uv_handle_t*) output, NULL);
}

static void on_exit_(uv_process_t* process, int64_t status, int signal) {
  if (signal != 0) printf("ended by signal %d\n", signal);
  else printf("exit code %d\n", (int) status);
  uv_close((uv_handle_t*) process, NULL);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  uv_pipe_t output;
  uv_process_t process;
  uv_stdio_container_t stdio[3];
  uv_process_options_t options;
  int error;
  if (argc < 2) {
    fprintf(stderr, "usage: %s PROGRAM [ARGUMENT ...]\n", argv[0]);
    return 1;
  }
  uv_pipe_init(loop, &output, 0);
  stdio[0].flags = UV_IGNORE; /* /dev/null */
  stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE; /* The child writes. */
  stdio[1].data.stream = (uv_stream_t*) &output;
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  memset(&options, 0, sizeof(options));
  options.file = argv[1];
  options.args = argv + 1;
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = on_exit_;
  error = uv_spawn(loop, &process, &options);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], uv_strerror(error));
    return 1;
  }
  uv_read_start((uv_stream_t*) &output, give_room, on_read);
  uv_run(loop, UV_RUN_DEFAULT); /* until the child has ended and all is read */
  printf("%lu bytes: ", (unsigned long) size);
  fwrite(collected, 1, size, stdout);
  free(collected);
  return uv_loop_close(loop) == 0 ? 0 : 1;
}

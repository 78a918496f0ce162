/* Reads a file while a timer ticks on: the kernel or a thread does the reading.
 *
 *     cc read_file.c -o read_file $(pkg-config --cflags --libs libuv) && ./read_file /etc/passwd
 */
#include <fcntl.h>
#include <stdio.h>
#include <uv.h>

static uv_fs_t request;
static uv_file file;
static char bytes[64 * 1024];
static size_t total;
static uv_timer_t timer;
static int ticks, code;

/* Nothing is left to be done then. */
static void failed(const char* what, ssize_t error) {
  fprintf(stderr, "%s: %s\n", what, uv_strerror((int)error));
  code = 1;
  if (!uv_is_closing((uv_handle_t*)&timer)) uv_close((uv_handle_t*)&timer, NULL);
}

static void read_on(void);

static void on_read(uv_fs_t* req) {
  ssize_t count = req->result;
  uv_fs_req_cleanup(req);
  if (count > 0) {
    total += (size_t)count;
    read_on();
    return;
  }
  if (count < 0) failed("read", count);
  else printf("%lu bytes\n", (unsigned long)total);
  uv_fs_close(NULL, req, file, NULL);
  uv_fs_req_cleanup(req);
}

static void read_on(void) {
  uv_buf_t room = uv_buf_init(bytes, sizeof(bytes));
  int result = uv_fs_read(uv_default_loop(), &request, file, &room, 1, -1, on_read);
  if (result != 0) failed("read", result);
}

static void on_open(uv_fs_t* req) {
  ssize_t opened = req->result;
  uv_fs_req_cleanup(req);
  if (opened < 0) {
    failed("open", opened);
    return;
  }
  file = (uv_file)opened;
  read_on();
}

static void on_tick(uv_timer_t* tick) {
  printf("tick %d\n", ++ticks);
  if (ticks == 3) uv_close((uv_handle_t*)tick, NULL);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  int result;
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_tick, 10, 10);
  result = uv_fs_open(loop, &request, argv[1], O_RDONLY, 0, on_open);
  if (result != 0) failed("open", result);
  uv_run(loop, UV_RUN_DEFAULT);
  return uv_loop_close(loop) == 0 ? code : 1;
}

/* Prints the sizes of the structures and the offsets of their public fields, as C sees them. */
#include "check.h"

#define SIZE(type) printf(#type " %zu\n", sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu\n", offsetof(type, field))

int main(void) {
  SIZE(uv_loop_t);
  FIELD(uv_loop_t, data);
  FIELD(uv_loop_t, active_handles);
  SIZE(uv_handle_t);
  FIELD(uv_handle_t, data);
  FIELD(uv_handle_t, loop);
  FIELD(uv_handle_t, type);
  SIZE(uv_timer_t);
  FIELD(uv_timer_t, data);
  FIELD(uv_timer_t, loop);
  FIELD(uv_timer_t, type);
  SIZE(uv_idle_t);
  FIELD(uv_idle_t, type);
  SIZE(uv_prepare_t);
  FIELD(uv_prepare_t, type);
  SIZE(uv_check_t);
  FIELD(uv_check_t, type);
  SIZE(uv_stream_t);
  FIELD(uv_stream_t, data);
  FIELD(uv_stream_t, loop);
  FIELD(uv_stream_t, type);
  FIELD(uv_stream_t, write_queue_size);
  FIELD(uv_stream_t, io_watcher.fd);
  SIZE(uv_tcp_t);
  FIELD(uv_tcp_t, data);
  FIELD(uv_tcp_t, loop);
  FIELD(uv_tcp_t, type);
  FIELD(uv_tcp_t, write_queue_size);
  FIELD(uv_tcp_t, io_watcher.fd);
  SIZE(uv_req_t);
  FIELD(uv_req_t, data);
  FIELD(uv_req_t, type);
  SIZE(uv_write_t);
  FIELD(uv_write_t, data);
  FIELD(uv_write_t, type);
  FIELD(uv_write_t, send_handle);
  FIELD(uv_write_t, handle);
  SIZE(uv_shutdown_t);
  FIELD(uv_shutdown_t, data);
  FIELD(uv_shutdown_t, type);
  FIELD(uv_shutdown_t, handle);
  SIZE(uv_buf_t);
  FIELD(uv_buf_t, base);
  FIELD(uv_buf_t, len);
  return 0;
}

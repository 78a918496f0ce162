/* libuv's C interface on the oxuv event loop: as much of it as there is so far.
 *
 * The functions are described in libuv's manual, https://docs.libuv.org.
 */
#ifndef UV_H
#define UV_H

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UV_EXTERN __attribute__((visibility("default")))

/* Errors are negative: the system's numbers, and some that only libuv knows. */
typedef enum {
  UV_EACCES = -EACCES,
  UV_EADDRINUSE = -EADDRINUSE,
  UV_EADDRNOTAVAIL = -EADDRNOTAVAIL,
  UV_EAFNOSUPPORT = -EAFNOSUPPORT,
  UV_EAGAIN = -EAGAIN,
  UV_EALREADY = -EALREADY,
  UV_EBADF = -EBADF,
  UV_EBUSY = -EBUSY,
  UV_ECANCELED = -ECANCELED,
  UV_ECONNABORTED = -ECONNABORTED,
  UV_ECONNREFUSED = -ECONNREFUSED,
  UV_ECONNRESET = -ECONNRESET,
  UV_EINVAL = -EINVAL,
  UV_EMFILE = -EMFILE,
  UV_ENFILE = -ENFILE,
  UV_ENOBUFS = -ENOBUFS,
  UV_ENOMEM = -ENOMEM,
  UV_ENOTCONN = -ENOTCONN,
  UV_EPIPE = -EPIPE,
  UV_ETIMEDOUT = -ETIMEDOUT,
  UV_UNKNOWN = -4094,
  UV_EOF = -4095
} uv_errno_t;

typedef enum {
  UV_UNKNOWN_HANDLE = 0,
  UV_ASYNC = 1,
  UV_CHECK = 2,
  UV_IDLE = 6,
  UV_PREPARE = 9,
  UV_STREAM = 11,
  UV_TCP = 12,
  UV_TIMER = 13
} uv_handle_type;

typedef enum {
  UV_UNKNOWN_REQ = 0,
  UV_REQ = 1,
  UV_WRITE = 3,
  UV_SHUTDOWN = 4
} uv_req_type;

typedef enum { UV_RUN_DEFAULT = 0, UV_RUN_ONCE = 1, UV_RUN_NOWAIT = 2 } uv_run_mode;

enum uv_tcp_flags { UV_TCP_IPV6ONLY = 1, UV_TCP_REUSEPORT = 2 };

typedef struct uv_loop_s uv_loop_t;
typedef struct uv_handle_s uv_handle_t;
typedef struct uv_timer_s uv_timer_t;
typedef struct uv_idle_s uv_idle_t;
typedef struct uv_prepare_s uv_prepare_t;
typedef struct uv_check_s uv_check_t;
typedef struct uv_stream_s uv_stream_t;
typedef struct uv_tcp_s uv_tcp_t;
typedef struct uv_req_s uv_req_t;
typedef struct uv_write_s uv_write_t;
typedef struct uv_shutdown_s uv_shutdown_t;

typedef struct uv_buf_t {
  char* base;
  size_t len;
} uv_buf_t;

typedef void (*uv_timer_cb)(uv_timer_t* handle);
typedef void (*uv_idle_cb)(uv_idle_t* handle);
typedef void (*uv_prepare_cb)(uv_prepare_t* handle);
typedef void (*uv_check_cb)(uv_check_t* handle);
typedef void (*uv_close_cb)(uv_handle_t* handle);
typedef void (*uv_alloc_cb)(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf);
typedef void (*uv_read_cb)(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);
typedef void (*uv_connection_cb)(uv_stream_t* server, int status);
typedef void (*uv_write_cb)(uv_write_t* req, int status);
typedef void (*uv_shutdown_cb)(uv_shutdown_t* req, int status);

/* The structures. What a name with an underscore at its end stands for may change at any time. */

struct uv_loop_s {
  void* data;
  unsigned int active_handles;
  void* private_[104];
};

#define UV_HANDLE_FIELDS                                                                           \
  void* data;                                                                                      \
  uv_loop_t* loop;                                                                                 \
  uv_handle_type type;                                                                             \
  uv_close_cb close_cb_;                                                                           \
  uint64_t key_;                                                                                   \
  void* reserved_[6];                                                                              \
  unsigned int flags_;

struct uv_handle_s {
  UV_HANDLE_FIELDS
};

struct uv_timer_s {
  UV_HANDLE_FIELDS
  uv_timer_cb timer_cb_;
  void* timer_[4];
  uint64_t repeat_;
  uint64_t start_id_;
};

struct uv_idle_s {
  UV_HANDLE_FIELDS
  uv_idle_cb idle_cb_;
  void* queue_[2];
};

struct uv_prepare_s {
  UV_HANDLE_FIELDS
  uv_prepare_cb prepare_cb_;
  void* queue_[2];
};

struct uv_check_s {
  UV_HANDLE_FIELDS
  uv_check_cb check_cb_;
  void* queue_[2];
};

struct uv_io_ {
  void* private_[5];
  unsigned int events_[2];
  int fd; /* libuv keeps it private, and programs read it. */
};

#define UV_STREAM_FIELDS                                                                           \
  size_t write_queue_size;                                                                         \
  uv_alloc_cb alloc_cb_;                                                                           \
  uv_read_cb read_cb_;                                                                             \
  void* connect_req_;                                                                              \
  uv_shutdown_t* shutdown_req_;                                                                    \
  struct uv_io_ io_watcher;                                                                        \
  void* queues_[4];                                                                                \
  uv_connection_cb connection_cb_;                                                                 \
  int fds_[2];                                                                                     \
  void* queued_fds_;

struct uv_stream_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
};

struct uv_tcp_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
};

#define UV_REQ_FIELDS                                                                              \
  void* data;                                                                                      \
  uv_req_type type;                                                                                \
  void* reserved_[6];

struct uv_req_s {
  UV_REQ_FIELDS
};

struct uv_write_s {
  UV_REQ_FIELDS
  uv_write_cb cb_;
  uv_stream_t* send_handle;
  uv_stream_t* handle;
  void* queue_[2];
  unsigned int index_;
  uv_buf_t* bufs_;
  unsigned int nbufs_;
  int error_;
  uv_buf_t bufsml_[4];
};

struct uv_shutdown_s {
  UV_REQ_FIELDS
  uv_stream_t* handle;
  uv_shutdown_cb cb_;
};

/* Errors */
UV_EXTERN const char* uv_strerror(int err);
UV_EXTERN const char* uv_err_name(int err);

/* The loop */
typedef void* (*uv_malloc_func)(size_t size);
typedef void* (*uv_realloc_func)(void* ptr, size_t size);
typedef void* (*uv_calloc_func)(size_t count, size_t size);
typedef void (*uv_free_func)(void* ptr);
typedef struct uv_async_s uv_async_t;
typedef void (*uv_async_cb)(uv_async_t* handle);
struct uv_async_s { void* data; uv_loop_t* loop; uv_handle_type type; void* private_fields[13]; };
UV_EXTERN int uv_replace_allocator(uv_malloc_func malloc_func, uv_realloc_func realloc_func, uv_calloc_func calloc_func, uv_free_func free_func);
UV_EXTERN int uv_async_init(uv_loop_t* loop, uv_async_t* async, uv_async_cb async_cb);
UV_EXTERN int uv_async_send(uv_async_t* async);
UV_EXTERN int uv_loop_init(uv_loop_t* loop);
UV_EXTERN int uv_loop_close(uv_loop_t* loop);
UV_EXTERN int uv_loop_alive(const uv_loop_t* loop);
UV_EXTERN int uv_run(uv_loop_t* loop, uv_run_mode mode);
UV_EXTERN void uv_stop(uv_loop_t* loop);
UV_EXTERN uint64_t uv_now(const uv_loop_t* loop);
UV_EXTERN void uv_update_time(uv_loop_t* loop);

/* All handles */
UV_EXTERN void uv_close(uv_handle_t* handle, uv_close_cb close_cb);
UV_EXTERN int uv_is_closing(const uv_handle_t* handle);
UV_EXTERN int uv_is_active(const uv_handle_t* handle);

/* Timers, in milliseconds */
UV_EXTERN int uv_timer_init(uv_loop_t* loop, uv_timer_t* timer);
UV_EXTERN int uv_timer_start(uv_timer_t* timer, uv_timer_cb cb, uint64_t timeout, uint64_t repeat);
UV_EXTERN int uv_timer_stop(uv_timer_t* timer);
UV_EXTERN int uv_timer_again(uv_timer_t* timer);
UV_EXTERN void uv_timer_set_repeat(uv_timer_t* timer, uint64_t repeat);
UV_EXTERN uint64_t uv_timer_get_repeat(const uv_timer_t* timer);

/* Handles that run in each turn */
UV_EXTERN int uv_idle_init(uv_loop_t* loop, uv_idle_t* idle);
UV_EXTERN int uv_idle_start(uv_idle_t* idle, uv_idle_cb cb);
UV_EXTERN int uv_idle_stop(uv_idle_t* idle);
UV_EXTERN int uv_prepare_init(uv_loop_t* loop, uv_prepare_t* prepare);
UV_EXTERN int uv_prepare_start(uv_prepare_t* prepare, uv_prepare_cb cb);
UV_EXTERN int uv_prepare_stop(uv_prepare_t* prepare);
UV_EXTERN int uv_check_init(uv_loop_t* loop, uv_check_t* check);
UV_EXTERN int uv_check_start(uv_check_t* check, uv_check_cb cb);
UV_EXTERN int uv_check_stop(uv_check_t* check);

/* Streams */
UV_EXTERN uv_buf_t uv_buf_init(char* base, unsigned int len);
UV_EXTERN int uv_listen(uv_stream_t* stream, int backlog, uv_connection_cb cb);
UV_EXTERN int uv_accept(uv_stream_t* server, uv_stream_t* client);
UV_EXTERN int uv_read_start(uv_stream_t* stream, uv_alloc_cb alloc_cb, uv_read_cb read_cb);
UV_EXTERN int uv_read_stop(uv_stream_t* stream);
UV_EXTERN int uv_write(uv_write_t* req, uv_stream_t* handle, const uv_buf_t bufs[], unsigned int nbufs, uv_write_cb cb);
UV_EXTERN int uv_try_write(uv_stream_t* handle, const uv_buf_t bufs[], unsigned int nbufs);
UV_EXTERN int uv_shutdown(uv_shutdown_t* req, uv_stream_t* handle, uv_shutdown_cb cb);

/* TCP */
UV_EXTERN int uv_tcp_init(uv_loop_t* loop, uv_tcp_t* tcp);
UV_EXTERN int uv_tcp_bind(uv_tcp_t* tcp, const struct sockaddr* addr, unsigned int flags);
UV_EXTERN int uv_tcp_getsockname(const uv_tcp_t* tcp, struct sockaddr* name, int* namelen);
UV_EXTERN int uv_ip4_addr(const char* ip, int port, struct sockaddr_in* addr);

#ifdef __cplusplus
}
#endif

#endif

/* libuv's C interface, version 1.53, on the oxuv event loop, for Linux.
 *
 * libuv's manual, https://docs.libuv.org, describes it at length. In short:
 *
 * Functions that return int return 0 or more when they succeed, and a negative error (uv_errno_t) when not.
 * A request whose start fails gets no callback.
 *
 * A loop, its handles and its requests belong to one thread at a time. Only uv_async_send, and functions that take
 * neither loop nor handle nor request, may be called from others. Callbacks run within uv_run, on its thread, unless
 * told otherwise below; none runs within the call that started it.
 *
 * A turn of a loop, and who is called in it:
 *
 *     pending    writes, sends and shutdowns that have ended already
 *     idle
 *     prepare
 *     poll       streams, datagrams, polls, signals, processes, file system events; uv_async_send; what the thread
 *                pool has done: uv_queue_work, uv_fs_*, uv_getaddrinfo, uv_getnameinfo, uv_random
 *     pending    what has ended in poll
 *     check
 *     closing    handles being closed: first their open requests, with UV_ECANCELED, then the close callback
 *     timers     those that are due; with UV_RUN_DEFAULT also once before the first turn
 *
 * Memory of a handle stays the library's until its close callback, memory of a request until its callback. Fields
 * called private may change or vanish; all others may be read.
 */
#ifndef UV_H
#define UV_H

#ifndef UV_EXTERN
#ifdef __GNUC__
#define UV_EXTERN __attribute__((visibility("default")))
#else
#define UV_EXTERN
#endif
#endif

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uv/errno.h"
#include "uv/unix.h"
#include "uv/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---- */

/* Each error's name without UV_, and its text. */
#define UV_ERRNO_MAP(XX)                                                                           \
  XX(E2BIG, "argument list too long")                                                              \
  XX(EACCES, "permission denied")                                                                  \
  XX(EADDRINUSE, "address already in use")                                                         \
  XX(EADDRNOTAVAIL, "address not available")                                                       \
  XX(EAFNOSUPPORT, "address family not supported")                                                 \
  XX(EAGAIN, "resource temporarily unavailable")                                                   \
  XX(EAI_ADDRFAMILY, "address family not supported")                                               \
  XX(EAI_AGAIN, "temporary failure")                                                               \
  XX(EAI_BADFLAGS, "bad ai_flags value")                                                           \
  XX(EAI_BADHINTS, "invalid value for hints")                                                      \
  XX(EAI_CANCELED, "request canceled")                                                             \
  XX(EAI_FAIL, "permanent failure")                                                                \
  XX(EAI_FAMILY, "ai_family not supported")                                                        \
  XX(EAI_MEMORY, "out of memory")                                                                  \
  XX(EAI_NODATA, "no address")                                                                     \
  XX(EAI_NONAME, "unknown node or service")                                                        \
  XX(EAI_OVERFLOW, "argument buffer overflow")                                                     \
  XX(EAI_PROTOCOL, "resolved protocol is unknown")                                                 \
  XX(EAI_SERVICE, "service not available for socket type")                                         \
  XX(EAI_SOCKTYPE, "socket type not supported")                                                    \
  XX(EALREADY, "connection already in progress")                                                   \
  XX(EBADF, "bad file descriptor")                                                                 \
  XX(EBUSY, "resource busy or locked")                                                             \
  XX(ECANCELED, "operation canceled")                                                              \
  XX(ECHARSET, "invalid Unicode character")                                                        \
  XX(ECONNABORTED, "software caused connection abort")                                             \
  XX(ECONNREFUSED, "connection refused")                                                           \
  XX(ECONNRESET, "connection reset by peer")                                                       \
  XX(EDESTADDRREQ, "destination address required")                                                 \
  XX(EEXIST, "file already exists")                                                                \
  XX(EFAULT, "bad address in system call argument")                                                \
  XX(EFBIG, "file too large")                                                                      \
  XX(EHOSTUNREACH, "host is unreachable")                                                          \
  XX(EINTR, "interrupted system call")                                                             \
  XX(EINVAL, "invalid argument")                                                                   \
  XX(EIO, "i/o error")                                                                             \
  XX(EISCONN, "socket is already connected")                                                       \
  XX(EISDIR, "illegal operation on a directory")                                                   \
  XX(ELOOP, "too many symbolic links encountered")                                                 \
  XX(EMFILE, "too many open files")                                                                \
  XX(EMSGSIZE, "message too long")                                                                 \
  XX(ENAMETOOLONG, "name too long")                                                                \
  XX(ENETDOWN, "network is down")                                                                  \
  XX(ENETUNREACH, "network is unreachable")                                                        \
  XX(ENFILE, "file table overflow")                                                                \
  XX(ENOBUFS, "no buffer space available")                                                         \
  XX(ENODEV, "no such device")                                                                     \
  XX(ENOENT, "no such file or directory")                                                          \
  XX(ENOMEM, "not enough memory")                                                                  \
  XX(ENONET, "machine is not on the network")                                                      \
  XX(ENOPROTOOPT, "protocol not available")                                                        \
  XX(ENOSPC, "no space left on device")                                                            \
  XX(ENOSYS, "function not implemented")                                                           \
  XX(ENOTCONN, "socket is not connected")                                                          \
  XX(ENOTDIR, "not a directory")                                                                   \
  XX(ENOTEMPTY, "directory not empty")                                                             \
  XX(ENOTSOCK, "socket operation on non-socket")                                                   \
  XX(ENOTSUP, "operation not supported on socket")                                                 \
  XX(EOVERFLOW, "value too large for defined data type")                                           \
  XX(EPERM, "operation not permitted")                                                             \
  XX(EPIPE, "broken pipe")                                                                         \
  XX(EPROTO, "protocol error")                                                                     \
  XX(EPROTONOSUPPORT, "protocol not supported")                                                    \
  XX(EPROTOTYPE, "protocol wrong type for socket")                                                 \
  XX(ERANGE, "result too large")                                                                   \
  XX(EROFS, "read-only file system")                                                               \
  XX(ESHUTDOWN, "cannot send after transport endpoint shutdown")                                   \
  XX(ESPIPE, "invalid seek")                                                                       \
  XX(ESRCH, "no such process")                                                                     \
  XX(ETIMEDOUT, "connection timed out")                                                            \
  XX(ETXTBSY, "text file is busy")                                                                 \
  XX(EXDEV, "cross-device link not permitted")                                                     \
  XX(UNKNOWN, "unknown error")                                                                     \
  XX(EOF, "end of file")                                                                           \
  XX(ENXIO, "no such device or address")                                                           \
  XX(EMLINK, "too many links")                                                                     \
  XX(EHOSTDOWN, "host is down")                                                                    \
  XX(EREMOTEIO, "remote I/O error")                                                                \
  XX(ENOTTY, "inappropriate ioctl for device")                                                     \
  XX(EFTYPE, "inappropriate file type or format")                                                  \
  XX(EILSEQ, "illegal byte sequence")                                                              \
  XX(ESOCKTNOSUPPORT, "socket type not supported")                                                 \
  XX(ENODATA, "no data available")                                                                 \
  XX(EUNATCH, "protocol driver not attached")                                                      \
  XX(ENOEXEC, "exec format error")

typedef enum {
#define XX(code, text) UV_##code = UV__##code,
  UV_ERRNO_MAP(XX)
#undef XX
  UV_ERRNO_MAX = UV__EOF - 1
} uv_errno_t;

/* The text and the name of an error. For an unknown one they allocate a string that is never freed; uv_strerror_r and
 * uv_err_name_r write into the caller's buffer instead, which they return. */
UV_EXTERN const char* uv_strerror(int err);
UV_EXTERN char* uv_strerror_r(int err, char* buf, size_t buflen);
UV_EXTERN const char* uv_err_name(int err);
UV_EXTERN char* uv_err_name_r(int err, char* buf, size_t buflen);

/* From an errno to an error; what is not above 0 comes back as it is. */
UV_EXTERN int uv_translate_sys_error(int sys_errno);

/* ---- The library ---- */

/* UV_VERSION_HEX of the library that is loaded, and the same as text. */
UV_EXTERN unsigned int uv_version(void);
UV_EXTERN const char* uv_version_string(void);

typedef void* (*uv_malloc_func)(size_t size);
typedef void* (*uv_realloc_func)(void* ptr, size_t size);
typedef void* (*uv_calloc_func)(size_t count, size_t size);
typedef void (*uv_free_func)(void* ptr);

/* Before any other function. UV_EINVAL if one of them is NULL. */
UV_EXTERN int uv_replace_allocator(uv_malloc_func malloc_func,
                                   uv_realloc_func realloc_func,
                                   uv_calloc_func calloc_func,
                                   uv_free_func free_func);

/* Gives the library's resources back, also what uv_setup_args returned; the library is not to be used afterwards. */
UV_EXTERN void uv_library_shutdown(void);

/* First in main; use the arguments it returns instead. For uv_set_process_title. */
UV_EXTERN char** uv_setup_args(int argc, char** argv);

/* ---- Kinds of handles and requests ---- */

#define UV_HANDLE_TYPE_MAP(XX)                                                                     \
  XX(ASYNC, async)                                                                                 \
  XX(CHECK, check)                                                                                 \
  XX(FS_EVENT, fs_event)                                                                           \
  XX(FS_POLL, fs_poll)                                                                             \
  XX(HANDLE, handle)                                                                               \
  XX(IDLE, idle)                                                                                   \
  XX(NAMED_PIPE, pipe)                                                                             \
  XX(POLL, poll)                                                                                   \
  XX(PREPARE, prepare)                                                                             \
  XX(PROCESS, process)                                                                             \
  XX(STREAM, stream)                                                                               \
  XX(TCP, tcp)                                                                                     \
  XX(TIMER, timer)                                                                                 \
  XX(TTY, tty)                                                                                     \
  XX(UDP, udp)                                                                                     \
  XX(SIGNAL, signal)

#define UV_REQ_TYPE_MAP(XX)                                                                        \
  XX(REQ, req)                                                                                     \
  XX(CONNECT, connect)                                                                             \
  XX(WRITE, write)                                                                                 \
  XX(SHUTDOWN, shutdown)                                                                           \
  XX(UDP_SEND, udp_send)                                                                           \
  XX(FS, fs)                                                                                       \
  XX(WORK, work)                                                                                   \
  XX(GETADDRINFO, getaddrinfo)                                                                     \
  XX(GETNAMEINFO, getnameinfo)                                                                     \
  XX(RANDOM, random)

typedef enum {
  UV_UNKNOWN_HANDLE = 0,
#define XX(upper, lower) UV_##upper,
  UV_HANDLE_TYPE_MAP(XX)
#undef XX
  UV_FILE,
  UV_HANDLE_TYPE_MAX
} uv_handle_type;

typedef enum {
  UV_UNKNOWN_REQ = 0,
#define XX(upper, lower) UV_##upper,
  UV_REQ_TYPE_MAP(XX)
#undef XX
  UV_REQ_TYPE_MAX
} uv_req_type;

typedef struct uv_loop_s uv_loop_t;

/* Handles live until they are closed. */
typedef struct uv_handle_s uv_handle_t;
typedef struct uv_async_s uv_async_t;
typedef struct uv_check_s uv_check_t;
typedef struct uv_fs_event_s uv_fs_event_t;
typedef struct uv_fs_poll_s uv_fs_poll_t;
typedef struct uv_idle_s uv_idle_t;
typedef struct uv_pipe_s uv_pipe_t;
typedef struct uv_poll_s uv_poll_t;
typedef struct uv_prepare_s uv_prepare_t;
typedef struct uv_process_s uv_process_t;
typedef struct uv_signal_s uv_signal_t;
typedef struct uv_stream_s uv_stream_t;
typedef struct uv_tcp_s uv_tcp_t;
typedef struct uv_timer_s uv_timer_t;
typedef struct uv_tty_s uv_tty_t;
typedef struct uv_udp_s uv_udp_t;

/* Requests live for one operation. */
typedef struct uv_req_s uv_req_t;
typedef struct uv_connect_s uv_connect_t;
typedef struct uv_fs_s uv_fs_t;
typedef struct uv_getaddrinfo_s uv_getaddrinfo_t;
typedef struct uv_getnameinfo_s uv_getnameinfo_t;
typedef struct uv_random_s uv_random_t;
typedef struct uv_shutdown_s uv_shutdown_t;
typedef struct uv_udp_send_s uv_udp_send_t;
typedef struct uv_work_s uv_work_t;
typedef struct uv_write_s uv_write_t;

/* What the library tells of files and of the machine. */
typedef struct uv_cpu_info_s uv_cpu_info_t;
typedef struct uv_dir_s uv_dir_t;
typedef struct uv_dirent_s uv_dirent_t;
typedef struct uv_env_item_s uv_env_item_t;
typedef struct uv_group_s uv_group_t;
typedef struct uv_interface_address_s uv_interface_address_t;
typedef struct uv_metrics_s uv_metrics_t;
typedef struct uv_passwd_s uv_passwd_t;
typedef struct uv_statfs_s uv_statfs_t;
typedef struct uv_utsname_s uv_utsname_t;

/* ---- Callbacks of handles ---- */

/* The last that is heard of a handle: afterwards its memory is the program's. Phase: closing. */
typedef void (*uv_close_cb)(uv_handle_t* handle);
/* Within uv_walk, for each handle. */
typedef void (*uv_walk_cb)(uv_handle_t* handle, void* arg);

/* Asks for memory, right before something is read into it. The size is a suggestion. If buf->base is left NULL or
 * buf->len 0, the read or receive callback is told UV_ENOBUFS. */
typedef void (*uv_alloc_cb)(uv_handle_t* handle, size_t suggested_size, uv_buf_t* buf);

/* nread: bytes read; 0, nothing for now; negative, an error, UV_EOF at the end. The buffer is the program's again. */
typedef void (*uv_read_cb)(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf);

/* status: 0 or an error. */
typedef void (*uv_connection_cb)(uv_stream_t* server, int status);
typedef void (*uv_write_cb)(uv_write_t* req, int status);
typedef void (*uv_connect_cb)(uv_connect_t* req, int status);
typedef void (*uv_shutdown_cb)(uv_shutdown_t* req, int status);

typedef void (*uv_timer_cb)(uv_timer_t* handle);
typedef void (*uv_idle_cb)(uv_idle_t* handle);
typedef void (*uv_prepare_cb)(uv_prepare_t* handle);
typedef void (*uv_check_cb)(uv_check_t* handle);
typedef void (*uv_async_cb)(uv_async_t* handle);
typedef void (*uv_signal_cb)(uv_signal_t* handle, int signum);

/* events: of uv_poll_event. status: 0 or an error. */
typedef void (*uv_poll_cb)(uv_poll_t* handle, int status, int events);

/* term_signal: the signal that ended the process, or 0. */
typedef void (*uv_exit_cb)(uv_process_t* handle, int64_t exit_status, int term_signal);

/* ---- Buffers, time ---- */

UV_EXTERN uv_buf_t uv_buf_init(char* base, unsigned int len);

typedef struct {
  long tv_sec;
  long tv_nsec;
} uv_timespec_t;

typedef struct {
  int64_t tv_sec;
  int32_t tv_nsec;
} uv_timespec64_t;

typedef struct {
  long tv_sec;
  long tv_usec;
} uv_timeval_t;

typedef struct {
  int64_t tv_sec;
  int32_t tv_usec;
} uv_timeval64_t;

typedef enum {
  UV_CLOCK_MONOTONIC,
  UV_CLOCK_REALTIME
} uv_clock_id;

UV_EXTERN int uv_clock_gettime(uv_clock_id clock_id, uv_timespec64_t* ts);
UV_EXTERN int uv_gettimeofday(uv_timeval64_t* tv);

/* Nanoseconds from a point in the past; never goes back. */
UV_EXTERN uint64_t uv_hrtime(void);

/* Milliseconds; stops the calling thread. */
UV_EXTERN void uv_sleep(unsigned int msec);

/* ---- Loops ---- */

typedef enum {
  /* Until nothing is alive, or until uv_stop. */
  UV_RUN_DEFAULT = 0,
  /* One turn, which waits if nothing is due. */
  UV_RUN_ONCE,
  /* One turn, without waiting. */
  UV_RUN_NOWAIT
} uv_run_mode;

typedef enum {
  /* Followed by a signal, which must be SIGPROF: blocked while the loop waits. */
  UV_LOOP_BLOCK_SIGNAL = 0,
  /* Before the first run: count the time spent waiting, see uv_metrics_idle_time. */
  UV_METRICS_IDLE_TIME,
  /* Accepted, and of no effect where io_uring is not used. */
  UV_LOOP_USE_IO_URING_SQPOLL
/* So that programs can ask with #ifdef. */
#define UV_LOOP_USE_IO_URING_SQPOLL UV_LOOP_USE_IO_URING_SQPOLL
} uv_loop_option;

/* The same loop for all callers, made by the first call; NULL if that fails. Not locked. */
UV_EXTERN uv_loop_t* uv_default_loop(void);

UV_EXTERN int uv_loop_init(uv_loop_t* loop);
/* UV_EBUSY as long as handles or requests are left. */
UV_EXTERN int uv_loop_close(uv_loop_t* loop);
/* Deprecated: uv_loop_init and uv_loop_close on allocated memory. */
UV_EXTERN uv_loop_t* uv_loop_new(void);
UV_EXTERN void uv_loop_delete(uv_loop_t* loop);
UV_EXTERN size_t uv_loop_size(void);
UV_EXTERN int uv_loop_configure(uv_loop_t* loop, uv_loop_option option, ...);
/* In a child process after fork, before anything else is done with the loop. */
UV_EXTERN int uv_loop_fork(uv_loop_t* loop);
UV_EXTERN void* uv_loop_get_data(const uv_loop_t* loop);
UV_EXTERN void uv_loop_set_data(uv_loop_t* loop, void* data);

/* Returns not 0 if something is alive still. */
UV_EXTERN int uv_run(uv_loop_t* loop, uv_run_mode mode);
/* The run under way, or the next one, ends after its turn. */
UV_EXTERN void uv_stop(uv_loop_t* loop);
/* Are there active and referenced handles, requests, or handles being closed? */
UV_EXTERN int uv_loop_alive(const uv_loop_t* loop);
UV_EXTERN void uv_walk(uv_loop_t* loop, uv_walk_cb walk_cb, void* arg);

/* The loop's time in milliseconds. It stands still between two updates; uv_run does them. */
UV_EXTERN uint64_t uv_now(const uv_loop_t* loop);
UV_EXTERN void uv_update_time(uv_loop_t* loop);

/* To run the loop within another: readable when a run without waiting has something to do. */
UV_EXTERN int uv_backend_fd(const uv_loop_t* loop);
/* Milliseconds until the next timer; -1 without one. */
UV_EXTERN int uv_backend_timeout(const uv_loop_t* loop);

/* For debugging: a line for each handle. */
UV_EXTERN void uv_print_all_handles(uv_loop_t* loop, FILE* stream);
UV_EXTERN void uv_print_active_handles(uv_loop_t* loop, FILE* stream);

struct uv_metrics_s {
  uint64_t loop_count; /* turns */
  uint64_t events; /* that were worked off */
  uint64_t events_waiting; /* that were there already when the loop would have waited */
  /* private */
  uint64_t* reserved[13];
};

UV_EXTERN int uv_metrics_info(uv_loop_t* loop, uv_metrics_t* metrics);
/* Nanoseconds spent waiting; 0 unless UV_METRICS_IDLE_TIME is configured. From any thread. */
UV_EXTERN uint64_t uv_metrics_idle_time(uv_loop_t* loop);

/* ---- Handles ---- */

#define UV_HANDLE_FIELDS                                                                           \
  /* the program's own */                                                                          \
  void* data;                                                                                      \
  /* to be read */                                                                                 \
  uv_loop_t* loop;                                                                                 \
  uv_handle_type type;                                                                             \
  /* private */                                                                                    \
  uv_close_cb close_cb;                                                                            \
  struct uv__queue handle_queue;                                                                   \
  union {                                                                                          \
    int fd;                                                                                        \
    void* reserved[4];                                                                             \
  } u;                                                                                             \
  uv_handle_t* next_closing;                                                                       \
  unsigned int flags;

/* What all handles begin with: any handle may be cast to it. */
struct uv_handle_s {
  UV_HANDLE_FIELDS
};

UV_EXTERN size_t uv_handle_size(uv_handle_type type);
UV_EXTERN const char* uv_handle_type_name(uv_handle_type type);
UV_EXTERN uv_handle_type uv_handle_get_type(const uv_handle_t* handle);
UV_EXTERN uv_loop_t* uv_handle_get_loop(const uv_handle_t* handle);
UV_EXTERN void* uv_handle_get_data(const uv_handle_t* handle);
UV_EXTERN void uv_handle_set_data(uv_handle_t* handle, void* data);

UV_EXTERN void uv_close(uv_handle_t* handle, uv_close_cb close_cb);
/* Not 0 from uv_close on. */
UV_EXTERN int uv_is_closing(const uv_handle_t* handle);
/* Started, or with something to do. */
UV_EXTERN int uv_is_active(const uv_handle_t* handle);

/* A handle without a reference does not keep the loop alive. Each has at most one, and has it from the start. */
UV_EXTERN void uv_ref(uv_handle_t* handle);
UV_EXTERN void uv_unref(uv_handle_t* handle);
UV_EXTERN int uv_has_ref(const uv_handle_t* handle);

/* Bytes of the socket's buffers: get them if *value is 0, else set them. Linux doubles what is set. */
UV_EXTERN int uv_send_buffer_size(uv_handle_t* handle, int* value);
UV_EXTERN int uv_recv_buffer_size(uv_handle_t* handle, int* value);

UV_EXTERN int uv_fileno(const uv_handle_t* handle, uv_os_fd_t* fd);

/* What kind of handle could serve this descriptor. */
UV_EXTERN uv_handle_type uv_guess_handle(uv_file file);

/* ---- Requests ---- */

/* Private: bytes that a write has written. */
struct uv__req_write_extra_s {
  size_t nwritten;
};

#define UV_REQ_FIELDS                                                                              \
  /* the program's own */                                                                          \
  void* data;                                                                                      \
  /* to be read */                                                                                 \
  uv_req_type type;                                                                                \
  /* private */                                                                                    \
  void* reserved[5];                                                                               \
  __extension__ union {                                                                            \
    void* reserved2[1];                                                                            \
    struct uv__req_write_extra_s write_extra;                                                      \
  };

/* What all requests begin with: any request may be cast to it. */
struct uv_req_s {
  UV_REQ_FIELDS
};

UV_EXTERN size_t uv_req_size(uv_req_type type);
UV_EXTERN const char* uv_req_type_name(uv_req_type type);
UV_EXTERN uv_req_type uv_req_get_type(const uv_req_t* req);
UV_EXTERN void* uv_req_get_data(const uv_req_t* req);
UV_EXTERN void uv_req_set_data(uv_req_t* req, void* data);

/* The callback comes later, with UV_ECANCELED. Of the thread pool's requests, those that have not begun can be
 * cancelled, else UV_EBUSY. Of a write, what is not sent yet (see uv_write_nwritten): 0 also when all is sent, UV_EBUSY
 * while the stream is being closed. UV_EINVAL for other kinds. */
UV_EXTERN int uv_cancel(uv_req_t* req);

/* ---- Timers ---- */

struct uv_timer_s {
  UV_HANDLE_FIELDS
  /* private */
  uv_timer_cb timer_cb;
  union {
    void* heap[3];
    struct uv__queue queue;
  } node;
  uint64_t timeout;
  uint64_t repeat;
  uint64_t start_id;
};

/* All in milliseconds, from the loop's time on. Timers due at the same time run in the order of their start. */
UV_EXTERN int uv_timer_init(uv_loop_t* loop, uv_timer_t* handle);
UV_EXTERN int uv_timer_start(uv_timer_t* handle, uv_timer_cb cb, uint64_t timeout, uint64_t repeat);
UV_EXTERN int uv_timer_stop(uv_timer_t* handle);
/* Starts a timer that repeats anew, one repeat from now. UV_EINVAL if it has never been started. */
UV_EXTERN int uv_timer_again(uv_timer_t* handle);
UV_EXTERN void uv_timer_set_repeat(uv_timer_t* handle, uint64_t repeat);
UV_EXTERN uint64_t uv_timer_get_repeat(const uv_timer_t* handle);
/* 0 if it is due already. */
UV_EXTERN uint64_t uv_timer_get_due_in(const uv_timer_t* handle);

/* ---- Called in each turn ---- */

struct uv_idle_s {
  UV_HANDLE_FIELDS
  /* private */
  uv_idle_cb idle_cb;
  struct uv__queue queue;
};

struct uv_prepare_s {
  UV_HANDLE_FIELDS
  /* private */
  uv_prepare_cb prepare_cb;
  struct uv__queue queue;
};

struct uv_check_s {
  UV_HANDLE_FIELDS
  /* private */
  uv_check_cb check_cb;
  struct uv__queue queue;
};

/* While an idle handle is active the loop does not wait. */
UV_EXTERN int uv_idle_init(uv_loop_t* loop, uv_idle_t* idle);
UV_EXTERN int uv_idle_start(uv_idle_t* idle, uv_idle_cb cb);
UV_EXTERN int uv_idle_stop(uv_idle_t* idle);

UV_EXTERN int uv_prepare_init(uv_loop_t* loop, uv_prepare_t* prepare);
UV_EXTERN int uv_prepare_start(uv_prepare_t* prepare, uv_prepare_cb cb);
UV_EXTERN int uv_prepare_stop(uv_prepare_t* prepare);

UV_EXTERN int uv_check_init(uv_loop_t* loop, uv_check_t* check);
UV_EXTERN int uv_check_start(uv_check_t* check, uv_check_cb cb);
UV_EXTERN int uv_check_stop(uv_check_t* check);

/* ---- Wake-ups ---- */

struct uv_async_s {
  UV_HANDLE_FIELDS
  /* private */
  uv_async_cb async_cb;
  struct uv__queue queue;
  int pending;
};

/* The callback may be NULL: then a send only wakes the loop up. Active from the start. */
UV_EXTERN int uv_async_init(uv_loop_t* loop, uv_async_t* async, uv_async_cb async_cb);
/* From any thread, and from signal handlers. Several sends may become one call. Not once uv_close is called. */
UV_EXTERN int uv_async_send(uv_async_t* async);

/* ---- Readiness of a descriptor of the program's ---- */

struct uv_poll_s {
  UV_HANDLE_FIELDS
  uv_poll_cb poll_cb;
  /* private */
  uv__io_t io_watcher;
};

enum uv_poll_event {
  UV_READABLE = 1,
  UV_WRITABLE = 2,
  UV_DISCONNECT = 4, /* the other side has shut down its sending */
  UV_PRIORITIZED = 8 /* urgent data */
};

/* Makes the descriptor non-blocking. It stays the program's, which closes it after uv_poll_stop or uv_close. */
UV_EXTERN int uv_poll_init(uv_loop_t* loop, uv_poll_t* handle, int fd);
UV_EXTERN int uv_poll_init_socket(uv_loop_t* loop, uv_poll_t* handle, uv_os_sock_t socket);
UV_EXTERN int uv_poll_start(uv_poll_t* handle, int events, uv_poll_cb cb);
UV_EXTERN int uv_poll_stop(uv_poll_t* handle);

/* ---- Signals ---- */

struct uv_signal_s {
  UV_HANDLE_FIELDS
  uv_signal_cb signal_cb;
  int signum;
  /* private */
  struct {
    struct uv_signal_s* rbe_left;
    struct uv_signal_s* rbe_right;
    struct uv_signal_s* rbe_parent;
    int rbe_color;
  } tree_entry;
  unsigned int caught_signals;
  unsigned int dispatched_signals;
};

UV_EXTERN int uv_signal_init(uv_loop_t* loop, uv_signal_t* handle);
UV_EXTERN int uv_signal_start(uv_signal_t* handle, uv_signal_cb signal_cb, int signum);
/* Stops itself when the signal has come; the system's default is back in force then. */
UV_EXTERN int uv_signal_start_oneshot(uv_signal_t* handle, uv_signal_cb signal_cb, int signum);
UV_EXTERN int uv_signal_stop(uv_signal_t* handle);

/* ---- Streams ---- */

#define UV_STREAM_FIELDS                                                                           \
  /* to be read: bytes of writes that are not sent yet */                                          \
  size_t write_queue_size;                                                                         \
  uv_alloc_cb alloc_cb;                                                                            \
  uv_read_cb read_cb;                                                                              \
  /* private */                                                                                    \
  uv_connect_t* connect_req;                                                                       \
  uv_shutdown_t* shutdown_req;                                                                     \
  uv__io_t io_watcher;                                                                             \
  struct uv__queue write_queue;                                                                    \
  struct uv__queue write_completed_queue;                                                          \
  uv_connection_cb connection_cb;                                                                  \
  int delayed_error;                                                                               \
  int accepted_fd;                                                                                 \
  void* queued_fds;

/* What TCP handles, pipes and terminals have in common: each of them may be cast to it. */
struct uv_stream_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
};

struct uv_connect_s {
  UV_REQ_FIELDS
  uv_connect_cb cb;
  uv_stream_t* handle;
  /* private */
  struct uv__queue queue;
};

struct uv_shutdown_s {
  UV_REQ_FIELDS
  uv_stream_t* handle;
  uv_shutdown_cb cb;
};

struct uv_write_s {
  UV_REQ_FIELDS
  uv_write_cb cb;
  uv_stream_t* send_handle;
  uv_stream_t* handle;
  /* private */
  struct uv__queue queue;
  unsigned int write_index;
  uv_buf_t* bufs;
  unsigned int nbufs;
  int error;
  uv_buf_t bufsml[4];
};

UV_EXTERN int uv_listen(uv_stream_t* stream, int backlog, uv_connection_cb cb);
/* Once for each connection callback it succeeds; UV_EAGAIN if nothing waits. client must be initialised. */
UV_EXTERN int uv_accept(uv_stream_t* server, uv_stream_t* client);

UV_EXTERN int uv_read_start(uv_stream_t* stream, uv_alloc_cb alloc_cb, uv_read_cb read_cb);
UV_EXTERN int uv_read_stop(uv_stream_t* stream);

/* The array of buffers is copied; their bytes must stay as they are until the callback. */
UV_EXTERN int uv_write(uv_write_t* req,
                       uv_stream_t* handle,
                       const uv_buf_t bufs[],
                       unsigned int nbufs,
                       uv_write_cb cb);
/* Sends a handle along; over pipes that were initialised for it (ipc). */
UV_EXTERN int uv_write2(uv_write_t* req,
                        uv_stream_t* handle,
                        const uv_buf_t bufs[],
                        unsigned int nbufs,
                        uv_stream_t* send_handle,
                        uv_write_cb cb);
/* Writes what can be written at once, and returns how many bytes; UV_EAGAIN if none. */
UV_EXTERN int uv_try_write(uv_stream_t* handle, const uv_buf_t bufs[], unsigned int nbufs);
UV_EXTERN int uv_try_write2(uv_stream_t* handle,
                            const uv_buf_t bufs[],
                            unsigned int nbufs,
                            uv_stream_t* send_handle);
/* Within the write's callback: how many bytes were written, also if it failed or was cancelled. */
UV_EXTERN size_t uv_write_nwritten(const uv_write_t* req);
UV_EXTERN size_t uv_stream_get_write_queue_size(const uv_stream_t* stream);

/* Ends sending, once all writes are done. */
UV_EXTERN int uv_shutdown(uv_shutdown_t* req, uv_stream_t* handle, uv_shutdown_cb cb);

UV_EXTERN int uv_is_readable(const uv_stream_t* handle);
UV_EXTERN int uv_is_writable(const uv_stream_t* handle);
/* Blocking writes wait until all is sent. */
UV_EXTERN int uv_stream_set_blocking(uv_stream_t* handle, int blocking);

/* Connected descriptors. The flags: UV_NONBLOCK_PIPE or 0, one for each end. */
UV_EXTERN int uv_pipe(uv_file fds[2], int read_flags, int write_flags);
UV_EXTERN int uv_socketpair(int type,
                            int protocol,
                            uv_os_sock_t socket_vector[2],
                            int flags0,
                            int flags1);

/* ---- TCP ---- */

struct uv_tcp_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
};

enum uv_tcp_flags {
  /* An IPv6 socket that takes no IPv4 connections. */
  UV_TCP_IPV6ONLY = 1,
  /* Several sockets may be bound to the address if all have this flag; connections are spread over them. */
  UV_TCP_REUSEPORT = 2
};

UV_EXTERN int uv_tcp_init(uv_loop_t* loop, uv_tcp_t* handle);
/* flags: AF_INET or AF_INET6 to make the socket at once, else AF_UNSPEC. */
UV_EXTERN int uv_tcp_init_ex(uv_loop_t* loop, uv_tcp_t* handle, unsigned int flags);
UV_EXTERN int uv_tcp_open(uv_tcp_t* handle, uv_os_sock_t sock);
UV_EXTERN int uv_tcp_bind(uv_tcp_t* handle, const struct sockaddr* addr, unsigned int flags);
UV_EXTERN int uv_tcp_connect(uv_connect_t* req,
                             uv_tcp_t* handle,
                             const struct sockaddr* addr,
                             uv_connect_cb cb);
UV_EXTERN int uv_tcp_getsockname(const uv_tcp_t* handle, struct sockaddr* name, int* namelen);
UV_EXTERN int uv_tcp_getpeername(const uv_tcp_t* handle, struct sockaddr* name, int* namelen);
/* Closes with a reset, not with an orderly end. UV_EINVAL during a shutdown. */
UV_EXTERN int uv_tcp_close_reset(uv_tcp_t* handle, uv_close_cb close_cb);
UV_EXTERN int uv_tcp_nodelay(uv_tcp_t* handle, int enable);
/* Seconds: until the first probe; and between two. cnt: lost probes that end the connection. */
UV_EXTERN int uv_tcp_keepalive(uv_tcp_t* handle, int enable, unsigned int delay);
UV_EXTERN int uv_tcp_keepalive_ex(uv_tcp_t* handle,
                                  int on,
                                  unsigned int idle,
                                  unsigned int intvl,
                                  unsigned int cnt);
UV_EXTERN int uv_tcp_simultaneous_accepts(uv_tcp_t* handle, int enable);

/* ---- Pipes: unix sockets, and descriptors like pipes ---- */

struct uv_pipe_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
  int ipc; /* not 0 if handles can be sent along */
  /* private */
  const char* pipe_fname;
};

/* Flag of uv_pipe_bind2 and uv_pipe_connect2 */
enum {
  UV_PIPE_NO_TRUNCATE = 1u << 0 /* UV_EINVAL for names that are too long, which are cut else */
};

UV_EXTERN int uv_pipe_init(uv_loop_t* loop, uv_pipe_t* handle, int ipc);
UV_EXTERN int uv_pipe_open(uv_pipe_t* handle, uv_file file);
UV_EXTERN int uv_pipe_bind(uv_pipe_t* handle, const char* name);
/* Names that begin with a zero byte are abstract: no file. */
UV_EXTERN int uv_pipe_bind2(uv_pipe_t* handle, const char* name, size_t namelen, unsigned int flags);
UV_EXTERN void uv_pipe_connect(uv_connect_t* req, uv_pipe_t* handle, const char* name, uv_connect_cb cb);
UV_EXTERN int uv_pipe_connect2(uv_connect_t* req,
                               uv_pipe_t* handle,
                               const char* name,
                               size_t namelen,
                               unsigned int flags,
                               uv_connect_cb cb);
/* *size: room of the buffer; afterwards the length, or with UV_ENOBUFS the room needed. */
UV_EXTERN int uv_pipe_getsockname(const uv_pipe_t* handle, char* buffer, size_t* size);
UV_EXTERN int uv_pipe_getpeername(const uv_pipe_t* handle, char* buffer, size_t* size);
/* No effect on Linux. */
UV_EXTERN void uv_pipe_pending_instances(uv_pipe_t* handle, int count);
/* Handles that came along and wait for uv_accept; what kind of handle the first one needs. */
UV_EXTERN int uv_pipe_pending_count(uv_pipe_t* handle);
UV_EXTERN uv_handle_type uv_pipe_pending_type(uv_pipe_t* handle);
/* Lets other users read (UV_READABLE) or write (UV_WRITABLE) the socket's file. */
UV_EXTERN int uv_pipe_chmod(uv_pipe_t* handle, int flags);

/* ---- Terminals ---- */

struct uv_tty_s {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
  /* private */
  struct termios orig_termios;
  int mode;
};

typedef enum {
  UV_TTY_MODE_NORMAL, /* as it was */
  UV_TTY_MODE_RAW, /* each key at once, without echo */
  UV_TTY_MODE_IO, /* bytes pass unchanged */
  UV_TTY_MODE_RAW_VT /* raw; different on Windows alone */
} uv_tty_mode_t;

typedef enum {
  UV_TTY_SUPPORTED,
  UV_TTY_UNSUPPORTED
} uv_tty_vtermstate_t;

/* readable is not looked at. */
UV_EXTERN int uv_tty_init(uv_loop_t* loop, uv_tty_t* handle, uv_file fd, int readable);
UV_EXTERN int uv_tty_set_mode(uv_tty_t* handle, uv_tty_mode_t mode);
#ifdef __cplusplus
extern "C++" {
inline int uv_tty_set_mode(uv_tty_t* handle, int mode) {
  return uv_tty_set_mode(handle, static_cast<uv_tty_mode_t>(mode));
}
}
#endif
/* For when the process ends: the terminal as it was. Also from signal handlers; UV_EBUSY within uv_tty_set_mode. */
UV_EXTERN int uv_tty_reset_mode(void);
UV_EXTERN int uv_tty_get_winsize(uv_tty_t* handle, int* width, int* height);
/* For Windows: no effect, and UV_ENOTSUP. */
UV_EXTERN void uv_tty_set_vterm_state(uv_tty_vtermstate_t state);
UV_EXTERN int uv_tty_get_vterm_state(uv_tty_vtermstate_t* state);

/* ---- UDP ---- */

typedef void (*uv_udp_send_cb)(uv_udp_send_t* req, int status);

/* nread: bytes; 0 with addr NULL, nothing for now; negative, an error. flags: of uv_udp_flags. */
typedef void (*uv_udp_recv_cb)(uv_udp_t* handle,
                               ssize_t nread,
                               const uv_buf_t* buf,
                               const struct sockaddr* addr,
                               unsigned flags);

struct uv_udp_s {
  UV_HANDLE_FIELDS
  /* to be read: bytes and number of sends that are not done yet */
  size_t send_queue_size;
  size_t send_queue_count;
  /* private */
  uv_alloc_cb alloc_cb;
  uv_udp_recv_cb recv_cb;
  uv__io_t io_watcher;
  struct uv__queue write_queue;
  struct uv__queue write_completed_queue;
};

struct uv_udp_send_s {
  UV_REQ_FIELDS
  uv_udp_t* handle;
  uv_udp_send_cb cb;
  /* private */
  struct uv__queue queue;
  union {
    struct sockaddr addr;
    struct sockaddr_storage storage;
  } u;
  unsigned int nbufs;
  uv_buf_t* bufs;
  ssize_t status;
  uv_udp_send_cb send_cb;
  uv_buf_t bufsml[4];
};

enum uv_udp_flags {
  /* Bind: an IPv6 socket that takes no IPv4 datagrams. */
  UV_UDP_IPV6ONLY = 1,
  /* Told to the callback: the datagram was larger than the buffer, its rest is lost. */
  UV_UDP_PARTIAL = 2,
  /* Bind: the address may be in use; the last socket bound to it gets the datagrams. */
  UV_UDP_REUSEADDR = 4,
  /* Told to the callback: this is a part of a buffer for several datagrams, which is not to be freed yet. */
  UV_UDP_MMSG_CHUNK = 8,
  /* Told to the callback: the buffer for several datagrams is the program's again. There is no datagram. */
  UV_UDP_MMSG_FREE = 16,
  /* Bind: ICMP errors are reported. */
  UV_UDP_LINUX_RECVERR = 32,
  /* Bind: several sockets may be bound to the address if all have this flag; datagrams are spread over them. */
  UV_UDP_REUSEPORT = 64,
  /* Init: receive several datagrams at once; the alloc callback should give multiples of 64 KiB. */
  UV_UDP_RECVMMSG = 256
};

typedef enum {
  UV_LEAVE_GROUP = 0,
  UV_JOIN_GROUP
} uv_membership;

UV_EXTERN int uv_udp_init(uv_loop_t* loop, uv_udp_t* handle);
/* flags: AF_INET or AF_INET6 to make the socket at once, else AF_UNSPEC; and UV_UDP_RECVMMSG. */
UV_EXTERN int uv_udp_init_ex(uv_loop_t* loop, uv_udp_t* handle, unsigned int flags);
UV_EXTERN int uv_udp_open(uv_udp_t* handle, uv_os_sock_t sock);
UV_EXTERN int uv_udp_open_ex(uv_udp_t* handle, uv_os_sock_t sock, unsigned int flags);
UV_EXTERN int uv_udp_bind(uv_udp_t* handle, const struct sockaddr* addr, unsigned int flags);
/* addr NULL: no longer connected. */
UV_EXTERN int uv_udp_connect(uv_udp_t* handle, const struct sockaddr* addr);
UV_EXTERN int uv_udp_getsockname(const uv_udp_t* handle, struct sockaddr* name, int* namelen);
UV_EXTERN int uv_udp_getpeername(const uv_udp_t* handle, struct sockaddr* name, int* namelen);

UV_EXTERN int uv_udp_set_membership(uv_udp_t* handle,
                                    const char* multicast_addr,
                                    const char* interface_addr,
                                    uv_membership membership);
UV_EXTERN int uv_udp_set_source_membership(uv_udp_t* handle,
                                           const char* multicast_addr,
                                           const char* interface_addr,
                                           const char* source_addr,
                                           uv_membership membership);
UV_EXTERN int uv_udp_set_multicast_loop(uv_udp_t* handle, int on);
UV_EXTERN int uv_udp_set_multicast_ttl(uv_udp_t* handle, int ttl);
UV_EXTERN int uv_udp_set_multicast_interface(uv_udp_t* handle, const char* interface_addr);
UV_EXTERN int uv_udp_set_broadcast(uv_udp_t* handle, int on);
UV_EXTERN int uv_udp_set_ttl(uv_udp_t* handle, int ttl);

/* addr NULL: to where the socket is connected. The bytes must stay as they are until the callback. */
UV_EXTERN int uv_udp_send(uv_udp_send_t* req,
                          uv_udp_t* handle,
                          const uv_buf_t bufs[],
                          unsigned int nbufs,
                          const struct sockaddr* addr,
                          uv_udp_send_cb send_cb);
/* Sends at once and returns the bytes; UV_EAGAIN if it cannot. */
UV_EXTERN int uv_udp_try_send(uv_udp_t* handle,
                              const uv_buf_t bufs[],
                              unsigned int nbufs,
                              const struct sockaddr* addr);
/* The same for count datagrams; returns how many were sent. flags: 0. */
UV_EXTERN int uv_udp_try_send2(uv_udp_t* handle,
                               unsigned int count,
                               uv_buf_t* bufs[],
                               unsigned int nbufs[],
                               struct sockaddr* addrs[],
                               unsigned int flags);
UV_EXTERN int uv_udp_recv_start(uv_udp_t* handle, uv_alloc_cb alloc_cb, uv_udp_recv_cb recv_cb);
UV_EXTERN int uv_udp_recv_stop(uv_udp_t* handle);
UV_EXTERN int uv_udp_using_recvmmsg(const uv_udp_t* handle);
UV_EXTERN size_t uv_udp_get_send_queue_size(const uv_udp_t* handle);
UV_EXTERN size_t uv_udp_get_send_queue_count(const uv_udp_t* handle);

/* ---- Addresses and names ---- */

/* Text to address; UV_EINVAL if it is none. Ports in the machine's byte order. */
UV_EXTERN int uv_ip4_addr(const char* ip, int port, struct sockaddr_in* addr);
UV_EXTERN int uv_ip6_addr(const char* ip, int port, struct sockaddr_in6* addr);
/* Address to text, without the port; UV_ENOSPC if the room is too small. */
UV_EXTERN int uv_ip4_name(const struct sockaddr_in* src, char* dst, size_t size);
UV_EXTERN int uv_ip6_name(const struct sockaddr_in6* src, char* dst, size_t size);
UV_EXTERN int uv_ip_name(const struct sockaddr* src, char* dst, size_t size);
UV_EXTERN int uv_inet_ntop(int af, const void* src, char* dst, size_t size);
UV_EXTERN int uv_inet_pton(int af, const char* src, void* dst);

/* res is freed by uv_freeaddrinfo. */
typedef void (*uv_getaddrinfo_cb)(uv_getaddrinfo_t* req, int status, struct addrinfo* res);
typedef void (*uv_getnameinfo_cb)(uv_getnameinfo_t* req,
                                  int status,
                                  const char* hostname,
                                  const char* service);

struct uv_getaddrinfo_s {
  UV_REQ_FIELDS
  uv_loop_t* loop;
  /* private */
  struct uv__work work_req;
  uv_getaddrinfo_cb cb;
  struct addrinfo* hints;
  char* hostname;
  char* service;
  /* the result */
  struct addrinfo* addrinfo;
  /* private */
  int retcode;
};

struct uv_getnameinfo_s {
  UV_REQ_FIELDS
  uv_loop_t* loop;
  /* private */
  struct uv__work work_req;
  uv_getnameinfo_cb getnameinfo_cb;
  struct sockaddr_storage storage;
  int flags;
  /* the result */
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  /* private */
  int retcode;
};

/* In the thread pool; without a callback in the calling thread, with the result in the request. */
UV_EXTERN int uv_getaddrinfo(uv_loop_t* loop,
                             uv_getaddrinfo_t* req,
                             uv_getaddrinfo_cb getaddrinfo_cb,
                             const char* node,
                             const char* service,
                             const struct addrinfo* hints);
UV_EXTERN void uv_freeaddrinfo(struct addrinfo* ai);
UV_EXTERN int uv_getnameinfo(uv_loop_t* loop,
                             uv_getnameinfo_t* req,
                             uv_getnameinfo_cb getnameinfo_cb,
                             const struct sockaddr* addr,
                             int flags);

/* ---- The thread pool ---- */

/* On a thread of the pool. */
typedef void (*uv_work_cb)(uv_work_t* req);
/* On the loop's thread, afterwards. */
typedef void (*uv_after_work_cb)(uv_work_t* req, int status);

struct uv_work_s {
  UV_REQ_FIELDS
  uv_loop_t* loop;
  uv_work_cb work_cb;
  uv_after_work_cb after_work_cb;
  /* private */
  struct uv__work work_req;
};

/* The pool has 4 threads, or as many as the environment's UV_THREADPOOL_SIZE says when it starts. */
UV_EXTERN int uv_queue_work(uv_loop_t* loop,
                            uv_work_t* req,
                            uv_work_cb work_cb,
                            uv_after_work_cb after_work_cb);

/* ---- Random bytes ---- */

typedef void (*uv_random_cb)(uv_random_t* req, int status, void* buf, size_t buflen);

struct uv_random_s {
  UV_REQ_FIELDS
  uv_loop_t* loop;
  /* private */
  int status;
  void* buf;
  size_t buflen;
  uv_random_cb cb;
  struct uv__work work_req;
};

/* In the thread pool; without a callback in the calling thread, and loop and req may be NULL. flags: 0. */
UV_EXTERN int uv_random(uv_loop_t* loop,
                        uv_random_t* req,
                        void* buf,
                        size_t buflen,
                        unsigned flags,
                        uv_random_cb cb);

/* ---- Processes ---- */

typedef enum {
  UV_IGNORE = 0x00, /* the first three get /dev/null */
  UV_CREATE_PIPE = 0x01, /* data.stream: an initialised pipe, which gets connected */
  UV_INHERIT_FD = 0x02, /* data.fd */
  UV_INHERIT_STREAM = 0x04, /* data.stream: its descriptor */

  /* With UV_CREATE_PIPE: the child can read, can write, and has its end non-blocking. */
  UV_READABLE_PIPE = 0x10,
  UV_WRITABLE_PIPE = 0x20,
  UV_NONBLOCK_PIPE = 0x40,
  UV_OVERLAPPED_PIPE = 0x40 /* the same, an older name */
} uv_stdio_flags;

typedef struct uv_stdio_container_s {
  uv_stdio_flags flags;
  union {
    uv_stream_t* stream;
    int fd;
  } data;
} uv_stdio_container_t;

typedef struct uv_process_options_s {
  uv_exit_cb exit_cb; /* may be NULL */
  const char* file; /* looked up in PATH */
  char** args; /* with the program's name first, and NULL last */
  char** env; /* "name=value", and NULL last; NULL: the parent's */
  const char* cwd; /* NULL: the parent's */
  unsigned int flags; /* of uv_process_flags */
  int stdio_count;
  uv_stdio_container_t* stdio; /* what the child has as descriptors 0, 1, 2 and so on */
  uv_uid_t uid; /* with UV_PROCESS_SETUID */
  uv_gid_t gid; /* with UV_PROCESS_SETGID */
} uv_process_options_t;

enum uv_process_flags {
  UV_PROCESS_SETUID = (1 << 0),
  UV_PROCESS_SETGID = (1 << 1),
  /* In a session of its own, so that it survives its parent. */
  UV_PROCESS_DETACHED = (1 << 3),
  /* For Windows */
  UV_PROCESS_WINDOWS_VERBATIM_ARGUMENTS = (1 << 2),
  UV_PROCESS_WINDOWS_HIDE = (1 << 4),
  UV_PROCESS_WINDOWS_HIDE_CONSOLE = (1 << 5),
  UV_PROCESS_WINDOWS_HIDE_GUI = (1 << 6),
  UV_PROCESS_WINDOWS_FILE_PATH_EXACT_NAME = (1 << 7)
};

struct uv_process_s {
  UV_HANDLE_FIELDS
  uv_exit_cb exit_cb;
  int pid;
  /* private */
  struct uv__queue queue;
  int status;
};

/* Initialises the handle also when it fails: it can be closed then, but need not be. */
UV_EXTERN int uv_spawn(uv_loop_t* loop, uv_process_t* handle, const uv_process_options_t* options);
UV_EXTERN uv_pid_t uv_process_get_pid(const uv_process_t* handle);
/* Signal 0 only asks whether the process is there: UV_ESRCH if not. */
UV_EXTERN int uv_process_kill(uv_process_t* handle, int signum);
UV_EXTERN int uv_kill(int pid, int signum);
/* Descriptors that this process has inherited are not handed on to its children. */
UV_EXTERN void uv_disable_stdio_inheritance(void);

/* ---- Files ---- */

typedef void (*uv_fs_cb)(uv_fs_t* req);

typedef struct {
  uint64_t st_dev;
  uint64_t st_mode;
  uint64_t st_nlink;
  uint64_t st_uid;
  uint64_t st_gid;
  uint64_t st_rdev;
  uint64_t st_ino;
  uint64_t st_size;
  uint64_t st_blksize;
  uint64_t st_blocks; /* of 512 bytes */
  uint64_t st_flags;
  uint64_t st_gen;
  uv_timespec_t st_atim;
  uv_timespec_t st_mtim;
  uv_timespec_t st_ctim;
  uv_timespec_t st_birthtim;
} uv_stat_t;

struct uv_statfs_s {
  uint64_t f_type;
  uint64_t f_bsize; /* bytes that are good to read at once */
  uint64_t f_blocks; /* in units of f_frsize, like the next two */
  uint64_t f_bfree;
  uint64_t f_bavail;
  uint64_t f_files;
  uint64_t f_ffree;
  uint64_t f_frsize; /* bytes */
  uint64_t f_spare[3];
};

typedef enum {
  UV_DIRENT_UNKNOWN,
  UV_DIRENT_FILE,
  UV_DIRENT_DIR,
  UV_DIRENT_LINK,
  UV_DIRENT_FIFO,
  UV_DIRENT_SOCKET,
  UV_DIRENT_CHAR,
  UV_DIRENT_BLOCK
} uv_dirent_type_t;

struct uv_dirent_s {
  const char* name;
  uv_dirent_type_t type;
};

struct uv_dir_s {
  uv_dirent_t* dirents; /* the program's array for uv_fs_readdir */
  size_t nentries; /* its length */
  /* private */
  void* reserved[4];
  DIR* dir;
};

typedef enum {
  UV_FS_UNKNOWN = -1,
  UV_FS_CUSTOM,
  UV_FS_OPEN,
  UV_FS_CLOSE,
  UV_FS_READ,
  UV_FS_WRITE,
  UV_FS_SENDFILE,
  UV_FS_STAT,
  UV_FS_LSTAT,
  UV_FS_FSTAT,
  UV_FS_FTRUNCATE,
  UV_FS_UTIME,
  UV_FS_FUTIME,
  UV_FS_ACCESS,
  UV_FS_CHMOD,
  UV_FS_FCHMOD,
  UV_FS_FSYNC,
  UV_FS_FDATASYNC,
  UV_FS_UNLINK,
  UV_FS_RMDIR,
  UV_FS_MKDIR,
  UV_FS_MKDTEMP,
  UV_FS_RENAME,
  UV_FS_SCANDIR,
  UV_FS_LINK,
  UV_FS_SYMLINK,
  UV_FS_READLINK,
  UV_FS_CHOWN,
  UV_FS_FCHOWN,
  UV_FS_REALPATH,
  UV_FS_COPYFILE,
  UV_FS_LCHOWN,
  UV_FS_OPENDIR,
  UV_FS_READDIR,
  UV_FS_CLOSEDIR,
  UV_FS_STATFS,
  UV_FS_MKSTEMP,
  UV_FS_LUTIME
} uv_fs_type;

struct uv_fs_s {
  UV_REQ_FIELDS
  uv_fs_type fs_type;
  uv_loop_t* loop;
  uv_fs_cb cb;
  ssize_t result; /* what the call returned, or a negative error */
  void* ptr; /* of some calls: the result */
  const char* path;
  uv_stat_t statbuf;
  /* private */
  const char* new_path;
  uv_file file;
  int flags;
  mode_t mode;
  unsigned int nbufs;
  uv_buf_t* bufs;
  off_t off;
  uv_uid_t uid;
  uv_gid_t gid;
  double atime;
  double mtime;
  struct uv__work work_req;
  uv_buf_t bufsml[4];
};

UV_EXTERN uv_fs_type uv_fs_get_type(const uv_fs_t* req);
UV_EXTERN ssize_t uv_fs_get_result(const uv_fs_t* req);
/* The errno of a failed request, as a positive number. */
UV_EXTERN int uv_fs_get_system_error(const uv_fs_t* req);
UV_EXTERN void* uv_fs_get_ptr(const uv_fs_t* req);
UV_EXTERN const char* uv_fs_get_path(const uv_fs_t* req);
UV_EXTERN uv_stat_t* uv_fs_get_statbuf(uv_fs_t* req);

/* Frees what the request holds. To be called for every file request when its result is no longer needed. */
UV_EXTERN void uv_fs_req_cleanup(uv_fs_t* req);

/* All of these run in the thread pool and then call back. Without a callback (cb NULL) they run in the calling thread,
 * and return the result or a negative error; loop may be NULL then. Paths are copied if there is a callback. */

/* flags: UV_FS_O_* */
UV_EXTERN int uv_fs_open(uv_loop_t* loop, uv_fs_t* req, const char* path, int flags, int mode, uv_fs_cb cb);
UV_EXTERN int uv_fs_close(uv_loop_t* loop, uv_fs_t* req, uv_file file, uv_fs_cb cb);

/* offset: bytes; -1 for where the file stands. */
UV_EXTERN int uv_fs_read(uv_loop_t* loop,
                         uv_fs_t* req,
                         uv_file file,
                         const uv_buf_t bufs[],
                         unsigned int nbufs,
                         int64_t offset,
                         uv_fs_cb cb);
UV_EXTERN int uv_fs_write(uv_loop_t* loop,
                          uv_fs_t* req,
                          uv_file file,
                          const uv_buf_t bufs[],
                          unsigned int nbufs,
                          int64_t offset,
                          uv_fs_cb cb);
UV_EXTERN int uv_fs_sendfile(uv_loop_t* loop,
                             uv_fs_t* req,
                             uv_file out_fd,
                             uv_file in_fd,
                             int64_t in_offset,
                             size_t length,
                             uv_fs_cb cb);
UV_EXTERN int uv_fs_ftruncate(uv_loop_t* loop, uv_fs_t* req, uv_file file, int64_t offset, uv_fs_cb cb);
UV_EXTERN int uv_fs_fsync(uv_loop_t* loop, uv_fs_t* req, uv_file file, uv_fs_cb cb);
UV_EXTERN int uv_fs_fdatasync(uv_loop_t* loop, uv_fs_t* req, uv_file file, uv_fs_cb cb);

/* The result is in statbuf, and ptr points to it. */
UV_EXTERN int uv_fs_stat(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
UV_EXTERN int uv_fs_lstat(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
UV_EXTERN int uv_fs_fstat(uv_loop_t* loop, uv_fs_t* req, uv_file file, uv_fs_cb cb);
/* ptr: a uv_statfs_t */
UV_EXTERN int uv_fs_statfs(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);

/* mode: F_OK, or R_OK, W_OK and X_OK together. */
UV_EXTERN int uv_fs_access(uv_loop_t* loop, uv_fs_t* req, const char* path, int mode, uv_fs_cb cb);
UV_EXTERN int uv_fs_chmod(uv_loop_t* loop, uv_fs_t* req, const char* path, int mode, uv_fs_cb cb);
UV_EXTERN int uv_fs_fchmod(uv_loop_t* loop, uv_fs_t* req, uv_file file, int mode, uv_fs_cb cb);
UV_EXTERN int uv_fs_chown(uv_loop_t* loop,
                          uv_fs_t* req,
                          const char* path,
                          uv_uid_t uid,
                          uv_gid_t gid,
                          uv_fs_cb cb);
UV_EXTERN int uv_fs_lchown(uv_loop_t* loop,
                           uv_fs_t* req,
                           const char* path,
                           uv_uid_t uid,
                           uv_gid_t gid,
                           uv_fs_cb cb);
UV_EXTERN int uv_fs_fchown(uv_loop_t* loop,
                           uv_fs_t* req,
                           uv_file file,
                           uv_uid_t uid,
                           uv_gid_t gid,
                           uv_fs_cb cb);

/* Seconds since 1970, with fractions; or one of these. */
#define UV_FS_UTIME_NOW (INFINITY)
#define UV_FS_UTIME_OMIT (NAN)
UV_EXTERN int uv_fs_utime(uv_loop_t* loop,
                          uv_fs_t* req,
                          const char* path,
                          double atime,
                          double mtime,
                          uv_fs_cb cb);
UV_EXTERN int uv_fs_lutime(uv_loop_t* loop,
                           uv_fs_t* req,
                           const char* path,
                           double atime,
                           double mtime,
                           uv_fs_cb cb);
UV_EXTERN int uv_fs_futime(uv_loop_t* loop,
                           uv_fs_t* req,
                           uv_file file,
                           double atime,
                           double mtime,
                           uv_fs_cb cb);

UV_EXTERN int uv_fs_mkdir(uv_loop_t* loop, uv_fs_t* req, const char* path, int mode, uv_fs_cb cb);
UV_EXTERN int uv_fs_rmdir(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
/* tpl ends in XXXXXX. The path made is in req->path; of mkstemp the result is the open file. */
UV_EXTERN int uv_fs_mkdtemp(uv_loop_t* loop, uv_fs_t* req, const char* tpl, uv_fs_cb cb);
UV_EXTERN int uv_fs_mkstemp(uv_loop_t* loop, uv_fs_t* req, const char* tpl, uv_fs_cb cb);
UV_EXTERN int uv_fs_unlink(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
UV_EXTERN int uv_fs_rename(uv_loop_t* loop,
                           uv_fs_t* req,
                           const char* path,
                           const char* new_path,
                           uv_fs_cb cb);
UV_EXTERN int uv_fs_link(uv_loop_t* loop,
                         uv_fs_t* req,
                         const char* path,
                         const char* new_path,
                         uv_fs_cb cb);

/* Flags of uv_fs_symlink, for Windows */
#define UV_FS_SYMLINK_DIR 0x0001
#define UV_FS_SYMLINK_JUNCTION 0x0002
UV_EXTERN int uv_fs_symlink(uv_loop_t* loop,
                            uv_fs_t* req,
                            const char* path,
                            const char* new_path,
                            int flags,
                            uv_fs_cb cb);
/* ptr: the text, ended by a zero byte */
UV_EXTERN int uv_fs_readlink(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
UV_EXTERN int uv_fs_realpath(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);

/* Flags of uv_fs_copyfile: the target must not exist; share blocks if the file system can; share them or fail. */
#define UV_FS_COPYFILE_EXCL 0x0001
#define UV_FS_COPYFILE_FICLONE 0x0002
#define UV_FS_COPYFILE_FICLONE_FORCE 0x0004
UV_EXTERN int uv_fs_copyfile(uv_loop_t* loop,
                             uv_fs_t* req,
                             const char* path,
                             const char* new_path,
                             int flags,
                             uv_fs_cb cb);

/* All entries at once. result: how many; each uv_fs_scandir_next gives one, UV_EOF at the end. */
UV_EXTERN int uv_fs_scandir(uv_loop_t* loop, uv_fs_t* req, const char* path, int flags, uv_fs_cb cb);
UV_EXTERN int uv_fs_scandir_next(uv_fs_t* req, uv_dirent_t* ent);
/* Bit by bit. ptr: a uv_dir_t, until uv_fs_closedir. Names stay until the cleanup of the request that read them. */
UV_EXTERN int uv_fs_opendir(uv_loop_t* loop, uv_fs_t* req, const char* path, uv_fs_cb cb);
UV_EXTERN int uv_fs_readdir(uv_loop_t* loop, uv_fs_t* req, uv_dir_t* dir, uv_fs_cb cb);
UV_EXTERN int uv_fs_closedir(uv_loop_t* loop, uv_fs_t* req, uv_dir_t* dir, uv_fs_cb cb);

UV_EXTERN uv_os_fd_t uv_get_osfhandle(int fd);
UV_EXTERN int uv_open_osfhandle(uv_os_fd_t os_fd);

/* ---- Changes of files ---- */

/*
 * filename: within the directory watched. events: of uv_fs_event. status: 0, or an error: a directory of this name, beneath
 * one that is watched recursively, cannot be watched. NULL with UV_CHANGE: something was lost, look for yourself.
 */
typedef void (*uv_fs_event_cb)(uv_fs_event_t* handle, const char* filename, int events, int status);

/* What the file was and is. status: 0 or an error, told once as long as it stays the same. */
typedef void (*uv_fs_poll_cb)(uv_fs_poll_t* handle,
                              int status,
                              const uv_stat_t* prev,
                              const uv_stat_t* curr);

enum uv_fs_event {
  UV_RENAME = 1,
  UV_CHANGE = 2
};

/*
 * Only recursive has an effect: everything beneath a directory is watched, too. The start blocks while it looks through
 * that.
 */
enum uv_fs_event_flags {
  UV_FS_EVENT_WATCH_ENTRY = 1,
  UV_FS_EVENT_STAT = 2,
  UV_FS_EVENT_RECURSIVE = 4
};

struct uv_fs_event_s {
  UV_HANDLE_FIELDS
  /* private */
  char* path;
  uv_fs_event_cb cb;
  UV_PLATFORM_FS_EVENT_FIELDS
};

struct uv_fs_poll_s {
  UV_HANDLE_FIELDS
  /* private */
  void* poll_ctx;
};

UV_EXTERN int uv_fs_event_init(uv_loop_t* loop, uv_fs_event_t* handle);
UV_EXTERN int uv_fs_event_start(uv_fs_event_t* handle, uv_fs_event_cb cb, const char* path, unsigned int flags);
UV_EXTERN int uv_fs_event_stop(uv_fs_event_t* handle);
/* *size: room of the buffer; afterwards the length, or with UV_ENOBUFS the room needed. */
UV_EXTERN int uv_fs_event_getpath(uv_fs_event_t* handle, char* buffer, size_t* size);

/* Looks at the file every so many milliseconds, in the thread pool. */
UV_EXTERN int uv_fs_poll_init(uv_loop_t* loop, uv_fs_poll_t* handle);
UV_EXTERN int uv_fs_poll_start(uv_fs_poll_t* handle,
                               uv_fs_poll_cb poll_cb,
                               const char* path,
                               unsigned int interval);
UV_EXTERN int uv_fs_poll_stop(uv_fs_poll_t* handle);
UV_EXTERN int uv_fs_poll_getpath(uv_fs_poll_t* handle, char* buffer, size_t* size);

/* ---- Threads ---- */

typedef void (*uv_thread_cb)(void* arg);

typedef enum {
  UV_THREAD_NO_FLAGS = 0x00,
  UV_THREAD_HAS_STACK_SIZE = 0x01
} uv_thread_create_flags;

struct uv_thread_options_s {
  unsigned int flags; /* which of the fields below count */
  size_t stack_size; /* bytes; 0 for the usual size */
};

typedef struct uv_thread_options_s uv_thread_options_t;

UV_EXTERN int uv_thread_create(uv_thread_t* tid, uv_thread_cb entry, void* arg);
UV_EXTERN int uv_thread_create_ex(uv_thread_t* tid,
                                  const uv_thread_options_t* params,
                                  uv_thread_cb entry,
                                  void* arg);
UV_EXTERN int uv_thread_join(uv_thread_t* tid);
UV_EXTERN int uv_thread_detach(uv_thread_t* tid);
UV_EXTERN uv_thread_t uv_thread_self(void);
UV_EXTERN int uv_thread_equal(const uv_thread_t* t1, const uv_thread_t* t2);
UV_EXTERN int uv_thread_setname(const char* name);
UV_EXTERN int uv_thread_getname(uv_thread_t* tid, char* name, size_t size);

/* A byte for each processor, 0 or 1; uv_cpumask_size bytes at least. oldmask may be NULL. */
UV_EXTERN int uv_cpumask_size(void);
UV_EXTERN int uv_thread_setaffinity(uv_thread_t* tid, char* cpumask, char* oldmask, size_t mask_size);
UV_EXTERN int uv_thread_getaffinity(uv_thread_t* tid, char* cpumask, size_t mask_size);
UV_EXTERN int uv_thread_getcpu(void);

enum {
  UV_THREAD_PRIORITY_HIGHEST = 2,
  UV_THREAD_PRIORITY_ABOVE_NORMAL = 1,
  UV_THREAD_PRIORITY_NORMAL = 0,
  UV_THREAD_PRIORITY_BELOW_NORMAL = -1,
  UV_THREAD_PRIORITY_LOWEST = -2
};

UV_EXTERN int uv_thread_getpriority(uv_thread_t tid, int* priority);
UV_EXTERN int uv_thread_setpriority(uv_thread_t tid, int priority);

UV_EXTERN int uv_key_create(uv_key_t* key);
UV_EXTERN void uv_key_delete(uv_key_t* key);
UV_EXTERN void* uv_key_get(uv_key_t* key);
UV_EXTERN void uv_key_set(uv_key_t* key, void* value);

/* guard begins as UV_ONCE_INIT. */
UV_EXTERN void uv_once(uv_once_t* guard, void (*callback)(void));

/* ---- Locks: misuse ends the process. The try functions return UV_EBUSY or UV_EAGAIN instead of waiting. ---- */

UV_EXTERN int uv_mutex_init(uv_mutex_t* handle);
UV_EXTERN int uv_mutex_init_recursive(uv_mutex_t* handle);
UV_EXTERN void uv_mutex_destroy(uv_mutex_t* handle);
UV_EXTERN void uv_mutex_lock(uv_mutex_t* handle);
UV_EXTERN int uv_mutex_trylock(uv_mutex_t* handle);
UV_EXTERN void uv_mutex_unlock(uv_mutex_t* handle);

UV_EXTERN int uv_rwlock_init(uv_rwlock_t* rwlock);
UV_EXTERN void uv_rwlock_destroy(uv_rwlock_t* rwlock);
UV_EXTERN void uv_rwlock_rdlock(uv_rwlock_t* rwlock);
UV_EXTERN int uv_rwlock_tryrdlock(uv_rwlock_t* rwlock);
UV_EXTERN void uv_rwlock_rdunlock(uv_rwlock_t* rwlock);
UV_EXTERN void uv_rwlock_wrlock(uv_rwlock_t* rwlock);
UV_EXTERN int uv_rwlock_trywrlock(uv_rwlock_t* rwlock);
UV_EXTERN void uv_rwlock_wrunlock(uv_rwlock_t* rwlock);

UV_EXTERN int uv_sem_init(uv_sem_t* sem, unsigned int value);
UV_EXTERN void uv_sem_destroy(uv_sem_t* sem);
UV_EXTERN void uv_sem_post(uv_sem_t* sem);
UV_EXTERN void uv_sem_wait(uv_sem_t* sem);
UV_EXTERN int uv_sem_trywait(uv_sem_t* sem);

UV_EXTERN int uv_cond_init(uv_cond_t* cond);
UV_EXTERN void uv_cond_destroy(uv_cond_t* cond);
UV_EXTERN void uv_cond_signal(uv_cond_t* cond);
UV_EXTERN void uv_cond_broadcast(uv_cond_t* cond);
UV_EXTERN void uv_cond_wait(uv_cond_t* cond, uv_mutex_t* mutex);
/* timeout: nanoseconds from now; UV_ETIMEDOUT when they are over. */
UV_EXTERN int uv_cond_timedwait(uv_cond_t* cond, uv_mutex_t* mutex, uint64_t timeout);

UV_EXTERN int uv_barrier_init(uv_barrier_t* barrier, unsigned int count);
UV_EXTERN void uv_barrier_destroy(uv_barrier_t* barrier);
/* Above 0 in one of the threads that waited, which may destroy the barrier. */
UV_EXTERN int uv_barrier_wait(uv_barrier_t* barrier);

/* ---- Shared libraries ---- */

/* filename NULL: the program itself. lib is to be given to uv_dlclose also if this fails. */
UV_EXTERN int uv_dlopen(const char* filename, uv_lib_t* lib);
UV_EXTERN void uv_dlclose(uv_lib_t* lib);
UV_EXTERN int uv_dlsym(uv_lib_t* lib, const char* name, void** ptr);
/* The text of the last failure with lib; lib's own. */
UV_EXTERN const char* uv_dlerror(const uv_lib_t* lib);

/* ---- This process ---- */

/* Where a function below takes buffer and size_t* size: *size is the room of the buffer; afterwards the length without
 * the zero byte at the end, or with UV_ENOBUFS the room needed. */

UV_EXTERN int uv_exepath(char* buffer, size_t* size);
UV_EXTERN int uv_cwd(char* buffer, size_t* size);
UV_EXTERN int uv_chdir(const char* dir);
UV_EXTERN int uv_get_process_title(char* buffer, size_t size);
UV_EXTERN int uv_set_process_title(const char* title);
UV_EXTERN uv_pid_t uv_os_getpid(void);
UV_EXTERN uv_pid_t uv_os_getppid(void);

/* Bytes */
UV_EXTERN int uv_resident_set_memory(size_t* rss);

typedef struct {
  uv_timeval_t ru_utime; /* on the processor for the program */
  uv_timeval_t ru_stime; /* on the processor within the system */
  uint64_t ru_maxrss; /* KiB */
  uint64_t ru_ixrss;
  uint64_t ru_idrss;
  uint64_t ru_isrss;
  uint64_t ru_minflt; /* page faults without reading a disk */
  uint64_t ru_majflt; /* page faults with it */
  uint64_t ru_nswap;
  uint64_t ru_inblock;
  uint64_t ru_oublock;
  uint64_t ru_msgsnd;
  uint64_t ru_msgrcv;
  uint64_t ru_nsignals;
  uint64_t ru_nvcsw; /* switches because it waited */
  uint64_t ru_nivcsw; /* switches because its time was over */
} uv_rusage_t;

UV_EXTERN int uv_getrusage(uv_rusage_t* rusage);
UV_EXTERN int uv_getrusage_thread(uv_rusage_t* rusage);

#define UV_PRIORITY_LOW 19
#define UV_PRIORITY_BELOW_NORMAL 10
#define UV_PRIORITY_NORMAL 0
#define UV_PRIORITY_ABOVE_NORMAL -7
#define UV_PRIORITY_HIGH -14
#define UV_PRIORITY_HIGHEST -20

/* pid 0: this process. */
UV_EXTERN int uv_os_getpriority(uv_pid_t pid, int* priority);
UV_EXTERN int uv_os_setpriority(uv_pid_t pid, int priority);

struct uv_env_item_s {
  char* name;
  char* value;
};

UV_EXTERN int uv_os_environ(uv_env_item_t** envitems, int* count);
UV_EXTERN void uv_os_free_environ(uv_env_item_t* envitems, int count);
/* UV_ENOENT if there is none of this name. */
UV_EXTERN int uv_os_getenv(const char* name, char* buffer, size_t* size);
UV_EXTERN int uv_os_setenv(const char* name, const char* value);
UV_EXTERN int uv_os_unsetenv(const char* name);

/* ---- Users ---- */

struct uv_passwd_s {
  char* username;
  unsigned long uid;
  unsigned long gid;
  char* shell;
  char* homedir;
};

struct uv_group_s {
  char* groupname;
  unsigned long gid;
  char** members; /* NULL is the last */
};

UV_EXTERN int uv_os_homedir(char* buffer, size_t* size);
UV_EXTERN int uv_os_tmpdir(char* buffer, size_t* size);
/* Of the effective user, or of uid. UV_ENOENT if there is no entry. Free only what succeeded. */
UV_EXTERN int uv_os_get_passwd(uv_passwd_t* pwd);
UV_EXTERN int uv_os_get_passwd2(uv_passwd_t* pwd, uv_uid_t uid);
UV_EXTERN void uv_os_free_passwd(uv_passwd_t* pwd);
UV_EXTERN int uv_os_get_group(uv_group_t* grp, uv_uid_t gid);
UV_EXTERN void uv_os_free_group(uv_group_t* grp);

/* ---- This machine ---- */

/* Bytes. Constrained: what the control group allows; 0 if that is not known. Available: what this process can have. */
UV_EXTERN uint64_t uv_get_free_memory(void);
UV_EXTERN uint64_t uv_get_total_memory(void);
UV_EXTERN uint64_t uv_get_constrained_memory(void);
UV_EXTERN uint64_t uv_get_available_memory(void);

/* Seconds */
UV_EXTERN int uv_uptime(double* uptime);
/* Of the last 1, 5 and 15 minutes */
UV_EXTERN void uv_loadavg(double avg[3]);

struct uv_cpu_times_s {
  /* milliseconds */
  uint64_t user;
  uint64_t nice;
  uint64_t sys;
  uint64_t idle;
  uint64_t irq;
};

struct uv_cpu_info_s {
  const char* model;
  int speed; /* MHz */
  struct uv_cpu_times_s cpu_times;
};

/* How many threads can run at once; 1 at least. */
UV_EXTERN unsigned int uv_available_parallelism(void);
UV_EXTERN int uv_cpu_info(uv_cpu_info_t** cpu_infos, int* count);
UV_EXTERN void uv_free_cpu_info(uv_cpu_info_t* cpu_infos, int count);

struct uv_interface_address_s {
  char* name;
  char phys_addr[6];
  int is_internal;
  union {
    struct sockaddr_in address4;
    struct sockaddr_in6 address6;
  } address;
  union {
    struct sockaddr_in netmask4;
    struct sockaddr_in6 netmask6;
  } netmask;
};

UV_EXTERN int uv_interface_addresses(uv_interface_address_t** addresses, int* count);
UV_EXTERN void uv_free_interface_addresses(uv_interface_address_t* addresses, int count);

/* Room for the name of an interface, and for the scope of an address. */
#if defined(IF_NAMESIZE)
#define UV_IF_NAMESIZE (IF_NAMESIZE + 1)
#elif defined(IFNAMSIZ)
#define UV_IF_NAMESIZE (IFNAMSIZ + 1)
#else
#define UV_IF_NAMESIZE (16 + 1)
#endif

UV_EXTERN int uv_if_indextoname(unsigned int ifindex, char* buffer, size_t* size);
UV_EXTERN int uv_if_indextoiid(unsigned int ifindex, char* buffer, size_t* size);

#ifdef MAXHOSTNAMELEN
#define UV_MAXHOSTNAMESIZE (MAXHOSTNAMELEN + 1)
#else
#define UV_MAXHOSTNAMESIZE 256
#endif

UV_EXTERN int uv_os_gethostname(char* buffer, size_t* size);

struct uv_utsname_s {
  char sysname[256];
  char release[256];
  char version[256];
  char machine[256];
};

UV_EXTERN int uv_os_uname(uv_utsname_t* buffer);

/* ---- Text of Windows ---- */

/* UTF-16 with lone surrogates has its like in WTF-8. A negative length: up to the zero. Lengths are without the zero at
 * the end, except that uv_wtf8_length_as_utf16 counts it; that one is negative for bytes that are not WTF-8. */
UV_EXTERN size_t uv_utf16_length_as_wtf8(const uint16_t* utf16, ssize_t utf16_len);
/* If *wtf8_ptr is NULL it allocates, else *wtf8_len_ptr is the room there; UV_ENOBUFS if that is too small. */
UV_EXTERN int uv_utf16_to_wtf8(const uint16_t* utf16,
                               ssize_t utf16_len,
                               char** wtf8_ptr,
                               size_t* wtf8_len_ptr);
UV_EXTERN ssize_t uv_wtf8_length_as_utf16(const char* wtf8);
UV_EXTERN void uv_wtf8_to_utf16(const char* wtf8, uint16_t* utf16, size_t utf16_len);

/* ---- Structures that contain others ---- */

/* Large enough for every kind. */
#define XX(upper, lower) uv_##lower##_t lower;
union uv_any_handle {
  UV_HANDLE_TYPE_MAP(XX)
};

union uv_any_req {
  UV_REQ_TYPE_MAP(XX)
};
#undef XX

struct uv_loop_s {
  /* the program's own */
  void* data;
  /* Handles that keep the loop alive. A program may count itself in, and out again. */
  unsigned int active_handles;
  /* private */
  struct uv__queue handle_queue;
  union {
    void* unused;
    unsigned int count;
  } active_reqs;
  void* internal_fields;
  unsigned int stop_flag;
  unsigned long flags;
  int backend_fd;
  struct uv__queue pending_queue;
  struct uv__queue watcher_queue;
  uv__io_t** watchers;
  unsigned int nwatchers;
  unsigned int nfds;
  struct uv__queue wq;
  uv_mutex_t wq_mutex;
  uv_async_t wq_async;
  uv_rwlock_t cloexec_lock;
  uv_handle_t* closing_handles;
  struct uv__queue process_handles;
  struct uv__queue prepare_handles;
  struct uv__queue check_handles;
  struct uv__queue idle_handles;
  struct uv__queue async_handles;
  void (*async_unused)(void);
  uv__io_t async_io_watcher;
  int async_wfd;
  struct {
    void* min;
    unsigned int nelts;
  } timer_heap;
  uint64_t timer_counter;
  uint64_t time;
  int signal_pipefd[2];
  uv__io_t signal_io_watcher;
  uv_signal_t child_watcher;
  int emfile_fd;
  UV_PLATFORM_LOOP_FIELDS
};

/* A program may have one of its own. */
#undef UV__ERR

#ifdef __cplusplus
}
#endif

#endif

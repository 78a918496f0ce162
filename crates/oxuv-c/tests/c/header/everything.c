/* Uses a little of everything in uv.h, in what C90 and C++98 have in common. */
#include <uv.h>

#include <uv.h>

#include <uv/errno.h>
#include <uv/linux.h>
#include <uv/threadpool.h>
#include <uv/tree.h>
#include <uv/unix.h>
#include <uv/version.h>

/* What stands for types of the system is exactly them. */
extern int* file(uv_file* same);
extern int* socket_(uv_os_sock_t* same);
extern int* descriptor(uv_os_fd_t* same);
int* file(uv_file* same) { return same; }
int* socket_(uv_os_sock_t* same) { return same; }
int* descriptor(uv_os_fd_t* same) { return same; }
extern pid_t* process(uv_pid_t* same);
extern uid_t* user(uv_uid_t* same);
extern gid_t* group(uv_gid_t* same);
pid_t* process(uv_pid_t* same) { return same; }
uid_t* user(uv_uid_t* same) { return same; }
gid_t* group(uv_gid_t* same) { return same; }
extern pthread_t* thread(uv_thread_t* same);
extern pthread_once_t* once(uv_once_t* same);
extern pthread_key_t* key(uv_key_t* same);
extern pthread_mutex_t* mutex(uv_mutex_t* same);
extern pthread_cond_t* condition(uv_cond_t* same);
extern sem_t* semaphore(uv_sem_t* same);
pthread_t* thread(uv_thread_t* same) { return same; }
pthread_once_t* once(uv_once_t* same) { return same; }
pthread_key_t* key(uv_key_t* same) { return same; }
pthread_mutex_t* mutex(uv_mutex_t* same) { return same; }
pthread_cond_t* condition(uv_cond_t* same) { return same; }
sem_t* semaphore(uv_sem_t* same) { return same; }

/* Also where a program hides them from itself by asking for strict ISO C, these are as large as in the library. */
#ifdef __x86_64__
typedef char rwlock_is_large_enough[sizeof(uv_rwlock_t) == 56 ? 1 : -1];
typedef char barrier_is_large_enough[sizeof(uv_barrier_t) == 32 ? 1 : -1];
#endif

/* Structures of a program's own that begin like a handle, a stream or a request. */
struct my_handle {
  UV_HANDLE_FIELDS
  int more;
};

struct my_stream {
  UV_HANDLE_FIELDS
  UV_STREAM_FIELDS
  int more;
};

struct my_request {
  UV_REQ_FIELDS
  int more;
};

/* An ordered set; uv/tree.h has its own test. */
struct member {
  RB_ENTRY(member) link;
};
RB_HEAD(set, member);
static int compare(const struct member* a, const struct member* b) { return (a > b) - (a < b); }
RB_GENERATE_STATIC(set, member, link, compare)

static uv_once_t guard = UV_ONCE_INIT;
static union uv_any_handle any_handle;
static union uv_any_req any_request;

extern const char* name_of(int error);
const char* name_of(int error) {
  switch (error) {
#define XX(code, text)                                                                             \
  case UV_##code:                                                                                  \
    return #code ": " text;
    UV_ERRNO_MAP(XX)
#undef XX
    default:
      return NULL;
  }
}

extern const char* kind_of(uv_handle_type type);
const char* kind_of(uv_handle_type type) {
  switch (type) {
#define XX(upper, lower)                                                                           \
  case UV_##upper:                                                                                 \
    return #lower;
    UV_HANDLE_TYPE_MAP(XX)
#undef XX
    case UV_FILE:
    case UV_UNKNOWN_HANDLE:
    case UV_HANDLE_TYPE_MAX:
    default:
      return NULL;
  }
}

/* Private in libuv, and read by programs all the same. */
extern long touched(uv_loop_t* loop);
long touched(uv_loop_t* loop) {
  loop->active_handles++;
  return any_handle.tcp.io_watcher.fd + any_handle.handle.u.fd + (any_handle.pipe.pipe_fname == NULL) +
         (long) (any_handle.tty.flags & 0x100000) + (any_request.fs.new_path == NULL) +
         (any_request.fs.bufs == NULL) + (any_request.getaddrinfo.addrinfo == NULL) +
         any_request.getnameinfo.host[0] + any_request.getnameinfo.service[0] + loop->backend_fd;
}

extern int use(uv_loop_t* loop, int (*out)(const char* text));
int use(uv_loop_t* loop, int (*out)(const char* text)) {
  struct my_handle handle;
  struct my_stream stream;
  struct my_request request;
  uv_buf_t buffer;
  double times[2];
  handle.more = stream.more = request.more = 0;
  handle.data = stream.data = request.data = NULL;
  stream.write_queue_size = 0;
  buffer.base = NULL;
  buffer.len = sizeof(guard);
#ifdef INFINITY /* C90 has none. */
  times[0] = UV_FS_UTIME_NOW;
  times[1] = UV_FS_UTIME_OMIT;
#else
  times[0] = times[1] = 0;
#endif
#if UV_VERSION_HEX < ((1 << 16) | (44 << 8)) || defined(UV__ERR)
#error "The preprocessor cannot tell the version."
#endif
#ifndef UV_LOOP_USE_IO_URING_SQPOLL
#error "Programs ask for this one with #ifdef."
#endif
  return handle.more + stream.more + request.more + (int) buffer.len + (times[0] < times[1]) +
         (name_of(UV_EOF) != NULL) + (kind_of(UV_NAMED_PIPE) != NULL) + (int) touched(loop) + out(UV_VERSION_SUFFIX) +
         (UV_FS_O_RDONLY | UV_FS_O_DIRECT | UV_FS_O_TEMPORARY) + UV_PRIORITY_LOW + UV_MAXHOSTNAMESIZE + UV_IF_NAMESIZE;
}

/* What uv.h is made of on Linux: the system's headers, types that are the system's, flags of files. */
#ifndef UV_UNIX_H
#define UV_UNIX_H

#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <termios.h>

#include "uv/linux.h"
#include "uv/threadpool.h"

/* A program that asks for strict ISO C gets less from these headers than uv.h needs. What is missing then: */
struct addrinfo;
#ifndef NI_MAXHOST
#define NI_MAXHOST 1025
#endif
#ifndef NI_MAXSERV
#define NI_MAXSERV 32
#endif

/* How the loop watches a descriptor. Private, but a stream's io_watcher.fd is read by many programs. */
typedef struct uv__io_s uv__io_t;

struct uv__io_s {
  uintptr_t bits;
  struct uv__queue pending_queue;
  struct uv__queue watcher_queue;
  unsigned int pevents;
  unsigned int events;
  int fd; /* -1 if there is none */
};

/* Memory: its beginning and its size in bytes. The same in memory as a struct iovec. */
typedef struct uv_buf_t {
  char* base;
  size_t len;
} uv_buf_t;

/* Descriptors, processes, users */
typedef int uv_file;
typedef int uv_os_sock_t;
typedef int uv_os_fd_t;
typedef pid_t uv_pid_t;
typedef uid_t uv_uid_t;
typedef gid_t uv_gid_t;

/* Threads */
#define UV_ONCE_INIT PTHREAD_ONCE_INIT

typedef pthread_t uv_thread_t;
typedef pthread_once_t uv_once_t;
typedef pthread_key_t uv_key_t;
typedef pthread_mutex_t uv_mutex_t;
typedef pthread_cond_t uv_cond_t;
typedef sem_t uv_sem_t;

#if defined(PTHREAD_RWLOCK_INITIALIZER) || !defined(__SIZEOF_PTHREAD_RWLOCK_T)
typedef pthread_rwlock_t uv_rwlock_t;
#else
typedef union {
  char size[__SIZEOF_PTHREAD_RWLOCK_T];
  long align;
} uv_rwlock_t;
#endif

#if defined(PTHREAD_BARRIER_SERIAL_THREAD) || !defined(__SIZEOF_PTHREAD_BARRIER_T)
typedef pthread_barrier_t uv_barrier_t;
#else
typedef union {
  char size[__SIZEOF_PTHREAD_BARRIER_T];
  long align;
} uv_barrier_t;
#endif

/* A library loaded by uv_dlopen; errmsg is private, see uv_dlerror. */
typedef struct {
  void* handle;
  char* errmsg;
} uv_lib_t;

/* Stands before functions and data which a plugin shows. */
#define UV_DYNAMIC

/* Entries of directories, as the system has them. Private. */
typedef struct dirent uv__dirent_t;

#ifdef DT_UNKNOWN
#define HAVE_DIRENT_TYPES
#define UV__DT_FILE DT_REG
#define UV__DT_DIR DT_DIR
#define UV__DT_LINK DT_LNK
#define UV__DT_FIFO DT_FIFO
#define UV__DT_SOCKET DT_SOCK
#define UV__DT_CHAR DT_CHR
#define UV__DT_BLOCK DT_BLK
#endif

/* Flags of uv_fs_open. Those which the system lacks, or hides from this program, are 0. */
#define UV_FS_O_RDONLY O_RDONLY
#define UV_FS_O_WRONLY O_WRONLY
#define UV_FS_O_RDWR O_RDWR
#define UV_FS_O_APPEND O_APPEND
#define UV_FS_O_CREAT O_CREAT
#define UV_FS_O_EXCL O_EXCL
#define UV_FS_O_NOCTTY O_NOCTTY
#define UV_FS_O_NONBLOCK O_NONBLOCK
#define UV_FS_O_SYNC O_SYNC
#define UV_FS_O_TRUNC O_TRUNC

#ifdef O_DIRECTORY
#define UV_FS_O_DIRECTORY O_DIRECTORY
#else
#define UV_FS_O_DIRECTORY 0
#endif

#ifdef O_DSYNC
#define UV_FS_O_DSYNC O_DSYNC
#else
#define UV_FS_O_DSYNC 0
#endif

#ifdef O_NOATIME
#define UV_FS_O_NOATIME O_NOATIME
#else
#define UV_FS_O_NOATIME 0
#endif

#ifdef O_NOFOLLOW
#define UV_FS_O_NOFOLLOW O_NOFOLLOW
#else
#define UV_FS_O_NOFOLLOW 0
#endif

/* The system shows this one to programs that ask for GNU extensions only; its number differs between processors. */
#if defined(__arm__) || defined(__aarch64__) || defined(__m68k__)
#define UV_FS_O_DIRECT 0x10000
#elif defined(__mips__)
#define UV_FS_O_DIRECT 0x08000
#elif defined(__powerpc__)
#define UV_FS_O_DIRECT 0x20000
#elif defined(__sparc__)
#define UV_FS_O_DIRECT 0x100000
#else
#define UV_FS_O_DIRECT 0x04000
#endif

/* Flags of other systems */
#define UV_FS_O_EXLOCK 0
#define UV_FS_O_FILEMAP 0
#define UV_FS_O_RANDOM 0
#define UV_FS_O_SEQUENTIAL 0
#define UV_FS_O_SHORT_LIVED 0
#define UV_FS_O_SYMLINK 0
#define UV_FS_O_TEMPORARY 0

#endif

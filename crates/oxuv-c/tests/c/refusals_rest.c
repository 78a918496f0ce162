/* Loops, timers, signals, children, work, names, threads and what the system says, for which memory is short at any moment. */
#include "refusals.h"

#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>

/* Loops: of several kinds, with handles of all kinds that only tick. */

enum { TIMERS = 50, TICKS = 12 };
static uv_timer_t timers[TIMERS];
static uv_idle_t idles[TICKS];
static uv_prepare_t prepares[TICKS];
static uv_check_t checks[TICKS];
static uv_async_t asyncs[TICKS];
static int fired, sent;

static void on_timer(uv_timer_t* timer) {
  (void) timer;
  if (++fired == TIMERS) end();
}

static void on_idle(uv_idle_t* handle) { uv_idle_stop(handle); }
static void on_prepare(uv_prepare_t* handle) { (void) handle; }
static void on_check(uv_check_t* handle) { (void) handle; }
static void on_async(uv_async_t* handle) { (void) handle, sent++; }

static void ticks(void) {
  int i;
  fired = sent = 0;
  for (i = 0; i < TIMERS; i++)
    if (!is_well(uv_timer_init(&loop, &timers[i])) || !is_well(uv_timer_start(&timers[i], on_timer, i % 3, 0))) return;
  for (i = 0; i < TICKS; i++) {
    if (!is_well(uv_idle_init(&loop, &idles[i])) || !is_well(uv_idle_start(&idles[i], on_idle)) ||
        !is_well(uv_prepare_init(&loop, &prepares[i])) || !is_well(uv_prepare_start(&prepares[i], on_prepare)) ||
        !is_well(uv_check_init(&loop, &checks[i])) || !is_well(uv_check_start(&checks[i], on_check)) ||
        !is_well(uv_async_init(&loop, &asyncs[i], on_async)) || !is_well(uv_async_send(&asyncs[i])))
      return;
  }
}

static void loops(void) {
  uv_loop_t* other = uv_loop_new();
  uv_metrics_t metrics;
  if (other == NULL) {
    CHECK(was_refused());
  } else {
    is_well(uv_loop_configure(other, UV_METRICS_IDLE_TIME));
    is_well(uv_loop_configure(other, UV_LOOP_BLOCK_SIGNAL, SIGPROF));
    CHECK(uv_run(other, UV_RUN_DEFAULT) == 0 && uv_metrics_info(other, &metrics) == 0);
    uv_loop_delete(other);
  }
  other = uv_default_loop();
  if (other == NULL) CHECK(was_refused());
  else CHECK(uv_run(other, UV_RUN_DEFAULT) == 0 && uv_loop_close(other) == 0);
}

static uv_signal_t signals[TICKS];
static int heard;

static void on_signal(uv_signal_t* handle, int number) {
  CHECK(handle->signum == number || handle->signum == 0);
  if (++heard == TICKS) end();
}

static void on_change(uv_fs_event_t* handle, const char* name, int events, int status) {
  (void) handle, (void) name, (void) events, (void) status;
}

/* A fork, in whose child the loop is made whole again. */
static void forks(void) {
  pid_t child;
  int status;
  static uv_fs_event_t watch;
  if (!is_well(uv_timer_init(&loop, &timers[0])) || !is_well(uv_timer_start(&timers[0], on_timer, 1, 0)) ||
      !is_well(uv_async_init(&loop, &asyncs[0], on_async)) || !is_well(uv_signal_init(&loop, &signals[0])) ||
      !is_well(uv_signal_start(&signals[0], on_signal, SIGUSR1)) || !is_well(uv_fs_event_init(&loop, &watch)) ||
      !is_well(uv_fs_event_start(&watch, on_change, ".", 0)))
    return;
  fired = TIMERS - 1;
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(SECONDS);
    if (is_well(uv_loop_fork(&loop))) CHECK(uv_async_send(&asyncs[0]) == 0);
    CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
    CHECK(uv_loop_close(&loop) == 0);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  end();
}

/* Signals: all who wait for one hear of it. */
static void hears(void) {
  int i;
  heard = 0;
  for (i = 0; i < TICKS; i++) {
    int number = i % 2 ? SIGUSR1 : SIGUSR2;
    if (!is_well(uv_signal_init(&loop, &signals[i]))) return;
    if (!is_well(i % 3 ? uv_signal_start(&signals[i], on_signal, number) : uv_signal_start_oneshot(&signals[i], on_signal, number)))
      return;
  }
  CHECK(raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0);
}

/* Children: with descriptors of all kinds, and one that there is no program for. */

static uv_process_t children[4];
static uv_pipe_t pipes[2];
static int ended, expected;
static char bytes[1000];

static void alloc(uv_handle_t* handle, size_t size, uv_buf_t* buf) {
  (void) handle, (void) size;
  *buf = uv_buf_init(bytes, sizeof(bytes));
}

static void on_bytes(uv_stream_t* stream, ssize_t nread, const uv_buf_t* buf) {
  (void) buf;
  if (nread == UV_EOF) uv_close((uv_handle_t*) stream, NULL);
  else is_well(nread);
}

static void on_exit_of_child(uv_process_t* child, int64_t status, int number) {
  CHECK(child->pid > 0 && status == 0 && number == 0);
  uv_close((uv_handle_t*) child, NULL);
  ended++;
}

static void spawns(void) {
  char* args[] = {"sh", "-c", "echo $A; cat >/dev/null", NULL};
  char* env[] = {"A=b", "PATH=/usr/bin:/bin", NULL};
  uv_stdio_container_t stdio[6] = {{UV_IGNORE, {NULL}}};
  uv_process_options_t options = {0};
  int i;
  ended = expected = 0;
  options.file = args[0];
  options.args = args;
  options.env = env;
  options.cwd = "/";
  options.exit_cb = on_exit_of_child;
  options.stdio = stdio;
  options.stdio_count = 6;
  for (i = 0; i < 2; i++)
    if (!is_well(uv_pipe_init(&loop, &pipes[i], 0))) return;
  stdio[1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
  stdio[1].data.stream = (uv_stream_t*) &pipes[0];
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  stdio[5].flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE;
  stdio[5].data.stream = (uv_stream_t*) &pipes[1];
  if (!is_well(uv_spawn(&loop, &children[0], &options))) return;
  expected++;
  if (!is_well(uv_read_start((uv_stream_t*) &pipes[0], alloc, on_bytes)) ||
      !is_well(uv_read_start((uv_stream_t*) &pipes[1], alloc, on_bytes)))
    return;
  args[2] = "exit 0";
  options.env = NULL;
  options.cwd = NULL;
  options.stdio_count = 0;
  for (i = 1; i < 3; i++) {
    if (!is_well(uv_spawn(&loop, &children[i], &options))) return;
    expected++;
  }
  options.file = "/none";
  i = uv_spawn(&loop, &children[3], &options);
  if (i != UV_ENOENT) is_well(i);
  else uv_close((uv_handle_t*) &children[3], NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  CHECK(was_refused() || ended == expected);
}

/* What threads of the pool do. */

enum { JOBS = 40 };
static uv_work_t jobs[JOBS];
static uv_random_t randoms[2];
static uv_getaddrinfo_t lookups[3];
static uv_getnameinfo_t names[2];
static char random_bytes[2][300];

static void do_work(uv_work_t* req) { (void) req; }

static void after_work(uv_work_t* req, int status) {
  (void) req;
  CHECK(under_way-- > 0);
  if (status != UV_ECANCELED) is_well(status);
}

static void on_random(uv_random_t* req, int status, void* buf, size_t size) {
  (void) req, (void) buf, (void) size;
  CHECK(under_way-- > 0);
  if (status != UV_ECANCELED) is_well(status);
}

/* The system's own memory is not ours to refuse; what it cannot say where nothing is set up is no fault. */
static void is_looked_up(int status) {
  CHECK(under_way-- > 0);
  if (status == UV_ENOMEM || status == UV_EAI_MEMORY) is_well(UV_ENOMEM);
}

static void on_addresses(uv_getaddrinfo_t* req, int status, struct addrinfo* found) {
  CHECK((status == 0) == (found != NULL) && req->addrinfo == found);
  is_looked_up(status);
  uv_freeaddrinfo(found);
}

static void on_name(uv_getnameinfo_t* req, int status, const char* host, const char* service) {
  (void) req;
  CHECK(status != 0 || (host != NULL && service != NULL));
  is_looked_up(status);
}

static void work(void) {
  struct addrinfo hints;
  struct sockaddr_in address;
  int i;
  for (i = 0; i < JOBS; i++) {
    if (!begins(uv_queue_work(&loop, &jobs[i], do_work, after_work))) return;
    if (i % 5 == 0) uv_cancel((uv_req_t*) &jobs[i]);
  }
  if (!begins(uv_random(&loop, &randoms[0], random_bytes[0], 300, 0, on_random))) return;
  if (!is_well(uv_random(NULL, NULL, random_bytes[1], 300, 0, NULL))) return;
  memset(&hints, 0, sizeof(hints));
  hints.ai_flags = AI_NUMERICHOST | AI_CANONNAME;
  if (!begins(uv_getaddrinfo(&loop, &lookups[0], on_addresses, "127.0.0.1", "80", &hints))) return;
  if (!begins(uv_getaddrinfo(&loop, &lookups[1], on_addresses, "localhost", NULL, NULL))) return;
  CHECK(uv_ip4_addr("127.0.0.1", 80, &address) == 0);
  if (!begins(uv_getnameinfo(&loop, &names[0], on_name, (struct sockaddr*) &address, NI_NUMERICHOST))) return;
  i = uv_getaddrinfo(&loop, &lookups[2], NULL, "b\xc3\xbc" "cher.invalid", NULL, &hints);
  if (i == UV_ENOMEM || i == UV_EAI_MEMORY) is_well(UV_ENOMEM);
  else CHECK(i < 0);
  i = uv_getnameinfo(&loop, &names[1], NULL, (struct sockaddr*) &address, NI_NUMERICHOST);
  if (i == UV_EAI_MEMORY) is_well(UV_ENOMEM);
  else is_well(i);
}

/* Threads, and what they meet at. */

static uv_barrier_t barrier;
static uv_key_t key;

static void meet(void* arg) {
  uv_key_set(&key, arg);
  uv_barrier_wait(&barrier);
  CHECK(uv_key_get(&key) == arg);
}

static void threads(void) {
  uv_thread_options_t options = {UV_THREAD_HAS_STACK_SIZE, 1 << 20};
  uv_mutex_t mutex, recursive;
  uv_rwlock_t rwlock;
  uv_sem_t semaphore;
  uv_cond_t condition;
  uv_thread_t thread, self = uv_thread_self();
  char name[32];
  is_well(uv_thread_getname(&self, name, sizeof(name)));
  if (is_well(uv_mutex_init(&mutex))) uv_mutex_destroy(&mutex);
  if (is_well(uv_mutex_init_recursive(&recursive))) uv_mutex_destroy(&recursive);
  if (is_well(uv_rwlock_init(&rwlock))) uv_rwlock_destroy(&rwlock);
  if (is_well(uv_sem_init(&semaphore, 0))) uv_sem_destroy(&semaphore);
  if (is_well(uv_cond_init(&condition))) uv_cond_destroy(&condition);
  if (is_well(uv_key_create(&key))) {
    if (is_well(uv_barrier_init(&barrier, 2))) {
      if (is_well(uv_thread_create_ex(&thread, &options, meet, &thread))) {
        meet(&key);
        CHECK(uv_thread_join(&thread) == 0);
      }
      uv_barrier_destroy(&barrier);
    }
    uv_key_delete(&key);
  }
}

/* What is asked of the system. */
static void is_found(int result) {
  if (result != UV_ENOENT) is_well(result);
}

static void system_facts(void) {
  uv_cpu_info_t* cpus;
  uv_interface_address_t* interfaces;
  uv_env_item_t* items;
  uv_passwd_t user;
  uv_group_t group;
  uv_utsname_t uname;
  uv_lib_t lib;
  char text[4096];
  size_t size = sizeof(text);
  double load[3];
  int count, result;
  if (is_well(uv_cpu_info(&cpus, &count))) uv_free_cpu_info(cpus, count);
  if (is_well(uv_interface_addresses(&interfaces, &count))) uv_free_interface_addresses(interfaces, count);
  if (is_well(uv_os_environ(&items, &count))) uv_os_free_environ(items, count);
  is_found(result = uv_os_get_passwd(&user));
  if (result == 0) uv_os_free_passwd(&user);
  is_found(result = uv_os_get_passwd2(&user, 0));
  if (result == 0) uv_os_free_passwd(&user);
  is_found(result = uv_os_get_group(&group, 0));
  if (result == 0) uv_os_free_group(&group);
  is_found(uv_os_homedir(text, &size));
  size = sizeof(text);
  is_well(uv_os_tmpdir(text, &size));
  size = sizeof(text);
  is_well(uv_os_gethostname(text, &size));
  size = sizeof(text);
  is_well(uv_exepath(text, &size));
  size = sizeof(text);
  is_well(uv_cwd(text, &size));
  size = sizeof(text);
  is_well(uv_if_indextoname(1, text, &size));
  is_well(uv_os_uname(&uname));
  is_well(uv_os_setenv("A", "b"));
  size = sizeof(text);
  is_well(uv_os_getenv("A", text, &size));
  is_well(uv_os_unsetenv("A"));
  is_well(uv_resident_set_memory(&size));
  uv_get_constrained_memory();
  uv_get_available_memory();
  uv_loadavg(load);
  CHECK(uv_available_parallelism() > 0);
  if (uv_dlopen("none.so", &lib) != 0) CHECK(uv_dlerror(&lib) != NULL);
  uv_dlclose(&lib);
  CHECK(uv_strerror(-12345) != NULL && uv_err_name(-12345) != NULL);
}

static void texts(void) {
  const uint16_t units[] = {'a', 0xd83d, 0xde00, 0};
  char* text = NULL;
  size_t length = 0;
  FILE* none;
  if (is_well(uv_utf16_to_wtf8(units, 3, &text, &length))) {
    CHECK(length == 5);
    counting_free(text);
  }
  none = fopen("/dev/null", "w");
  CHECK(none != NULL);
  if (is_well(uv_timer_init(&loop, &timers[0]))) uv_print_all_handles(&loop, none);
  end();
  fclose(none);
}

int main(int argc, char** argv) {
  const struct play plays[] = {{"ticks", ticks}, {"loops", loops}, {"forks", forks}, {"signals", hears}, {"spawns", spawns},
                               {"work", work}, {"threads", threads}, {"system", system_facts}, {"texts", texts}, {NULL, NULL}};
  return refuse_in(plays, argc, argv);
}

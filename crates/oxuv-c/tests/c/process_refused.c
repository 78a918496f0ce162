/* Child processes where a filter of system calls refuses descriptors for them, or to wait by these: their ends are told all
 * the same.
 *
 * not under valgrind: it does some of the calls itself. */
#define _GNU_SOURCE
#include "processes.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

static void deny(int call, int error) {
  struct sock_filter lines[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned) call, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) error),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, lines};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void on_tick(uv_timer_t* timer) { (void) timer; }

static void ends_are_told(void) {
  static uv_process_t processes[4];
  uv_timer_t timer;
  int i;
  COMMAND(options, "sh", "-c", "exit 9");
  COMMAND(sleeper, "sleep", "100");
  COMMAND(echo, "echo", "hello");
  CHECK(uv_loop_init(&loop) == 0);
  exits = 0;
  for (i = 0; i < 3; i++) CHECK(uv_spawn(&loop, &processes[i], &options) == 0);
  /* Perhaps they end before the loop looks. */
  usleep(i * 10000);
  CHECK(uv_spawn(&loop, &processes[3], &sleeper) == 0);
  while (exits < 3) uv_run(&loop, UV_RUN_ONCE);
  CHECK(last_status == 9 && last_signal == 0);
  CHECK(uv_process_kill(&processes[3], 0) == 0);
  CHECK(uv_process_kill(&processes[3], SIGTERM) == 0);
  run_dry();
  CHECK(exits == 4 && last_signal == SIGTERM);
  for (i = 0; i < 4; i++) uv_close((uv_handle_t*) &processes[i], NULL);
  run_dry();
  CHECK(strcmp(printed_by(&echo), "hello\n") == 0);
  /* One whose handle is closed keeps nobody busy. */
  CHECK(uv_spawn(&loop, &processes[0], &sleeper) == 0);
  i = processes[0].pid;
  uv_close((uv_handle_t*) &processes[0], NULL);
  CHECK(uv_timer_init(&loop, &timer) == 0 && uv_timer_start(&timer, on_tick, 1, 0) == 0);
  run_dry();
  uv_close((uv_handle_t*) &timer, NULL);
  run_dry();
  CHECK(kill(i, SIGKILL) == 0 && waitpid(i, NULL, 0) == i);
  CHECK(uv_loop_close(&loop) == 0);
  no_children();
}

static void ends_cannot_be_known(void) {
  static uv_process_t process;
  COMMAND(options, "sh", "-c", "exit 9");
  CHECK(uv_loop_init(&loop) == 0);
  CHECK(uv_spawn(&loop, &process, &options) == 0);
  exits = 0;
  run_dry();
  CHECK(exits == 1 && last_status == -ECHILD && last_signal == 0);
}

int main(void) {
  const int errors[] = {ENOSYS, EPERM, EMFILE};
  int i, status;
  for (i = 0; i < 7; i++) {
    pid_t child = fork();
    if (child == 0) {
      if (i < 3) deny(SYS_pidfd_open, errors[i]);
      else if (i == 3) deny(SYS_pidfd_send_signal, ENOSYS);
      else deny(SYS_waitid, errors[i % 2]);
      if (i < 3) CHECK(syscall(SYS_pidfd_open, getpid(), 0) == -1 && errno == errors[i]);
      if (i == 6) {
        deny(SYS_wait4, EPERM);
        ends_cannot_be_known();
        _exit(0);
      }
      ends_are_told();
      _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  puts("ok");
  return 0;
}

/* A program that knows nothing of being observed. What it does is its argument. */

#define _DEFAULT_SOURCE
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

static const char *what, *program;

/* A child of a fork goes on with the loop. */
static void fork_and_wait(void) {
    int status = -1;
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        assert(uv_loop_fork(uv_default_loop()) == 0);
        what = "child";
        return;
    }
    assert(waitpid(child, &status, 0) == child && status == 0);
}

static void run_another(void) {
    char command[4096];
    int length = snprintf(command, sizeof command, "'%s' again", program);
    assert(length > 0 && (size_t)length < sizeof command);
    assert(system(command) == 0);
}

void on_timer(uv_timer_t *timer) {
    if (strcmp(what, "exit") == 0)
        _exit(3);
    if (strcmp(what, "leave") == 0)
        exit(0);
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(what, "fork") == 0)
        fork_and_wait();
    if (strcmp(what, "run") == 0)
        run_another();
    if (strcmp(what, "stuck") == 0)
        assert(usleep(1500 * 1000) == 0); /* the watchdog does not shorten it */
    if (strcmp(what, "busy") == 0) {
        uint64_t end = uv_hrtime() + 1500000000;
        while (uv_hrtime() < end) {
        }
    }
    uv_close((uv_handle_t *)timer, NULL);
}

static int left = 30000;

void on_idle(uv_idle_t *idle) {
    if (--left == 0)
        uv_close((uv_handle_t *)idle, NULL);
}

void on_other_timer(uv_timer_t *timer) {
    uv_close((uv_handle_t *)timer, NULL);
}

static void run_other_loop(void *argument) {
    uv_loop_t loop;
    uv_timer_t timer;
    (void)argument;
    uv_loop_init(&loop);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_other_timer, 5, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert(uv_loop_close(&loop) == 0);
}

void on_later(uv_timer_t *timer) {
    (void)timer;
}

void on_connection(uv_stream_t *server, int status) {
    (void)server;
    (void)status;
}

void on_work(uv_work_t *work) {
    (void)work;
}

void on_worked(uv_work_t *work, int status) {
    (void)work;
    (void)status;
}

static void leak(uv_timer_t *later, uv_tcp_t *server) {
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_timer_init(uv_default_loop(), later);
    uv_timer_start(later, on_later, 1000000, 0);
    uv_tcp_init(uv_default_loop(), server);
    uv_tcp_bind(server, (const struct sockaddr *)&address, 0);
    uv_listen((uv_stream_t *)server, 1, on_connection);
}

static void leak_a_crowd(void) {
    static uv_timer_t crowd[20000];
    size_t nth;
    for (nth = 0; nth < sizeof crowd / sizeof crowd[0]; nth++) {
        uv_timer_init(uv_default_loop(), &crowd[nth]);
        uv_timer_start(&crowd[nth], on_later, 1000000, 0);
    }
}

static void print_memory(void) {
    struct rusage usage;
    assert(getrusage(RUSAGE_SELF, &usage) == 0);
    printf("%ld\n", usage.ru_maxrss);
}

int main(int argc, char **argv) {
    uv_timer_t timer, later;
    uv_idle_t idle;
    uv_tcp_t server;
    uv_work_t work;
    uv_thread_t other;

    program = argv[0];
    what = argc > 1 ? argv[1] : "";
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, on_timer, 1, 0);
    if (strcmp(what, "leave") != 0)
        uv_queue_work(uv_default_loop(), &work, on_work, on_worked);
    if (strcmp(what, "leak") == 0 || strcmp(what, "leave") == 0)
        leak(&later, &server);
    if (strcmp(what, "crowd") == 0)
        leak_a_crowd();
    if (strcmp(what, "open") == 0)
        uv_timer_init(uv_default_loop(), &later);
    if (strcmp(what, "long") == 0) {
        uv_idle_init(uv_default_loop(), &idle);
        uv_idle_start(&idle, on_idle);
    }
    if (strcmp(what, "two") == 0)
        assert(uv_thread_create(&other, run_other_loop, NULL) == 0);
    puts("ready");
    fflush(stdout);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    if (strcmp(what, "two") == 0)
        assert(uv_thread_join(&other) == 0);
    if (strcmp(what, "long") == 0)
        print_memory();
    return uv_loop_close(uv_default_loop()) == (strcmp(what, "open") == 0 ? UV_EBUSY : 0) ? 0 : 1;
}

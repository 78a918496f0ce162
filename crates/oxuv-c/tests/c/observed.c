/* A program that knows nothing of being observed. What it does is its argument. */

#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

static const char *what;

void on_timer(uv_timer_t *timer) {
    if (strcmp(what, "exit") == 0)
        _exit(3);
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(what, "stuck") == 0) {
        uint64_t end = uv_hrtime() + 1500000000;
        while (uv_hrtime() < end)
            usleep(10 * 1000); /* shorter when the watchdog looks */
    }
    uv_close((uv_handle_t *)timer, NULL);
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

int main(int argc, char **argv) {
    uv_timer_t timer, later;
    uv_tcp_t server;
    uv_work_t work;

    what = argc > 1 ? argv[1] : "";
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, on_timer, 1, 0);
    uv_queue_work(uv_default_loop(), &work, on_work, on_worked);
    if (strcmp(what, "leak") == 0)
        leak(&later, &server);
    puts("ready");
    fflush(stdout);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    return uv_loop_close(uv_default_loop());
}

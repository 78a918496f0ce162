/* Callbacks that have names of C++. */
#include <cstdio>
#include <string>

#include <uv.h>

struct Server {
    template <typename T> static void tick(uv_timer_t *timer) {
        uv_close(reinterpret_cast<uv_handle_t *>(timer), nullptr);
    }
};

int main(int argc, char **argv) {
    /* What of C++'s library it needs is there. */
    std::puts(std::string(argv[argc - 1]).append("!").c_str());
    uv_timer_t timer;
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, Server::tick<int>, 1, 0);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    return uv_loop_close(uv_default_loop());
}

/* The workloads on libuv's interface: the same source for our library and for libuv. */

#include "bench.h"

#include <uv.h>

void turn(long handles, long operations);
void idle(long handles, long operations);
void timer_insert(long handles, long operations);
void timer_fire(long handles, long operations);
void timer_cancel(long handles, long operations);
void timer_rearm(long handles, long operations);
void async(long handles, long operations);
void async_coalesced(long handles, long operations);
void echo_write(long handles, long operations);
void echo_try(long handles, long operations);
void accept_and_close(long handles, long operations);
void pipe_echo(long handles, long operations);
void pipe_pump(long handles, long operations);
void tcp_pump(long handles, long operations);
void udp_echo(long handles, long operations);
void udp_flood(long handles, long operations);
void udp_flood_try(long handles, long operations);
void pool_work(long handles, long operations);
void pool_stat(long handles, long operations);
void pool_read(long handles, long operations);
void pool_open(long handles, long operations);
void spawn(long handles, long operations);
void udp_transfer(long handles, long operations);

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

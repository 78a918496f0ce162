/* The workloads on libuv's interface: the same source for our library and for libuv. */

#include "bench.h"

#include <uv.h>

void turn(long operations);
void idle(long operations);
void timer_fire(long operations);
void timer_stop(long operations);
void echo_write(long operations);
void echo_try(long operations);

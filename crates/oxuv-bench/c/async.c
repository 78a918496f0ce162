/* Sends to an async handle: each for a callback of its own, and many for one. */

#include "workloads.h"

#define SENDS 1000

static uv_loop_t loop;
static uv_async_t handle;
static long left;

static void run(void) {
  CHECK(uv_run(&loop, UV_RUN_DEFAULT));
}

static void on_send(uv_async_t *async) {
  if (--left == 0)
    uv_close((uv_handle_t *) async, NULL);
  else
    CHECK(uv_async_send(async));
}

static void on_many_sends(uv_async_t *async) {
  int i;

  if (left <= 0) {
    uv_close((uv_handle_t *) async, NULL);
    return;
  }
  left -= SENDS;
  for (i = 0; i < SENDS; i++)
    CHECK(uv_async_send(async));
}

static void send_and_run(uv_async_cb on_async, long operations) {
  left = operations;
  CHECK(uv_loop_init(&loop));
  CHECK(uv_async_init(&loop, &handle, on_async));
  CHECK(uv_async_send(&handle));
  timed_section(run);
}

void async(long handles, long operations) {
  (void) handles;
  send_and_run(on_send, operations);
}

void async_coalesced(long handles, long operations) {
  (void) handles;
  send_and_run(on_many_sends, operations);
}

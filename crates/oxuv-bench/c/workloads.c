#include "workloads.h"

const struct entry workloads[] = {
  {"turn", turn},
  {"idle", idle},
  {"timer-insert", timer_insert},
  {"timer-fire", timer_fire},
  {"timer-cancel", timer_cancel},
  {"timer-rearm", timer_rearm},
  {"async", async},
  {"async-coalesced", async_coalesced},
  {"echo-write", echo_write},
  {"echo-try", echo_try},
  {NULL, NULL},
};

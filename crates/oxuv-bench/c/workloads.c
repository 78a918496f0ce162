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
  {"pipe-echo", pipe_echo},
  {"pipe-pump", pipe_pump},
  {"tcp-pump", tcp_pump},
  {"udp-echo", udp_echo},
  {"udp-flood", udp_flood},
  {"udp-flood-try", udp_flood_try},
  {"udp-transfer", udp_transfer},
  {NULL, NULL},
};

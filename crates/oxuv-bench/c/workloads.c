#include "workloads.h"

const struct entry workloads[] = {
  {"turn", turn},
  {"idle", idle},
  {"timer-fire", timer_fire},
  {"timer-stop", timer_stop},
  {"echo-write", echo_write},
  {"echo-try", echo_try},
  {NULL, NULL},
};

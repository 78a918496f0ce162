/* Callbacks left by an exception; what lives in the frames of C++ on the way is destroyed. */
#include "leave.h"

static int alive;

struct Counted {
  Counted() { alive++; }
  ~Counted() { alive--; }
};

static void leave(enum place from) {
  Counted in_the_callback;
  throw from;
}

static enum place run(uv_loop_t* loop, uv_run_mode mode) {
  int before = alive;
  try {
    Counted around_the_run;
    CHECK(uv_run(loop, mode) == 0);
    return NOWHERE;
  } catch (enum place from) {
    CHECK(alive == before);
    return from;
  }
}

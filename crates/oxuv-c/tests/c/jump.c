/* Callbacks left by longjmp. */
#include "leave.h"

#include <setjmp.h>

static jmp_buf* back;

static void leave(enum place from) { longjmp(*back, from); }

static enum place run(uv_loop_t* loop, uv_run_mode mode) {
  jmp_buf here;
  jmp_buf* volatile outer = back;
  volatile enum place place = NOWHERE;
  int jumped;
  back = &here;
  jumped = setjmp(here);
  if (jumped == 0) {
    CHECK(uv_run(loop, mode) == 0);
  } else {
    place = (enum place) jumped;
  }
  back = outer;
  return place;
}

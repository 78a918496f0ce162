/* Walks over all handles, by callbacks that do anything. */
#include "check.h"

#include <setjmp.h>

#define HANDLES 5

static uv_loop_t loop;
static uv_timer_t* timers[HANDLES];
static int visits[HANDLES];
static int visited;
static int others;

static uv_timer_t* new_timer(void) {
  uv_timer_t* timer = dirty(sizeof(*timer));
  CHECK(uv_timer_init(&loop, timer) == 0);
  return timer;
}

static void begin(void) {
  int i;
  memset(visits, 0, sizeof(visits));
  visited = others = 0;
  for (i = 0; i < HANDLES; i++) timers[i] = new_timer();
}

/* The number of a handle, counted as visited; HANDLES for one that is not of them. */
static int visit(uv_handle_t* handle) {
  int i;
  for (i = 0; i < HANDLES && (uv_handle_t*) timers[i] != handle; i++) continue;
  if (i < HANDLES) visits[i]++; else others++;
  visited++;
  return i;
}

static void see(uv_handle_t* handle, void* arg) {
  (void) arg;
  visit(handle);
}

static void close_it(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (!uv_is_closing(handle)) uv_close(handle, free_handle);
}

static void end(void) {
  uv_walk(&loop, close_it, NULL);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  visited = 0;
  uv_walk(&loop, see, NULL);
  CHECK(visited == 0);
}

static void each_once(int other) {
  int i;
  for (i = 0; i < HANDLES; i++) CHECK(visits[i] == 1);
  CHECK(others == other);
}

static void in_order(uv_handle_t* handle, void* arg) {
  CHECK(arg == &others);
  CHECK(visit(handle) == visited - 1);
}

static void handles_come_in_the_order_of_their_init(void) {
  begin();
  uv_close((uv_handle_t*) timers[1], NULL); /* visited still */
  uv_unref((uv_handle_t*) timers[2]);
  uv_walk(&loop, in_order, &others);
  each_once(0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  visited = 0;
  memset(visits, 0, sizeof(visits));
  uv_walk(&loop, see, NULL);
  CHECK(visited == HANDLES - 1 && visits[1] == 0); /* closed by now */
  free(timers[1]);
  end();
}

static void close_one_and_make_one(uv_handle_t* handle, void* arg) {
  uv_timer_t** made = arg;
  int i = visit(handle);
  CHECK(i < HANDLES); /* none of those made here */
  if (i == 1) uv_close((uv_handle_t*) timers[3], free_handle); /* one to come */
  if (i == 2) uv_close((uv_handle_t*) timers[2], free_handle); /* this one */
  if (i == 4) uv_close((uv_handle_t*) timers[0], free_handle); /* one that was visited */
  if (i == 2) *made = new_timer();
}

static void behind_the_third(uv_handle_t* handle, void* arg) {
  uv_timer_t** made = arg;
  CHECK((visit(handle) == HANDLES) == (visited == 4));
  CHECK(visited != 4 || handle == (uv_handle_t*) *made);
}

static void what_is_made_comes_behind_the_visited_one_in_the_next_walk(void) {
  uv_timer_t* made = NULL;
  begin();
  uv_walk(&loop, close_one_and_make_one, &made);
  each_once(0);
  visited = 0;
  uv_walk(&loop, behind_the_third, &made);
  CHECK(visited == HANDLES + 1);
  end();
}

static void walk_inside(uv_handle_t* handle, void* arg) {
  int before = visited;
  int i;
  (void) arg;
  visited = 0;
  uv_walk(&loop, see, NULL);
  CHECK(visited == HANDLES);
  visited = before;
  for (i = 0; i < HANDLES; i++) visits[i]--;
  visit(handle);
}

static void a_walk_inside_a_walk(void) {
  begin();
  uv_walk(&loop, walk_inside, NULL);
  each_once(0);
  end();
}

static void run_inside(uv_handle_t* handle, void* arg) {
  int i = visit(handle);
  (void) arg;
  /* The first one is gone when this returns, with the next one; at the third, those before have been closed. */
  if (i == 0) {
    uv_close((uv_handle_t*) timers[0], free_handle);
    uv_close((uv_handle_t*) timers[1], free_handle);
    CHECK(uv_run(&loop, UV_RUN_NOWAIT) == 0);
    CHECK(new_timer() != NULL);
  }
}

static void a_run_inside_a_walk(void) {
  begin();
  uv_walk(&loop, run_inside, NULL);
  CHECK(visits[0] == 1 && visits[1] == 0 && visits[2] == 1 && visits[3] == 1 && visits[4] == 1);
  CHECK(others == 0);
  end();
}

static jmp_buf out;

static void leave_at_the_third(uv_handle_t* handle, void* arg) {
  (void) arg;
  if (visit(handle) == 2) longjmp(out, 1);
}

static void close_late(uv_timer_t* timer) { close_it((uv_handle_t*) timer, NULL); }

static void a_walk_that_is_left(void) {
  uv_timer_t* late;
  begin();
  if (setjmp(out) == 0) {
    uv_walk(&loop, leave_at_the_third, NULL);
    CHECK(!"left by longjmp");
  }
  CHECK(visited == 3);
  late = new_timer();
  memset(visits, 0, sizeof(visits));
  uv_walk(&loop, see, NULL);
  each_once(1);
  CHECK(uv_timer_start(late, close_late, 1, 0) == 0);
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  end();
}

static void walk_in_callback(uv_timer_t* timer) {
  CHECK(timer == timers[0]);
  uv_walk(&loop, in_order, &others);
  uv_walk(&loop, close_it, NULL);
}

static void a_walk_in_a_callback_closes_everything(void) {
  begin();
  CHECK(uv_timer_start(timers[0], walk_in_callback, 0, 0) == 0);
  CHECK(uv_timer_start(timers[1], walk_in_callback, 0, 0) == 0); /* due as well, but closed by then */
  CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
  each_once(0);
  visited = 0;
  uv_walk(&loop, see, NULL);
  CHECK(visited == 0);
}

static void delete_at_the_last(uv_handle_t* handle) {
  uv_loop_t* its_loop = handle->loop;
  free_handle(handle);
  CHECK(uv_loop_close(its_loop) == 0);
}

static void end_everything(uv_handle_t* handle, void* arg) {
  (void) arg;
  visited++;
  uv_close(handle, delete_at_the_last);
  CHECK(uv_run(handle->loop, UV_RUN_DEFAULT) == 0);
}

static void the_loop_is_closed_during_a_walk(void) {
  begin();
  end();
  visited = 0;
  CHECK(new_timer() != NULL);
  uv_walk(&loop, end_everything, NULL);
  CHECK(visited == 1);
}

int main(void) {
  memset(&loop, 0xff, sizeof(loop));
  CHECK(uv_loop_init(&loop) == 0);
  uv_walk(&loop, see, NULL);
  CHECK(visited == 0);
  handles_come_in_the_order_of_their_init();
  what_is_made_comes_behind_the_visited_one_in_the_next_walk();
  a_walk_inside_a_walk();
  a_run_inside_a_walk();
  a_walk_that_is_left();
  a_walk_in_a_callback_closes_everything();
  the_loop_is_closed_during_a_walk();
  puts("ok");
  return 0;
}

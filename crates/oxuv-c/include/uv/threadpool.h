/* What requests that go to the thread pool carry along. Private to the library. */
#ifndef UV_THREADPOOL_H_
#define UV_THREADPOOL_H_

struct uv_loop_s;

/* A link of a ring, in front of what it links. */
struct uv__queue {
  struct uv__queue* next;
  struct uv__queue* prev;
};

struct uv__work {
  void (*work)(struct uv__work* w);
  void (*done)(struct uv__work* w, int status);
  struct uv_loop_s* loop;
  struct uv__queue wq;
};

#endif

/* Linked with the library, and counts what it holds before it has called anything. */
#include "counts.h"

#include <uv.h>

int main(void) {
  uv_loop_t loop;
  print_counts();
  (void) count_mappings;
  return uv_loop_init(&loop) || uv_loop_close(&loop);
}

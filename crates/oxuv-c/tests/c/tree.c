/* The sets of uv/tree.h: random changes beside a table that says what must be in. */
#include "check.h"

#define RB_AUGMENT(x) ((x)->below = 1 + count_of((x)->link.rbe_left) + count_of((x)->link.rbe_right))
#include <uv/tree.h>

struct node {
  int number;
  int below; /* how many nodes, with this one */
  RB_ENTRY(node) link;
};

static int count_of(const struct node* node) { return node == NULL ? 0 : node->below; }

enum { SIZE = 200, CHANGES = 20000 };

static int compare(const struct node* a, const struct node* b) {
  return (a->number > b->number) - (a->number < b->number);
}

RB_HEAD(set, node);
RB_PROTOTYPE(set, node, link, compare)
RB_GENERATE(set, node, link, compare)

RB_HEAD(other, node);
RB_GENERATE_STATIC(other, node, link, compare)

static struct node nodes[SIZE];
static int present[SIZE];

/* Returns the height, and checks links, counts and balance. */
static int check_below(const struct node* node, const struct node* parent) {
  int left, right;
  if (node == NULL) return 0;
  CHECK(node->link.rbe_parent == parent);
  left = check_below(node->link.rbe_left, node);
  right = check_below(node->link.rbe_right, node);
  CHECK(left - right <= 1 && right - left <= 1);
  CHECK(node->below == 1 + count_of(node->link.rbe_left) + count_of(node->link.rbe_right));
  return 1 + (left > right ? left : right);
}

static struct node* expected_from(int number) {
  for (; number < SIZE; number++)
    if (present[number]) return &nodes[number];
  return NULL;
}

static void check_all(struct set* set) {
  struct node* node;
  struct node* last = NULL;
  struct node key;
  int number, count = 0;
  check_below(RB_ROOT(set), NULL);
  RB_FOREACH(node, set, set) {
    CHECK(node == expected_from(last == NULL ? 0 : last->number + 1));
    CHECK(RB_PREV(set, node) == last);
    last = node;
    count++;
  }
  CHECK(expected_from(last == NULL ? 0 : last->number + 1) == NULL);
  CHECK(RB_MIN(set, set) == expected_from(0) && RB_MAX(set, set) == last);
  CHECK(count_of(RB_ROOT(set)) == count && RB_EMPTY(set) == (count == 0));
  RB_FOREACH_REVERSE(node, set, set) {
    CHECK(node == last);
    last = RB_PREV(set, last);
  }
  CHECK(last == NULL);
  for (number = 0; number < SIZE; number++) {
    key.number = number;
    CHECK(RB_FIND(set, set, &key) == (present[number] ? &nodes[number] : NULL));
    CHECK(RB_NFIND(set, set, &key) == expected_from(number));
  }
}

int main(void) {
  struct set set = RB_INITIALIZER(&set);
  struct other other;
  struct node* node;
  struct node* next;
  unsigned random = 1;
  int change, number;

  memset(nodes, 0xff, sizeof(nodes));
  for (number = 0; number < SIZE; number++) nodes[number].number = number;
  for (change = 0; change < CHANGES; change++) {
    random = random * 1103515245u + 12345u;
    number = (int) (random >> 16) % SIZE;
    if (present[number]) {
      struct node twin;
      twin.number = number;
      CHECK(RB_INSERT(set, &set, &twin) == &nodes[number]);
      CHECK(RB_REMOVE(set, &set, &nodes[number]) == &nodes[number]);
    } else {
      CHECK(RB_INSERT(set, &set, &nodes[number]) == NULL);
    }
    present[number] = !present[number];
    if (change % 50 == 0) check_all(&set);
  }

  /* Loops in which nodes are removed: all but every third one, and the rest from the other end. */
  RB_FOREACH_SAFE(node, set, &set, next) {
    if (node->number % 3 == 0) continue;
    RB_REMOVE(set, &set, node);
    present[node->number] = 0;
  }
  check_all(&set);
  next = RB_MAX(set, &set);
  RB_FOREACH_REVERSE_FROM(node, set, next) {
    RB_REMOVE(set, &set, node);
    present[node->number] = 0;
  }
  check_all(&set);

  /* In order and from the other end: the worst for a tree without balance. */
  RB_INIT(&other);
  for (number = 0; number < SIZE; number++) CHECK(RB_INSERT(other, &other, &nodes[number]) == NULL);
  CHECK(check_below(RB_ROOT(&other), NULL) == 8);
  number = SIZE;
  RB_FOREACH_REVERSE_SAFE(node, other, &other, next) {
    CHECK(node->number == --number);
    RB_REMOVE(other, &other, node);
  }
  CHECK(RB_EMPTY(&other));
  puts("ok");
  return 0;
}

/* Ordered sets of a program's own structures: macros with the names and the meaning of BSD's red-black trees.
 *
 *     struct node { RB_ENTRY(node) link; int number; };
 *     static int compare(struct node* a, struct node* b);      negative, 0 or positive
 *     RB_HEAD(set, node);
 *     RB_GENERATE_STATIC(set, node, link, compare)
 *
 * The trees here are balanced by height: the height of a node, 1 for a leaf, stands in the place of its colour.
 * Searching, inserting and removing take steps in the order of the logarithm of the set's size; nothing allocates.
 */
#ifndef UV_TREE_H_
#define UV_TREE_H_

#include <stddef.h>

#ifndef UV__UNUSED
#ifdef __GNUC__
#define UV__UNUSED __attribute__((unused))
#else
#define UV__UNUSED
#endif
#endif

#define RB_HEAD(name, type)                                                                        \
  struct name {                                                                                    \
    struct type* rbh_root;                                                                         \
  }

#define RB_ENTRY(type)                                                                             \
  struct {                                                                                         \
    struct type* rbe_left;                                                                         \
    struct type* rbe_right;                                                                        \
    struct type* rbe_parent;                                                                       \
    int rbe_color;                                                                                 \
  }

/* The empty set */
#define RB_INITIALIZER(root) {NULL}
#define RB_INIT(root)                                                                              \
  do {                                                                                             \
    (root)->rbh_root = NULL;                                                                       \
  } while (0)

#define RB_ROOT(head) (head)->rbh_root
#define RB_EMPTY(head) (RB_ROOT(head) == NULL)
#define RB_LEFT(elm, field) (elm)->field.rbe_left
#define RB_RIGHT(elm, field) (elm)->field.rbe_right
#define RB_PARENT(elm, field) (elm)->field.rbe_parent

/* Which end RB_MINMAX looks for */
#define RB_NEGINF -1
#define RB_INF 1

/* A program that keeps something about the nodes below each node defines this one before it includes this header. It is
 * applied to every node with other nodes below it than before, lower ones first. */
#ifndef RB_AUGMENT
#define RB_AUGMENT(x)                                                                              \
  do {                                                                                             \
  } while (0)
#endif

/* NULL if it was put in, else the equal one that is there. */
#define RB_INSERT(name, head, elm) name##_RB_INSERT(head, elm)
/* What was taken out, which must have been in. */
#define RB_REMOVE(name, head, elm) name##_RB_REMOVE(head, elm)
/* The equal one; with N else the next larger one. NULL if there is none. */
#define RB_FIND(name, head, elm) name##_RB_FIND(head, elm)
#define RB_NFIND(name, head, elm) name##_RB_NFIND(head, elm)
/* NULL at the end, or of an empty set. */
#define RB_NEXT(name, elm) name##_RB_NEXT(elm)
#define RB_PREV(name, elm) name##_RB_PREV(elm)
#define RB_MIN(name, head) name##_RB_MINMAX(head, RB_NEGINF)
#define RB_MAX(name, head) name##_RB_MINMAX(head, RB_INF)

/* Loops in order. In the SAFE ones x may be removed within; y then is the next. */
#define RB_FOREACH(x, name, head)                                                                  \
  for ((x) = RB_MIN(name, head); (x) != NULL; (x) = RB_NEXT(name, x))
#define RB_FOREACH_FROM(x, name, y)                                                                \
  for ((x) = (y); ((x) != NULL) && ((y) = RB_NEXT(name, x), 1); (x) = (y))
#define RB_FOREACH_SAFE(x, name, head, y)                                                          \
  for ((x) = RB_MIN(name, head); ((x) != NULL) && ((y) = RB_NEXT(name, x), 1); (x) = (y))
#define RB_FOREACH_REVERSE(x, name, head)                                                          \
  for ((x) = RB_MAX(name, head); (x) != NULL; (x) = RB_PREV(name, x))
#define RB_FOREACH_REVERSE_FROM(x, name, y)                                                        \
  for ((x) = (y); ((x) != NULL) && ((y) = RB_PREV(name, x), 1); (x) = (y))
#define RB_FOREACH_REVERSE_SAFE(x, name, head, y)                                                  \
  for ((x) = RB_MAX(name, head); ((x) != NULL) && ((y) = RB_PREV(name, x), 1); (x) = (y))

/* The functions behind these, for other files of the program or for this one only. */
#define RB_PROTOTYPE(name, type, field, cmp) RB_PROTOTYPE_INTERNAL(name, type, field, cmp, extern)
#define RB_PROTOTYPE_STATIC(name, type, field, cmp)                                                \
  RB_PROTOTYPE_INTERNAL(name, type, field, cmp, UV__UNUSED static)
#define RB_PROTOTYPE_INTERNAL(name, type, field, cmp, attr)                                        \
  attr struct type* name##_RB_INSERT(struct name* head, struct type* elm);                         \
  attr struct type* name##_RB_REMOVE(struct name* head, struct type* elm);                         \
  attr struct type* name##_RB_FIND(struct name* head, struct type* elm);                           \
  attr struct type* name##_RB_NFIND(struct name* head, struct type* elm);                          \
  attr struct type* name##_RB_NEXT(struct type* elm);                                              \
  attr struct type* name##_RB_PREV(struct type* elm);                                              \
  attr struct type* name##_RB_MINMAX(struct name* head, int end);

#define RB_GENERATE(name, type, field, cmp) RB_GENERATE_INTERNAL(name, type, field, cmp, extern)
#define RB_GENERATE_STATIC(name, type, field, cmp)                                                 \
  RB_GENERATE_INTERNAL(name, type, field, cmp, UV__UNUSED static)
#define RB_GENERATE_INTERNAL(name, type, field, cmp, attr)                                         \
  RB__GENERATE_BALANCE(name, type, field)                                                          \
  RB__GENERATE_CHANGE(name, type, field, cmp, attr)                                                \
  RB__GENERATE_SEARCH(name, type, field, cmp, attr)

#define RB__HEIGHT(elm, field) ((elm) == NULL ? 0 : (elm)->field.rbe_color)

/* MEASURE: a node's height from those of its children. REPLACE: another node, or none, below old's parent. LIFT: a node
 * changes places with its parent. BALANCE: from a node upwards, so that no node has children whose heights differ by
 * more than 1. */
#define RB__GENERATE_BALANCE(name, type, field)                                                    \
  UV__UNUSED static void name##_RB_MEASURE(struct type* elm) {                                     \
    int left = RB__HEIGHT(RB_LEFT(elm, field), field);                                             \
    int right = RB__HEIGHT(RB_RIGHT(elm, field), field);                                           \
    (elm)->field.rbe_color = 1 + (left > right ? left : right);                                    \
    RB_AUGMENT(elm);                                                                               \
  }                                                                                                \
                                                                                                   \
  UV__UNUSED static void name##_RB_REPLACE(                                                        \
      struct name* head, struct type* old, struct type* replacement) {                             \
    struct type* parent = RB_PARENT(old, field);                                                   \
    if (parent == NULL)                                                                            \
      RB_ROOT(head) = replacement;                                                                 \
    else if (RB_LEFT(parent, field) == old)                                                        \
      RB_LEFT(parent, field) = replacement;                                                        \
    else                                                                                           \
      RB_RIGHT(parent, field) = replacement;                                                       \
    if (replacement != NULL)                                                                       \
      RB_PARENT(replacement, field) = parent;                                                      \
  }                                                                                                \
                                                                                                   \
  UV__UNUSED static void name##_RB_LIFT(struct name* head, struct type* elm) {                     \
    struct type* parent = RB_PARENT(elm, field);                                                   \
    struct type* between;                                                                          \
    name##_RB_REPLACE(head, parent, elm);                                                          \
    if (RB_LEFT(parent, field) == elm) {                                                           \
      between = RB_RIGHT(elm, field);                                                              \
      RB_LEFT(parent, field) = between;                                                            \
      RB_RIGHT(elm, field) = parent;                                                               \
    } else {                                                                                       \
      between = RB_LEFT(elm, field);                                                               \
      RB_RIGHT(parent, field) = between;                                                           \
      RB_LEFT(elm, field) = parent;                                                                \
    }                                                                                              \
    if (between != NULL)                                                                           \
      RB_PARENT(between, field) = parent;                                                          \
    RB_PARENT(parent, field) = elm;                                                                \
    name##_RB_MEASURE(parent);                                                                     \
    name##_RB_MEASURE(elm);                                                                        \
  }                                                                                                \
                                                                                                   \
  UV__UNUSED static void name##_RB_BALANCE(struct name* head, struct type* elm) {                  \
    while (elm != NULL) {                                                                          \
      struct type* left = RB_LEFT(elm, field);                                                     \
      struct type* right = RB_RIGHT(elm, field);                                                   \
      struct type* child = NULL;                                                                   \
      struct type* inner = NULL;                                                                   \
      struct type* outer = NULL;                                                                   \
      if (RB__HEIGHT(left, field) > RB__HEIGHT(right, field) + 1) {                                \
        child = left;                                                                              \
        inner = RB_RIGHT(child, field);                                                            \
        outer = RB_LEFT(child, field);                                                             \
      } else if (RB__HEIGHT(right, field) > RB__HEIGHT(left, field) + 1) {                         \
        child = right;                                                                             \
        inner = RB_LEFT(child, field);                                                             \
        outer = RB_RIGHT(child, field);                                                            \
      }                                                                                            \
      if (child == NULL) {                                                                         \
        name##_RB_MEASURE(elm);                                                                    \
      } else {                                                                                     \
        if (RB__HEIGHT(inner, field) > RB__HEIGHT(outer, field)) {                                 \
          name##_RB_LIFT(head, inner);                                                             \
          child = inner;                                                                           \
        }                                                                                          \
        name##_RB_LIFT(head, child);                                                               \
        elm = child;                                                                               \
      }                                                                                            \
      elm = RB_PARENT(elm, field);                                                                 \
    }                                                                                              \
  }

#define RB__GENERATE_CHANGE(name, type, field, cmp, attr)                                          \
  attr struct type* name##_RB_INSERT(struct name* head, struct type* elm) {                        \
    struct type* parent = NULL;                                                                    \
    struct type* here = RB_ROOT(head);                                                             \
    int rb_order = 0;                                                                              \
    while (here != NULL) {                                                                         \
      rb_order = (cmp)(elm, here);                                                                 \
      if (rb_order == 0)                                                                           \
        return here;                                                                               \
      parent = here;                                                                               \
      here = rb_order < 0 ? RB_LEFT(here, field) : RB_RIGHT(here, field);                          \
    }                                                                                              \
    RB_LEFT(elm, field) = NULL;                                                                    \
    RB_RIGHT(elm, field) = NULL;                                                                   \
    RB_PARENT(elm, field) = parent;                                                                \
    if (parent == NULL)                                                                            \
      RB_ROOT(head) = elm;                                                                         \
    else if (rb_order < 0)                                                                         \
      RB_LEFT(parent, field) = elm;                                                                \
    else                                                                                           \
      RB_RIGHT(parent, field) = elm;                                                               \
    name##_RB_BALANCE(head, elm);                                                                  \
    return NULL;                                                                                   \
  }                                                                                                \
                                                                                                   \
  attr struct type* name##_RB_REMOVE(struct name* head, struct type* elm) {                        \
    struct type* left = RB_LEFT(elm, field);                                                       \
    struct type* right = RB_RIGHT(elm, field);                                                     \
    struct type* lowest = RB_PARENT(elm, field);                                                   \
    if (left == NULL || right == NULL) {                                                           \
      name##_RB_REPLACE(head, elm, left != NULL ? left : right);                                   \
    } else {                                                                                       \
      /* The next larger one takes its place. */                                                   \
      struct type* next = right;                                                                   \
      while (RB_LEFT(next, field) != NULL)                                                         \
        next = RB_LEFT(next, field);                                                               \
      lowest = next;                                                                               \
      if (next != right) {                                                                         \
        lowest = RB_PARENT(next, field);                                                           \
        name##_RB_REPLACE(head, next, RB_RIGHT(next, field));                                      \
        RB_RIGHT(next, field) = right;                                                             \
        RB_PARENT(right, field) = next;                                                            \
      }                                                                                            \
      RB_LEFT(next, field) = left;                                                                 \
      RB_PARENT(left, field) = next;                                                               \
      name##_RB_REPLACE(head, elm, next);                                                          \
    }                                                                                              \
    name##_RB_BALANCE(head, lowest);                                                               \
    return elm;                                                                                    \
  }

#define RB__GENERATE_SEARCH(name, type, field, cmp, attr)                                          \
  attr struct type* name##_RB_FIND(struct name* head, struct type* elm) {                          \
    struct type* here = RB_ROOT(head);                                                             \
    while (here != NULL) {                                                                         \
      int rb_order = (cmp)(elm, here);                                                             \
      if (rb_order == 0)                                                                           \
        break;                                                                                     \
      here = rb_order < 0 ? RB_LEFT(here, field) : RB_RIGHT(here, field);                          \
    }                                                                                              \
    return here;                                                                                   \
  }                                                                                                \
                                                                                                   \
  attr struct type* name##_RB_NFIND(struct name* head, struct type* elm) {                         \
    struct type* here = RB_ROOT(head);                                                             \
    struct type* larger = NULL;                                                                    \
    while (here != NULL) {                                                                         \
      int rb_order = (cmp)(elm, here);                                                             \
      if (rb_order == 0)                                                                           \
        return here;                                                                               \
      if (rb_order < 0)                                                                            \
        larger = here;                                                                             \
      here = rb_order < 0 ? RB_LEFT(here, field) : RB_RIGHT(here, field);                          \
    }                                                                                              \
    return larger;                                                                                 \
  }                                                                                                \
                                                                                                   \
  attr struct type* name##_RB_NEXT(struct type* elm) {                                             \
    struct type* here = RB_RIGHT(elm, field);                                                      \
    if (here != NULL) {                                                                            \
      while (RB_LEFT(here, field) != NULL)                                                         \
        here = RB_LEFT(here, field);                                                               \
      return here;                                                                                 \
    }                                                                                              \
    here = RB_PARENT(elm, field);                                                                  \
    while (here != NULL && RB_RIGHT(here, field) == elm) {                                         \
      elm = here;                                                                                  \
      here = RB_PARENT(here, field);                                                               \
    }                                                                                              \
    return here;                                                                                   \
  }                                                                                                \
                                                                                                   \
  attr struct type* name##_RB_PREV(struct type* elm) {                                             \
    struct type* here = RB_LEFT(elm, field);                                                       \
    if (here != NULL) {                                                                            \
      while (RB_RIGHT(here, field) != NULL)                                                        \
        here = RB_RIGHT(here, field);                                                              \
      return here;                                                                                 \
    }                                                                                              \
    here = RB_PARENT(elm, field);                                                                  \
    while (here != NULL && RB_LEFT(here, field) == elm) {                                          \
      elm = here;                                                                                  \
      here = RB_PARENT(here, field);                                                               \
    }                                                                                              \
    return here;                                                                                   \
  }                                                                                                \
                                                                                                   \
  attr struct type* name##_RB_MINMAX(struct name* head, int end) {                                 \
    struct type* here = RB_ROOT(head);                                                             \
    struct type* last = NULL;                                                                      \
    while (here != NULL) {                                                                         \
      last = here;                                                                                 \
      here = end < 0 ? RB_LEFT(here, field) : RB_RIGHT(here, field);                               \
    }                                                                                              \
    return last;                                                                                   \
  }

#endif

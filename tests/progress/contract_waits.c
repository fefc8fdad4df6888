/* Waiting: limits, any, all, several waiters. */

#include <stdatomic.h>
#include <string.h>

#include "contract.h"

static headway_ltask_result gate_run(headway_ltask* self, void* argument) {
  (void)self;
  return atomic_load((atomic_bool*)argument) ? HEADWAY_LTASK_DONE : HEADWAY_LTASK_IDLE;
}

static void gate_init(headway_ltask* task, atomic_bool* open) {
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "gate";
  a.run = gate_run;
  a.argument = open;
  atomic_init(open, false);
  CHECK(headway_ltask_init(task, &a) == HEADWAY_PROGRESS_OK);
}

static void limits_are_kept(void) {
  headway_ltask task;
  atomic_bool open;
  gate_init(&task, &open);
  CHECK(headway_ltask_wait(&task) == HEADWAY_PROGRESS_OK); /* never submitted */
  CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&task, 0) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(headway_ltask_wait_for(&task, 3 * MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT);
  atomic_store(&open, true);
  CHECK(headway_ltask_wait_for(&task, PATIENCE) == HEADWAY_PROGRESS_OK);
}

static void any_and_all(void) {
  enum { count = 20 }; /* more than lie on the stack of a wait */
  headway_ltask tasks[count];
  atomic_bool open[count];
  headway_ltask* all[count + 1];
  size_t which = 999;
  for (size_t i = 0; i < count; ++i) {
    gate_init(&tasks[i], &open[i]);
    CHECK(headway_ltask_submit(&tasks[i]) == HEADWAY_PROGRESS_OK);
    all[i] = &tasks[i];
  }
  all[count] = NULL;
  CHECK(headway_ltask_wait_any(all, count + 1, MILLISECOND, &which) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(which == 999);
  atomic_store(&open[13], true);
  CHECK(headway_ltask_wait_any(all, count + 1, PATIENCE, &which) == HEADWAY_PROGRESS_OK);
  CHECK(which == 13);
  all[13] = NULL;
  CHECK(headway_ltask_wait_any(all, 3, MILLISECOND, NULL) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(headway_ltask_wait_all(all, count + 1, MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT);
  for (size_t i = 0; i < count; ++i) atomic_store(&open[i], true);
  CHECK(headway_ltask_wait_all(all, count + 1, PATIENCE) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_all(all, 0, 0) == HEADWAY_PROGRESS_OK);
}

typedef struct shared {
  headway_ltask task, never;
  atomic_bool open, never_opens;
  atomic_int returned;
} shared;

static void wait_for_one(void* argument) {
  shared* s = argument;
  CHECK(headway_ltask_wait(&s->task) == HEADWAY_PROGRESS_OK);
  atomic_fetch_add(&s->returned, 1);
}
static void wait_for_either(void* argument) {
  shared* s = argument;
  headway_ltask* both[2] = {&s->never, &s->task};
  size_t which = 9;
  CHECK(headway_ltask_wait_any(both, 2, HEADWAY_PROGRESS_FOREVER, &which) == HEADWAY_PROGRESS_OK);
  CHECK(which == 1);
  atomic_fetch_add(&s->returned, 1);
}
static void wait_and_give_up(void* argument) {
  shared* s = argument;
  const int status = headway_ltask_wait_for(&s->task, MILLISECOND);
  CHECK(status == HEADWAY_PROGRESS_TIMEOUT || atomic_load(&s->open)); /* it may come late */
  atomic_fetch_add(&s->returned, 1);
}

static void several_wait_for_one(const flavour* of) {
  shared s;
  void* threads[6];
  static void (*const bodies[6])(void*) = {wait_for_one,    wait_for_one,    wait_and_give_up,
                                           wait_for_either, wait_for_either, wait_for_one};
  gate_init(&s.task, &s.open);
  gate_init(&s.never, &s.never_opens);
  atomic_init(&s.returned, 0);
  CHECK(headway_ltask_submit(&s.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&s.never) == HEADWAY_PROGRESS_OK);
  if (of->spawn) {
    for (int i = 0; i < 6; ++i) threads[i] = of->spawn(bodies[i], &s);
    of->pause_us(10000);
    CHECK(atomic_load(&s.returned) <= 1);
    atomic_store(&s.open, true);
    for (int i = 0; i < 6; ++i) of->join(threads[i]);
    CHECK(atomic_load(&s.returned) == 6);
  } else {
    wait_and_give_up(&s);
    atomic_store(&s.open, true);
    wait_for_either(&s);
    wait_for_one(&s);
  }
  CHECK(headway_ltask_cancel(&s.never) == HEADWAY_PROGRESS_OK);
}

static void cancel_from_elsewhere(void* argument) {
  CHECK(headway_ltask_cancel(argument) == HEADWAY_PROGRESS_OK);
}

static void a_wait_ends_when_another_thread_cancels(const flavour* of) {
  headway_ltask task;
  atomic_bool open;
  if (!of->spawn) return; /* no other thread could */
  for (int i = 0; i < 20; ++i) {
    gate_init(&task, &open);
    CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
    void* other = of->spawn(cancel_from_elsewhere, &task);
    CHECK(headway_ltask_wait(&task) == HEADWAY_PROGRESS_OK);
    CHECK(headway_ltask_get_outcome(&task) == HEADWAY_LTASK_CANCELLED);
    of->join(other);
  }
}

void check_waits(const flavour* of) {
  CHECK(headway_progress_start(NULL) == HEADWAY_PROGRESS_OK);
  limits_are_kept();
  any_and_all();
  several_wait_for_one(of);
  a_wait_ends_when_another_thread_cancels(of);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

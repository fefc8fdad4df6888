/* Polling points, lent threads, hooks. */

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"

static bool ends_by_itself(headway_ltask* task) {
  for (int i = 0; i < 20000; ++i) {
    if (headway_ltask_test(task)) return true;
    usleep(1000);
  }
  return false;
}

static void points_go_on_and_off(void) {
  static const headway_progress_point points[] = {HEADWAY_PROGRESS_EVENT, HEADWAY_PROGRESS_TIMER,
                                                  HEADWAY_PROGRESS_IDLE};
  headway_progress_options none = HEADWAY_PROGRESS_OPTIONS;
  none.points_from_user = 0;
  CHECK(headway_progress_start(&none) == HEADWAY_PROGRESS_OK);
  const bool threads = strcmp(headway_progress_flavour(), "threads") == 0;
  for (size_t i = 0; i < 3; ++i) {
    counter c;
    CHECK(headway_progress_is_on(points[i]) == 0);
    CHECK(headway_progress_turn(points[i], 0) == HEADWAY_PROGRESS_OK);
    if (!threads) {
      CHECK(headway_progress_turn(points[i], 1) == HEADWAY_PROGRESS_UNSUPPORTED);
      continue;
    }
    CHECK(headway_progress_turn(points[i], 1) == HEADWAY_PROGRESS_OK);
    CHECK(headway_progress_is_on(points[i]) == 1);
    counter_init(&c, HEADWAY_LTASK_REPEAT, 3);
    c.otherwise = HEADWAY_LTASK_IDLE;
    CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
    CHECK(ends_by_itself(&c.task));
    CHECK(headway_progress_turn(points[i], 0) == HEADWAY_PROGRESS_OK);
  }
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static void options_choose_points(void) {
  headway_progress_options chosen = HEADWAY_PROGRESS_OPTIONS;
  chosen.points_from_user = 0;
  chosen.points = HEADWAY_PROGRESS_TIMER | HEADWAY_PROGRESS_EVENT;
  CHECK(headway_progress_start(&chosen) == HEADWAY_PROGRESS_OK);
  const bool threads = strcmp(headway_progress_flavour(), "threads") == 0;
  CHECK(headway_progress_is_on(HEADWAY_PROGRESS_TIMER) == threads);
  CHECK(headway_progress_is_on(HEADWAY_PROGRESS_EVENT) == threads);
  CHECK(headway_progress_is_on(HEADWAY_PROGRESS_IDLE) == 0);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
  chosen.size = 1;
  CHECK(headway_progress_start(&chosen) == HEADWAY_PROGRESS_MISUSE);
}

static void hooks_poll(void) {
  counter c;
  headway_progress_options none = HEADWAY_PROGRESS_OPTIONS;
  none.points_from_user = 0;
  CHECK(headway_progress_start(&none) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_on_idle() == 0 && headway_progress_on_switch() == 0);
  CHECK(headway_progress_on_tick() == 0);
  counter_init(&c, HEADWAY_LTASK_REPEAT, 3);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_on_idle() == 1);
  CHECK(c.runs == 1);
  headway_progress_on_switch();
  CHECK(c.runs == 2);
  CHECK(headway_progress_on_tick() == 0);
  CHECK(c.runs == 3 && headway_ltask_test(&c.task));
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static void patient_ones_are_not_pending(void) {
  counter c;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "patient";
  a.run = counter_run;
  a.argument = &c;
  a.patient = 1;
  c.runs = 0;
  c.runs_wanted = 1 << 30;
  c.otherwise = HEADWAY_LTASK_IDLE;
  CHECK(headway_progress_start(NULL) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_init(&c.task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_on_idle() == 0);
  CHECK(headway_progress_pending_started() == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_on_idle() == 1);
  CHECK(headway_progress_pending_ended() == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static void lend(void* argument) {
  atomic_int* lent = argument;
  atomic_fetch_add(lent, 1);
  CHECK(headway_progress_run(HEADWAY_PROGRESS_FOREVER) == HEADWAY_PROGRESS_OK);
}

static void a_lent_thread_polls(const flavour* of) {
  counter c;
  atomic_int lent;
  headway_progress_options none = HEADWAY_PROGRESS_OPTIONS;
  none.points_from_user = 0;
  atomic_init(&lent, 0);
  CHECK(headway_progress_start(&none) == HEADWAY_PROGRESS_OK);
  counter_init(&c, HEADWAY_LTASK_REPEAT, 5);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_run(MILLISECOND) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_test(&c.task));
  if (of->spawn && strcmp(of->name, "threads") == 0) {
    void* threads[2] = {of->spawn(lend, &lent), of->spawn(lend, &lent)};
    while (atomic_load(&lent) < 2) usleep(100);
    usleep(2000);
    c.runs = 0;
    CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
    CHECK(ends_by_itself(&c.task));
    CHECK(headway_progress_stop() == HEADWAY_PROGRESS_MISUSE); /* they are still inside */
    CHECK(headway_progress_run_end() == HEADWAY_PROGRESS_OK);
    for (int i = 0; i < 2; ++i) of->join(threads[i]);
  }
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static const headway_progress_count* one_of(const headway_progress_count* all, int count,
                                            headway_progress_count_kind kind, const char* name) {
  for (int i = 0; i < count; ++i)
    if (all[i].kind == kind && strncmp(all[i].name, name, strlen(name)) == 0) return &all[i];
  return NULL;
}

static void what_it_does_is_counted(void) {
  enum { room = 64 };
  headway_progress_count all[room];
  counter c;
  headway_progress_options measured = HEADWAY_PROGRESS_OPTIONS;
  measured.points_from_user = 0;
  measured.measured = 1;
  CHECK(headway_progress_counts(all, room, sizeof *all) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_progress_start(&measured) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_counts(all, room, 1) == HEADWAY_PROGRESS_MISUSE);
  counter_init(&c, HEADWAY_LTASK_REPEAT, 3);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  usleep(2000);
  for (int i = 0; i < 5; ++i) headway_progress_poll();
  CHECK(headway_ltask_test(&c.task));
  const int count = headway_progress_counts(all, room, sizeof *all);
  CHECK(count >= 3 && count <= room && headway_progress_counts(NULL, 0, sizeof *all) == count);
  const headway_progress_count *q = one_of(all, count, HEADWAY_PROGRESS_COUNT_QUEUE, "machine"),
                               *p = one_of(all, count, HEADWAY_PROGRESS_COUNT_POINT, "explicit"),
                               *t = one_of(all, count, HEADWAY_PROGRESS_COUNT_THREAD, "progress");
  CHECK(q && q->rounds >= 3 && q->hits >= 3 && q->runs >= 3 && q->skips == 0);
  CHECK(q && q->masked_ns > 0 && q->longest_wait_ns >= 2 * MILLISECOND);
  CHECK(p && p->rounds >= 3 && p->hits >= 3 && p->masked_ns > 0);
  CHECK(p && p->longest_wait_ns >= 2 * MILLISECOND);
  CHECK(t && t->rounds >= 3 && t->masked_ns > 0 && t->longest_wait_ns >= 2 * MILLISECOND);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

void check_points(const flavour* of) {
  points_go_on_and_off();
  options_choose_points();
  hooks_poll();
  patient_ones_are_not_pending();
  what_it_does_is_counted();
  a_lent_thread_polls(of);
}

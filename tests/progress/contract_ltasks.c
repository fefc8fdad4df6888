/* Ltasks: runs, ends, suspension, cancellation. */

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "contract.h"

static void start_quietly(void) {
  headway_progress_options none = HEADWAY_PROGRESS_OPTIONS;
  none.points_from_user = 0;
  CHECK(headway_progress_start(&none) == HEADWAY_PROGRESS_OK);
}

static void one_shots_run_once(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_ONE_SHOT, 5);
  CHECK(headway_ltask_get_outcome(&c.task) == HEADWAY_LTASK_UNUSED);
  for (int i = 1; i <= 3; ++i) {
    CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
    CHECK(headway_ltask_wait(&c.task) == HEADWAY_PROGRESS_OK);
    CHECK(c.runs == i);
    CHECK(headway_ltask_get_outcome(&c.task) == HEADWAY_LTASK_FINISHED);
  }
  CHECK(headway_ltask_destroy(&c.task) == HEADWAY_PROGRESS_OK);
}

static void repeats_run_until_done(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 5);
  c.otherwise = HEADWAY_LTASK_IDLE;
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&c.task, PATIENCE) == HEADWAY_PROGRESS_OK);
  CHECK(c.runs == 5);
}

static void testing_makes_no_progress(void) {
  counter c;
  start_quietly();
  counter_init(&c, HEADWAY_LTASK_ONE_SHOT, 1);
  CHECK(headway_ltask_test(&c.task) == 1);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  for (int i = 0; i < 5; ++i) CHECK(headway_ltask_test(&c.task) == 0);
  CHECK(c.runs == 0);
  CHECK(headway_ltask_wait(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_test(&c.task) == 1);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static void cancel_ends_at_once(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 1 << 30);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  for (int i = 0; i < 5; ++i) headway_progress_poll();
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_OK);
  const int runs = c.runs;
  for (int i = 0; i < 5; ++i) headway_progress_poll();
  CHECK(c.runs == runs);
  CHECK(headway_ltask_get_outcome(&c.task) == HEADWAY_LTASK_CANCELLED);
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_ENDED);
  CHECK(headway_ltask_wait(&c.task) == HEADWAY_PROGRESS_OK);
}

typedef struct polite {
  headway_ltask task;
  int runs_after_asking;
} polite;

static headway_ltask_result polite_run(headway_ltask* self, void* argument) {
  polite* me = argument;
  if (!headway_ltask_asked(self)) return HEADWAY_LTASK_IDLE;
  return ++me->runs_after_asking == 3 ? HEADWAY_LTASK_DONE : HEADWAY_LTASK_ADVANCED;
}

static void asking_lets_it_finish_by_itself(bool suspended) {
  polite p = {.runs_after_asking = 0};
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "polite";
  a.run = polite_run;
  a.argument = &p;
  CHECK(headway_ltask_init(&p.task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&p.task) == HEADWAY_PROGRESS_OK);
  headway_progress_poll();
  if (suspended) CHECK(headway_ltask_suspend(&p.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_ask(&p.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&p.task, PATIENCE) == HEADWAY_PROGRESS_OK);
  CHECK(p.runs_after_asking == 3);
  CHECK(headway_ltask_get_outcome(&p.task) == HEADWAY_LTASK_FINISHED);
  CHECK(headway_ltask_ask(&p.task) == HEADWAY_PROGRESS_ENDED);
}

static void a_suspended_one_does_not_run(headway_ltask_kind kind) {
  counter c;
  counter_init(&c, kind, 1 << 30);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  if (kind == HEADWAY_LTASK_REPEAT) headway_progress_poll();
  const int suspended = headway_ltask_suspend(&c.task);
  if (suspended == HEADWAY_PROGRESS_ENDED && kind == HEADWAY_LTASK_ONE_SHOT) return; /* too fast */
  CHECK(suspended == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_suspend(&c.task) == HEADWAY_PROGRESS_OK);
  const int runs = c.runs;
  for (int i = 0; i < 5; ++i) headway_progress_poll();
  CHECK(headway_ltask_wait_for(&c.task, MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(c.runs == runs);
  CHECK(headway_ltask_get_outcome(&c.task) == HEADWAY_LTASK_PENDING);
  c.runs_wanted = c.runs + 2;
  CHECK(headway_ltask_resume(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&c.task, PATIENCE) == HEADWAY_PROGRESS_OK);
  CHECK(c.runs == runs + (kind == HEADWAY_LTASK_REPEAT ? 2 : 1));
  CHECK(headway_ltask_resume(&c.task) == HEADWAY_PROGRESS_ENDED);
}

static void a_suspended_one_can_be_cancelled(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 1 << 30);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_suspend(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_get_outcome(&c.task) == HEADWAY_LTASK_CANCELLED);
}

static void it_suspends_itself_and_a_resume_is_never_lost(headway_ltask_kind kind) {
  counter c;
  counter_init(&c, kind, 4);
  c.otherwise = HEADWAY_LTASK_SUSPEND;
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  for (int i = 0; i < 3; ++i) CHECK(headway_ltask_resume(&c.task) >= 0 || c.runs == 4);
  /* Each resume counts unless it met one that was not suspended and had one already. */
  while (headway_ltask_wait_for(&c.task, MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT)
    CHECK(headway_ltask_resume(&c.task) >= 0);
  CHECK(c.runs == 4);
}

typedef struct self_freeing {
  headway_ltask task;
  atomic_int* ends; /* the event thread may run it, beside the polling thread */
} self_freeing;

static headway_ltask_result done_run(headway_ltask* self, void* argument) {
  (void)self, (void)argument;
  return HEADWAY_LTASK_DONE;
}
static void free_it(void* argument) {
  self_freeing* me = argument;
  ++*me->ends;
  free(me);
}

static void it_may_be_freed_when_it_has_ended(void) {
  static atomic_int ends;
  ends = 0;
  for (int i = 0; i < 10; ++i) {
    self_freeing* one = malloc(sizeof *one);
    headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
    a.run = done_run;
    a.argument = one;
    a.kind = i % 2 ? HEADWAY_LTASK_ONE_SHOT : HEADWAY_LTASK_REPEAT;
    a.ended = free_it;
    one->ends = &ends;
    CHECK(headway_ltask_init(&one->task, &a) == HEADWAY_PROGRESS_OK);
    CHECK(headway_ltask_submit(&one->task) == HEADWAY_PROGRESS_OK);
  }
  for (int i = 0; i < 100000 && ends < 10; ++i) {
    headway_progress_poll();
    if (i > 1000) usleep(100); /* a thread has lost its processor in a run */
  }
  CHECK(ends == 10);
}

static int timer_in(long milliseconds) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  const struct itimerspec when = {.it_value = {.tv_nsec = milliseconds * 1000000}};
  CHECK(timerfd_settime(fd, 0, &when, NULL) == 0);
  return fd;
}

static headway_ltask_result timer_run(headway_ltask* self, void* argument) {
  uint64_t times;
  (void)self;
  return read(*(int*)argument, &times, sizeof times) > 0 ? HEADWAY_LTASK_DONE : HEADWAY_LTASK_IDLE;
}

static atomic_int blocks;

static headway_ltask_result timer_block(headway_ltask* self, void* argument, uint64_t limit_ns) {
  atomic_fetch_add(&blocks, 1);
  struct pollfd one = {.fd = *(int*)argument, .events = POLLIN};
  poll(&one, 1, (int)(limit_ns / MILLISECOND));
  return timer_run(self, argument);
}

static void a_descriptor_wakes_it(bool with_block) {
  int fd = timer_in(20);
  headway_ltask task;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "timer";
  a.run = timer_run;
  a.argument = &fd;
  a.descriptor = with_block ? -1 : fd;
  a.block = with_block ? timer_block : NULL;
  a.block_delay_ns = MILLISECOND;
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&task, PATIENCE) == HEADWAY_PROGRESS_OK);
  close(fd);
  fd = timer_in(999);
  CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&task, 5 * MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(headway_ltask_suspend(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_resume(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait_for(&task, 5 * MILLISECOND) == HEADWAY_PROGRESS_TIMEOUT);
  CHECK(headway_ltask_cancel(&task) == HEADWAY_PROGRESS_OK);
  close(fd);
  if (!with_block) return;
  const bool threads = strcmp(headway_progress_flavour(), "threads") == 0;
  CHECK((atomic_load(&blocks) > 0) == threads); /* a thread must exist to call it */
}

static void it_runs_at_every_place(void) {
  const int count = headway_progress_place_count();
  CHECK(count >= 1 && strcmp(headway_progress_place_name(0), "machine") == 0);
  CHECK(headway_progress_place_name(count) == NULL);
  for (int place = HEADWAY_LTASK_PLACE_SUBMITTER; place < count; ++place) {
    headway_ltask task;
    headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
    a.run = done_run;
    a.place = place;
    CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_OK);
    CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
    CHECK(headway_ltask_wait_for(&task, PATIENCE) == HEADWAY_PROGRESS_OK);
  }
}

void check_ltasks(const flavour* of) {
  (void)of;
  testing_makes_no_progress();
  CHECK(headway_progress_start(NULL) == HEADWAY_PROGRESS_OK);
  one_shots_run_once();
  repeats_run_until_done();
  cancel_ends_at_once();
  asking_lets_it_finish_by_itself(false);
  asking_lets_it_finish_by_itself(true);
  for (int kind = 0; kind < 2; ++kind) {
    a_suspended_one_does_not_run((headway_ltask_kind)kind);
    it_suspends_itself_and_a_resume_is_never_lost((headway_ltask_kind)kind);
  }
  a_suspended_one_can_be_cancelled();
  it_may_be_freed_when_it_has_ended();
  a_descriptor_wakes_it(false);
  a_descriptor_wakes_it(true);
  it_runs_at_every_place();
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

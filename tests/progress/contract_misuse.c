/* Misuse returns an error that names the ltask, and changes nothing. */

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"

static bool says(const char* part) { return strstr(headway_progress_error(), part) != NULL; }

static void it_is_refused_before_start_and_after_stop(void) {
  counter c;
  static bool started_before = false;
  const char* when =
      started_before ? "after headway_progress_stop" : "before headway_progress_start";
  counter_init(&c, HEADWAY_LTASK_ONE_SHOT, 1);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_MISUSE && says(when));
  CHECK(headway_progress_poll() == HEADWAY_PROGRESS_MISUSE && says(when));
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_MISUSE && says(when));
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_MISUSE && says(when));
  CHECK(headway_progress_on_idle() == 0);
  CHECK(headway_ltask_test(&c.task) == 1);
  started_before = true;
}

static void twice_submitted(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 1 << 30);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_MISUSE);
  CHECK(says("headway_ltask_submit") && says("'counter' is submitted already"));
  CHECK(headway_ltask_destroy(&c.task) == HEADWAY_PROGRESS_MISUSE);
  CHECK(says("'counter' is submitted; cancel it"));
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_MISUSE && says("still pending"));
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_destroy(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_destroy(&c.task) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_MISUSE && says("not an ltask"));
}

static void a_suspended_one_is_still_submitted(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 1 << 30);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_suspend(&c.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_MISUSE && says("submitted already"));
  CHECK(headway_ltask_destroy(&c.task) == HEADWAY_PROGRESS_MISUSE && says("cancel it"));
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_MISUSE && says("1 ltasks or waits"));
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_OK);
}

static void never_submitted(void) {
  counter c;
  counter_init(&c, HEADWAY_LTASK_REPEAT, 1);
  CHECK(headway_ltask_cancel(&c.task) == HEADWAY_PROGRESS_MISUSE && says("never submitted"));
  CHECK(headway_ltask_suspend(&c.task) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_resume(&c.task) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_ask(&c.task) == HEADWAY_PROGRESS_MISUSE);
}

typedef struct careless {
  headway_ltask task;
  counter other;
  int calls_refused;
} careless;

static headway_ltask_result careless_run(headway_ltask* self, void* argument) {
  careless* me = argument;
  const int answers[] = {
      headway_ltask_wait(&me->other.task),
      headway_ltask_wait_for(&me->other.task, MILLISECOND),
      headway_progress_poll(),
      headway_ltask_cancel(&me->other.task),
      headway_ltask_suspend(&me->other.task),
      headway_ltask_cancel(self),
      headway_progress_run(MILLISECOND),
      headway_progress_stop(),
      headway_progress_turn(HEADWAY_PROGRESS_TIMER, 1),
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i)
    me->calls_refused += answers[i] == HEADWAY_PROGRESS_MISUSE && says("ltask 'careless'");
  return HEADWAY_LTASK_DONE;
}

static void waiting_inside_an_ltask(void) {
  careless me = {.calls_refused = 0};
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.run = careless_run;
  a.argument = &me;
  a.name = "careless";
  CHECK(headway_ltask_init(&me.task, &a) == HEADWAY_PROGRESS_OK);
  counter_init(&me.other, HEADWAY_LTASK_REPEAT, 1 << 30);
  CHECK(headway_ltask_submit(&me.other.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&me.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait(&me.task) == HEADWAY_PROGRESS_OK);
  CHECK(me.calls_refused == 9);
  CHECK(headway_ltask_cancel(&me.other.task) == HEADWAY_PROGRESS_OK);
}

static headway_ltask_result done_at_once(headway_ltask* self, void* argument) {
  (void)self, (void)argument;
  return HEADWAY_LTASK_DONE;
}

static void wait_at_the_end(void* argument) {
  careless* me = argument;
  const int status = headway_ltask_wait(&me->other.task);
  me->calls_refused += status == HEADWAY_PROGRESS_MISUSE && says("ltask 'careless'");
}

/* Without other polling points the ltask ends in this thread's own poll. */
static void waiting_when_an_ltask_ends(void) {
  careless me = {.calls_refused = 0};
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  headway_progress_options none = HEADWAY_PROGRESS_OPTIONS;
  none.points_from_user = 0;
  CHECK(headway_progress_start(&none) == HEADWAY_PROGRESS_OK);
  a.run = done_at_once;
  a.argument = &me;
  a.name = "careless";
  a.ended = wait_at_the_end;
  counter_init(&me.other, HEADWAY_LTASK_REPEAT, 1);
  CHECK(headway_ltask_init(&me.task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&me.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&me.other.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait(&me.task) == HEADWAY_PROGRESS_OK);
  CHECK(me.calls_refused == 1);
  CHECK(headway_ltask_wait(&me.other.task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
}

static void attributes_without_sense(void) {
  headway_ltask task;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  CHECK(headway_ltask_init(&task, NULL) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_init(NULL, &a) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_MISUSE && says("no function"));
  a.run = counter_run;
  a.size = 3;
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_MISUSE && says("size is 3"));
  a.size = sizeof a;
  a.kind = HEADWAY_LTASK_ONE_SHOT;
  a.patient = 1;
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_MISUSE && says("runs once"));
  a.patient = 0;
  a.place = 12345;
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_MISUSE && says("has place 12345"));
  headway_ltask* none[2] = {NULL, NULL};
  CHECK(headway_ltask_wait_any(none, 2, 0, NULL) == HEADWAY_PROGRESS_MISUSE);
  CHECK(headway_progress_turn(77, 0) == HEADWAY_PROGRESS_MISUSE);
}

static int child_is_told(counter* c) {
  bool told = headway_ltask_submit(&c->task) == HEADWAY_PROGRESS_MISUSE && says("was forked");
  told = told && headway_progress_start(NULL) == HEADWAY_PROGRESS_MISUSE && says("was forked");
  told = told && headway_progress_stop() == HEADWAY_PROGRESS_MISUSE;
  return told && headway_progress_poll() == HEADWAY_PROGRESS_MISUSE ? 0 : 1;
}

static void a_forked_child_is_told(void) {
  counter c;
  int status = -1;
  counter_init(&c, HEADWAY_LTASK_ONE_SHOT, 1);
  const pid_t child = fork();
  if (child == 0) _exit(child_is_told(&c));
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(headway_ltask_submit(&c.task) == HEADWAY_PROGRESS_OK); /* the parent continues */
  CHECK(headway_ltask_wait(&c.task) == HEADWAY_PROGRESS_OK);
}

void check_misuse(const flavour* of) {
  (void)of;
  it_is_refused_before_start_and_after_stop();
  CHECK(headway_progress_start(NULL) == HEADWAY_PROGRESS_OK);
  twice_submitted();
  a_suspended_one_is_still_submitted();
  never_submitted();
  waiting_inside_an_ltask();
  attributes_without_sense();
  a_forked_child_is_told();
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
  it_is_refused_before_start_and_after_stop();
  waiting_when_an_ltask_ends();
}

#include "contract.h"

#include <stdio.h>

static int broken = 0;

void check(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++broken;
  fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", file, line, text,
          headway_progress_error());
}

headway_ltask_result counter_run(headway_ltask* self, void* argument) {
  counter* me = argument;
  (void)self;
  return ++me->runs >= me->runs_wanted ? HEADWAY_LTASK_DONE : me->otherwise;
}

void counter_init(counter* c, headway_ltask_kind kind, int runs_wanted) {
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "counter";
  a.run = counter_run;
  a.argument = c;
  a.kind = kind;
  c->runs = 0;
  c->runs_wanted = runs_wanted;
  c->otherwise = HEADWAY_LTASK_ADVANCED;
  CHECK(headway_ltask_init(&c->task, &a) == HEADWAY_PROGRESS_OK);
}

int run_contract(const flavour* of) {
  check_misuse(of);
  check_ltasks(of);
  check_waits(of);
  check_points(of);
  printf("%s: %s\n", of->name, broken ? "BROKEN" : "every promise kept");
  return broken;
}

/* Works for so many seconds with libheadway_progress alone, for the tests of its statistics. */

#include <headway/progress.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static headway_ltask_result run(headway_ltask* self, void* end_s) {
  (void)self;
  return now_s() < *(double*)end_s ? HEADWAY_LTASK_IDLE : HEADWAY_LTASK_DONE;
}

int main(int count, char** words) {
  double end_s = now_s() + (count > 1 ? strtod(words[1], NULL) : 0.1);
  headway_ltask task;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.name = "work";
  a.run = run;
  a.argument = &end_s;
  if (headway_progress_start(NULL) || headway_ltask_init(&task, &a) ||
      headway_ltask_submit(&task) || headway_ltask_wait(&task) || headway_progress_stop()) {
    fprintf(stderr, "%s\n", headway_progress_error());
    return 1;
  }
  return 0;
}

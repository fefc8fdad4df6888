/* What a user's first program looks like; prints the flavour that it was linked with. */
#include <headway/progress.h>
#include <stdio.h>

static headway_ltask_result run(headway_ltask* self, void* runs) {
  (void)self;
  return ++*(int*)runs == 3 ? HEADWAY_LTASK_DONE : HEADWAY_LTASK_IDLE;
}

int main(void) {
  headway_ltask task;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  int runs = 0;
  a.name = "user";
  a.run = run;
  a.argument = &runs;
  if (headway_progress_start(NULL) || headway_ltask_init(&task, &a) ||
      headway_ltask_submit(&task) || headway_ltask_wait(&task) || headway_progress_stop()) {
    fprintf(stderr, "%s\n", headway_progress_error());
    return 1;
  }
  printf("%s: %d runs\n", headway_progress_flavour(), runs);
  return 0;
}

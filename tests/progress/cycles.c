/* A thousand starts and stops leave nothing behind: no descriptor, no thread, no memory. */

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "contract.h"

static int entries(const char* folder) {
  DIR* d = opendir(folder);
  int count = 0;
  while (d && readdir(d)) ++count;
  if (d) closedir(d);
  return count;
}

static long resident_pages(void) {
  long all = 0, resident = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld", &all, &resident) != 2) resident = -1;
  if (f) fclose(f);
  return resident;
}

/* ".", "..", this thread, and the one that a sanitizer may have. */
#ifdef SANITIZED
enum { alone_entries = 4 };
#else
enum { alone_entries = 3 };
#endif

/* A joined thread leaves /proc a moment later. */
static bool alone(void) {
  for (int i = 0; i < 2000 && entries("/proc/self/task") > alone_entries; ++i) usleep(1000);
  return entries("/proc/self/task") <= alone_entries;
}

static int broken;
void check(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++broken;
  fprintf(stderr, "%s:%d: not so: %s (%s)\n", file, line, text, headway_progress_error());
}

static headway_ltask_result run(headway_ltask* self, void* argument) {
  (void)self;
  ++*(int*)argument;
  return HEADWAY_LTASK_DONE;
}

static void cycle(int number) {
  headway_progress_options o = HEADWAY_PROGRESS_OPTIONS;
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  headway_ltask task;
  int runs = 0;
  o.points_from_user = 0;
  o.points = (unsigned)number % 4 + (number % 20 == 0 ? HEADWAY_PROGRESS_IDLE : 0);
  a.run = run;
  a.argument = &runs;
  CHECK(headway_progress_start(&o) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_init(&task, &a) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_submit(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_ltask_wait(&task) == HEADWAY_PROGRESS_OK);
  CHECK(headway_progress_stop() == HEADWAY_PROGRESS_OK);
  CHECK(runs == 1);
}

int main(void) {
  for (int i = 0; i < 100; ++i) cycle(i);
  const int descriptors = entries("/proc/self/fd");
  const long pages = resident_pages();
  for (int i = 0; i < 1000; ++i) cycle(i);
  CHECK(entries("/proc/self/fd") == descriptors);
  CHECK(alone());
#ifndef SANITIZED /* their memory grows; leaks they find themselves */
  CHECK(resident_pages() < pages + 256);
#endif
  printf("1000 cycles: %ld pages before, %ld after\n", pages, resident_pages());
  return broken ? 1 : 0;
}

/* The contract in the flavours "threads" and "none", by the library that is linked. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"

typedef struct thread {
  pthread_t id;
  void (*body)(void*);
  void* argument;
} thread;

static void* begin(void* argument) {
  thread* t = argument;
  t->body(t->argument);
  return NULL;
}
static void* spawn(void (*body)(void*), void* argument) {
  thread* t = malloc(sizeof *t);
  t->body = body;
  t->argument = argument;
  if (pthread_create(&t->id, NULL, begin, t) != 0) abort();
  return t;
}
static void join(void* it) {
  thread* t = it;
  pthread_join(t->id, NULL);
  free(t);
}
static void pause_us(unsigned microseconds) { usleep(microseconds); }

int main(void) {
  const flavour threads = {"threads", spawn, join, pause_us}, none = {"none", NULL, NULL, pause_us};
  const char* name = headway_progress_flavour();
  return run_contract(strcmp(name, "none") == 0 ? &none : &threads) ? 1 : 0;
}

/* A message wakes only the thread that receives it: while one thread gets a thousand messages one
 * by one, the threads that wait at other end-points hardly ever run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "check.h"

enum { sleepers = 8, messages = 1000, tag_work = 1, tag_end = 2, tag_answer = 3 };

static headway_endpoint at[sleepers];
static headway_address answer_to;
static atomic_long idle_runs; /* how often a thread that got nothing gave the processor up again */

static long own_runs(void) {
  struct rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

static void* receive_all(void* argument) {
  const size_t me = (size_t)argument;
  WELL(headway_endpoint_send(at[me], answer_to, tag_answer, NULL, 0, LONG_ENOUGH)); /* is here */
  const long before = own_runs();
  int got_some = 0;
  for (;;) {
    headway_message got = receive_from(at[me], HEADWAY_ANY_TAG);
    if (got.tag == tag_end) break;
    got_some = 1;
    WELL(headway_endpoint_send(at[me], answer_to, tag_answer, NULL, 0, LONG_ENOUGH));
  }
  if (!got_some) atomic_fetch_add(&idle_runs, own_runs() - before);
  return NULL;
}

int main(void) {
  headway_endpoint mine;
  WELL(headway_endpoint_open(NULL, &mine));
  answer_to = headway_endpoint_address(mine);
  pthread_t all[sleepers];
  for (size_t i = 0; i < sleepers; ++i) {
    WELL(headway_endpoint_open(NULL, &at[i]));
    pthread_create(&all[i], NULL, receive_all, (void*)i);
  }
  for (int i = 0; i < sleepers; ++i) receive_from(mine, tag_answer);
  for (int i = 0; i < messages; ++i) {
    WELL(headway_endpoint_send(mine, headway_endpoint_address(at[3]), tag_work, NULL, 0,
                               LONG_ENOUGH));
    receive_from(mine, tag_answer);
  }
  for (int i = 0; i < sleepers; ++i)
    WELL(headway_endpoint_send(mine, headway_endpoint_address(at[i]), tag_end, NULL, 0,
                               LONG_ENOUGH));
  for (int i = 0; i < sleepers; ++i) pthread_join(all[i], NULL);
  /* If each message woke all, it would be seven thousand. */
  printf("%ld runs of threads that got nothing\n", atomic_load(&idle_runs));
  CHECK(atomic_load(&idle_runs) < messages);
  return 0;
}

/* Thousands of end-points at once: threads open them by name, send to those of the next process
 * (which may have closed them by then), receive, close. No message to an open end-point is lost. */
#include <pthread.h>

#include "check.h"

enum { threads = 4, each = 500, rounds = 3 };

static void name_of(char* name, size_t room, int process, int thread, int number, int round) {
  snprintf(name, room, "churn/%d/%d/%d/%d", process, thread, number, round);
}

static void* churn(void* argument) {
  const int thread = (int)(size_t)argument, me = headway_process(), n = headway_process_count();
  static _Thread_local headway_endpoint all[each];
  char name[64];
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < each; ++i) {
      name_of(name, sizeof name, me, thread, i, round);
      WELL(headway_endpoint_open(name, &all[i]));
    }
    for (int i = 0; i < each; ++i) {
      headway_address to;
      name_of(name, sizeof name, (me + 1) % n, thread, i, round);
      WELL(headway_endpoint_lookup(name, LONG_ENOUGH, &to));
      WELL(headway_endpoint_send_copy(all[i], to, i, &i, sizeof i, LONG_ENOUGH));
    }
    for (int i = 0; i < each; ++i) {
      headway_message got = receive_from(all[i], i);
      CHECK(got.bytes == sizeof i && *(int*)got.data == i);
      WELL(headway_buffer_release(got.data));
      /* To its sender, which may be closed already: ok or gone, no other answer. */
      const int status = headway_endpoint_send(all[i], got.from, each + i, NULL, 0, LONG_ENOUGH);
      CHECK(status == HEADWAY_OK || status == HEADWAY_GONE);
      if (i % 2 == 0) WELL(headway_endpoint_close(all[i]));
    }
    for (int i = 1; i < each; i += 2) WELL(headway_endpoint_close(all[i]));
  }
  return NULL;
}

int main(void) {
  WELL(headway_join());
  const headway_endpoint at = open_own("meeting");
  pthread_t all[threads];
  for (size_t t = 0; t < threads; ++t) pthread_create(&all[t], NULL, churn, (void*)t);
  for (size_t t = 0; t < threads; ++t) pthread_join(all[t], NULL);
  meet(at, "meeting", 1); /* no process leaves while another still looks up its names */
  CHECK(headway_buffer_memory() < (size_t)64 << 20);
  WELL(headway_endpoint_close(at));
  return 0;
}

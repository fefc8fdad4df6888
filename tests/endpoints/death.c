/* A process is killed while others send to it, wait for it, look up its names and hold its buffers:
 * each call returns "gone" in a few seconds, and the others' messages to each other continue. Run
 * with --keep-going. */
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { victim = 1, named = 2000, tag_go = 1, tag_on = 2, tag_keep = 3, tag_meet = 4 };

static void name_of(char* name, size_t room, int number) {
  snprintf(name, room, "victim/%d", number);
}

static void be_the_victim(headway_endpoint at, int n) {
  char name[32];
  for (int i = 0; i < named; ++i) {
    headway_endpoint one;
    name_of(name, sizeof name, i);
    WELL(headway_endpoint_open(name, &one));
  }
  for (int p = 0; p < n; ++p)
    if (p != victim) {
      unsigned char* data = buffer_of(100000);
      fill(data, 100000, 7);
      WELL(headway_endpoint_send(at, look_up("main", p), tag_keep, data, 100000, LONG_ENOUGH));
    }
  for (int p = 1; p < n; ++p) receive_from(at, tag_go); /* and nothing more: senders wait */
  kill(getpid(), SIGKILL);
}

int main(void) {
  WELL(headway_join());
  const int n = headway_process_count(), me = headway_process();
  const headway_endpoint at = open_own("main");
  for (int p = 0; p < n; ++p) look_up("main", p);
  if (me == victim) be_the_victim(at, n);

  const headway_address to = look_up("main", victim);
  char name[32];
  headway_address found;
  for (int i = 0; i < named; ++i) { /* and cached here */
    name_of(name, sizeof name, i);
    WELL(headway_endpoint_lookup(name, LONG_ENOUGH, &found));
  }
  headway_message kept = receive_from(at, tag_keep);
  WELL(headway_endpoint_send(at, to, tag_go, NULL, 0, LONG_ENOUGH));
  int status = HEADWAY_OK;
  while (status == HEADWAY_OK) {
    void* data = buffer_of(5000);
    status = headway_endpoint_send(at, to, tag_on, data, 5000, LONG_ENOUGH);
    if (status != HEADWAY_OK) WELL(headway_buffer_release(data));
  }
  CHECK(status == HEADWAY_GONE);
  CHECK(headway_endpoint_send(at, to, tag_on, NULL, 0, LONG_ENOUGH) == HEADWAY_GONE);
  for (int i = 0; i < named; ++i) {
    name_of(name, sizeof name, i);
    CHECK(headway_endpoint_lookup(name, HEADWAY_NO_WAIT, &found) == HEADWAY_NOT_FOUND);
  }
  CHECK(headway_endpoint_lookup("main/1", HEADWAY_NO_WAIT, &found) == HEADWAY_NOT_FOUND);
  /* The buffers that it sent are whole, and still held by this process. */
  CHECK(is_filled(kept.data, kept.bytes, 7));
  WELL(headway_buffer_release(kept.data));
  for (int p = 0; p < n; ++p)
    if (p != victim && p != me)
      WELL(headway_endpoint_send(at, look_up("main", p), tag_meet, NULL, 0, LONG_ENOUGH));
  for (int i = 2; i < n; ++i) receive_from(at, tag_meet);
  printf("process %d: the others go on\n", me);
  return 0;
}

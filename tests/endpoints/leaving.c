/* A process may leave its job while a handler runs: the handler's calls still work, and neither
 * waits for the other. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static atomic_int at_work, done;
static headway_endpoint other;

static void handle(void* unused, const headway_message* what) {
  (void)unused;
  if (atomic_fetch_add(&at_work, 1) == 0) usleep(50000); /* by then the other thread is leaving */
  WELL(headway_endpoint_send(0, headway_endpoint_address(other), 0, what->data, what->bytes,
                             HEADWAY_NO_WAIT));
  void* buffer = buffer_of(100);
  WELL(headway_buffer_release(buffer));
  atomic_fetch_add(&done, 1);
}

int main(void) {
  headway_endpoint at;
  WELL(headway_endpoint_open(NULL, &other));
  WELL(headway_endpoint_open(NULL, &at));
  WELL(headway_endpoint_handle(at, handle, NULL));
  for (int i = 0; i < 10; ++i)
    WELL(headway_endpoint_send_copy(0, headway_endpoint_address(at), i, "x", 2, HEADWAY_NO_WAIT));
  while (atomic_load(&at_work) == 0) usleep(100);
  WELL(headway_leave());
  CHECK(atomic_load(&done) == atomic_load(&at_work));
  CHECK(headway_endpoint_close(at) == HEADWAY_NOT_JOINED);
  WELL(headway_leave());
  return 0;
}

/* Goal: a rail that is lost, and one that carries again, are events on both sides, with the number
 * of the peer, while the job goes on.
 * Method: two ranks with two cables exchange large messages until both have seen both events of one
 * rail. Run by tests/system/rail_events_test.py, which pulls a cable and puts it back. */
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { bytes = 1 << 18, seconds_max = 60 };

static int rank;
static atomic_ullong lost_rails, returned_rails; /* bits */
static atomic_int wrong;

static void note(MPI_T_event_instance event, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void* user_data) {
  unsigned long long peer = 0, rail = 0;
  (void)registration, (void)safety;
  int good = MPI_T_event_read(event, 0, &peer) == MPI_SUCCESS && peer == (unsigned)(1 - rank);
  good = good && MPI_T_event_read(event, 1, &rail) == MPI_SUCCESS && rail < 64;
  atomic_fetch_add(&wrong, !good);
  atomic_fetch_or((atomic_ullong*)user_data, 1ull << rail % 64);
}

static void call_at(const char* name, atomic_ullong* rails) {
  int index;
  MPI_T_event_registration registration;
  CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
  CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                      rails, note) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  static char out[bytes], in[bytes];
  CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &(int){0}) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  call_at("packets.rail_lost", &lost_rails);
  call_at("packets.rail_returned", &returned_rails);
  const double begin = MPI_Wtime();
  do { /* the first byte says whether its rank has seen enough, or waited for too long */
    out[0] = (lost_rails & returned_rails) != 0 || MPI_Wtime() - begin > seconds_max;
    MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, 1, in, bytes, MPI_CHAR, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(2000);
  } while (!out[0] || !in[0]);
  CHECK(wrong == 0 && (lost_rails & returned_rails) != 0);
  if (failures == 0) printf("rank %d has seen a rail go and come\n", rank);
  return finish();
}

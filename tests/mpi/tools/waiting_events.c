/* Callbacks that are not thread-safe: they are called one at a time by threads of the program, in
 * calls of MPI_T and in waits that slept, and may call MPI; what does not fit is counted. */
#include <unistd.h>

#include "check.h"

static int rank, seen, slept, wrong, messages_inside;
static long long lost;
static MPI_T_event_registration unexpected, sleeps;

static void on_unexpected(MPI_T_event_instance event, MPI_T_event_registration registration,
                          MPI_T_cb_safety safety, void* user_data) {
  unsigned long long tag = 0, context = 0;
  (void)user_data;
  wrong += registration != unexpected || safety != MPI_T_CB_REQUIRE_NONE;
  wrong += MPI_T_event_read(event, 1, &tag) != MPI_SUCCESS;
  wrong += MPI_T_event_read(event, 3, &context) != MPI_SUCCESS;
  if (tag != 5 || context % 2 != 0) return; /* not of a collective operation */
  ++seen;
  /* Nothing is restricted here. */
  int out = 1, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  messages_inside += in;
}

static void on_sleep(MPI_T_event_instance event, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void* user_data) {
  unsigned long long ns = 0;
  wrong += registration != sleeps || safety != MPI_T_CB_REQUIRE_NONE || user_data != &slept;
  wrong += MPI_T_event_read(event, 0, &ns) != MPI_SUCCESS || ns == 0;
  ++slept;
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void* user_data) {
  (void)user_data;
  wrong += registration != unexpected || source != 0 || safety != MPI_T_CB_REQUIRE_NONE;
  lost += count;
}

static MPI_T_event_registration registered(const char* name, MPI_T_cb_safety level,
                                           MPI_T_event_cb_function* callback, void* user_data) {
  int index;
  MPI_T_event_registration made;
  CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &made) == MPI_SUCCESS);
  CHECK(MPI_T_event_register_callback(made, level, MPI_INFO_NULL, user_data, callback) ==
        MPI_SUCCESS);
  return made;
}

/* Rank 0 sends so many messages to rank 1, and ends it with another one, all unexpected. */
static void flood(int count) {
  int one = 1;
  MPI_Barrier(MPI_COMM_WORLD); /* both have registered */
  if (rank == 0) {
    for (int i = 0; i < count; ++i) MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Send(&one, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
  } else {
    int flag = 0;
    while (!flag) MPI_Iprobe(0, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&one, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void drain(int count) {
  int one;
  for (int i = 0; rank == 1 && i < count; ++i)
    MPI_Recv(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int num;
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &(int){0}) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  unexpected =
      registered("messages.unexpected", MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_unexpected, NULL);
  CHECK(MPI_T_event_set_dropped_handler(unexpected, on_dropped) == MPI_SUCCESS);
  flood(10);
  CHECK(MPI_T_category_get_num(&num) == MPI_SUCCESS); /* any call of MPI_T delivers */
  CHECK(seen == (rank == 1 ? 10 : 0) && messages_inside == seen);
  drain(10);

  /* 1024 events wait; later ones are dropped, and the number is told. A wait that has slept may
   * have delivered some in between. */
  seen = 0;
  flood(3000);
  CHECK(MPI_T_category_get_num(&num) == MPI_SUCCESS);
  if (rank == 1) CHECK(seen + lost >= 3000 && lost >= 3000 - 2 * 1024);
  drain(3000);

  /* A wait that sleeps delivers by itself. */
  sleeps = registered("progress.wait_slept", MPI_T_CB_REQUIRE_NONE, on_sleep, &slept);
  seen = 0;
  int one = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    usleep(200000);
    MPI_Send(&one, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    usleep(200000);
    MPI_Send(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&one, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(slept > 0 && seen == 1);
    MPI_Recv(&one, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  CHECK(MPI_T_event_handle_free(sleeps, NULL, NULL) == MPI_SUCCESS);
  CHECK(MPI_T_event_handle_free(unexpected, NULL, NULL) == MPI_SUCCESS);
  CHECK(wrong == 0);
  MPI_Finalize();
  CHECK(MPI_T_finalize() == MPI_SUCCESS);
  return failures == 0 ? 0 : 1;
}

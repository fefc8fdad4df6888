/* Of ranks on several nodes only the first one of each node sends messages of a small allreduce or
 * barrier, in every form of the call. on_nodes.py starts it; NODES has a letter for each rank's
 * node. */
#include "check_all.h"

enum { CALLS = 10, COUNT = 4, RAILS_MAX = 8 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[RAILS_MAX];
static int handle_count;

/* From now on packets over the network are counted. */
static void begin_count(void) {
  int variables = 0;
  handle_count = 0;
  CHECK_OK(MPI_T_pvar_get_num(&variables));
  for (int i = 0; i < variables && handle_count < RAILS_MAX; ++i) {
    char name[128];
    int length = sizeof name, verbosity, kind, bind, readonly, continuous, atomic, elements;
    MPI_Datatype type;
    CHECK_OK(MPI_T_pvar_get_info(i, name, &length, &verbosity, &kind, &type, NULL, NULL, NULL,
                                 &bind, &readonly, &continuous, &atomic));
    if (strstr(name, "tcp") == NULL || strstr(name, ".packets_out") == NULL) continue;
    CHECK_OK(MPI_T_pvar_handle_alloc(session, i, NULL, &handles[handle_count], &elements));
    CHECK_OK(MPI_T_pvar_start(session, handles[handle_count++]));
  }
  CHECK(handle_count > 0, "no counter of packets over TCP");
}

static unsigned long long end_count(void) {
  unsigned long long all = 0;
  for (int i = 0; i < handle_count; ++i) {
    unsigned long long packets = 0;
    CHECK_OK(MPI_T_pvar_read(session, handles[i], &packets));
    CHECK_OK(MPI_T_pvar_handle_free(session, &handles[i]));
    all += packets;
  }
  return all;
}

static void check_sum(const double* got) {
  for (int i = 0; i < COUNT; ++i)
    CHECK(got[i] == (double)(check_size * (check_size - 1) / 2 + i * check_size), "%d: %g", i,
          got[i]);
}

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static void reduce_by(enum form how, const double* mine, double* sum, MPI_Request* made) {
  MPI_Request begun = MPI_REQUEST_NULL;
  if (how == BLOCKING) {
    CHECK_OK(MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  } else if (how == NONBLOCKING) {
    CHECK_OK(MPI_Iallreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &begun));
    CHECK_OK(MPI_Wait(&begun, MPI_STATUS_IGNORE));
  } else {
    CHECK_OK(MPI_Start(made));
    CHECK_OK(MPI_Wait(made, MPI_STATUS_IGNORE));
  }
}

int main(int argc, char** argv) {
  int level;
  check_start(&argc, &argv);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  CHECK_OK(MPI_T_pvar_session_create(&session));
  const char* const nodes = getenv("NODES");
  const int leads = strchr(nodes, nodes[check_rank]) == nodes + check_rank;
  double mine[COUNT], sum[COUNT];
  for (int i = 0; i < COUNT; ++i) mine[i] = check_rank + i;
  MPI_Request made;
  CHECK_OK(MPI_Allreduce_init(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &made));
  for (int i = 0; i < CALLS; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int how = BLOCKING; how < FORMS; ++how) {
    begin_count();
    for (int i = 0; i < CALLS; ++i) {
      reduce_by((enum form)how, mine, sum, &made);
      check_sum(sum);
      CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    const unsigned long long packets = end_count();
    CHECK(leads ? packets > 0 : packets == 0, "form %d: %llu packets", how, packets);
  }
  CHECK_OK(MPI_Request_free(&made));
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK_OK(MPI_T_finalize());
  return check_end("nodes");
}

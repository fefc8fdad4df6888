/* The priority of a communicator: by info key and by the calls of headway/communicator.h. */
#include <headway/communicator.h>

#include "hints.h"

enum { bulk_count = 400, bulk_bytes = 4000, urgent_count = 20 };

static int rank, size;

static void set_key(MPI_Comm comm, const char* value) { set_hint(comm, "headway_priority", value); }

/* Both ways to ask say the same. */
static int is(MPI_Comm comm, enum headway_priority wanted) {
  int said = -1;
  CHECK(headway_comm_get_priority(comm, &said) == MPI_SUCCESS);
  return said == (int)wanted &&
         hint_is(comm, "headway_priority", wanted == HEADWAY_PRIORITY_URGENT ? "urgent" : "normal");
}

static void is_set_by_key_and_by_call(void) {
  MPI_Comm made, copy;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  CHECK(is(made, HEADWAY_PRIORITY_NORMAL));
  set_key(made, "urgent");
  CHECK(is(made, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_dup(made, &copy); /* without hints */
  CHECK(is(copy, HEADWAY_PRIORITY_NORMAL));
  CHECK(headway_comm_set_priority(copy, HEADWAY_PRIORITY_URGENT) == MPI_SUCCESS);
  CHECK(is(copy, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_free(&copy);
  CHECK(headway_comm_set_priority(made, HEADWAY_PRIORITY_NORMAL) == MPI_SUCCESS);
  CHECK(is(made, HEADWAY_PRIORITY_NORMAL));
  MPI_Comm_get_info(made, &info);
  MPI_Info_set(info, "headway_priority", "urgent");
  MPI_Comm_dup_with_info(made, info, &copy);
  MPI_Info_free(&info);
  CHECK(is(copy, HEADWAY_PRIORITY_URGENT));
  CHECK(is(MPI_COMM_WORLD, HEADWAY_PRIORITY_NORMAL));
  MPI_Comm_free(&copy);
  MPI_Comm_free(&made);
}

/* By the info of each constructor that takes one. */
static void is_a_hint_of_new_communicators(void) {
  MPI_Comm made;
  MPI_Info info;
  MPI_Request request;
  MPI_Group all;
  const int peer = rank ^ 1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headway_priority", "urgent");
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(is(made, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_free(&made);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &made);
  CHECK(is(made, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_free(&made);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED,
                                 info, 0, &made);
  CHECK(is(made, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_free(&made);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_from_group(all, "priority", info, MPI_ERRORS_RETURN, &made);
  CHECK(is(made, HEADWAY_PRIORITY_URGENT));
  MPI_Comm_free(&made);
  MPI_Group_free(&all);
  MPI_Info_free(&info);
}

static void belongs_to_intercommunicators_too(void) {
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  CHECK(headway_comm_set_priority(both, HEADWAY_PRIORITY_URGENT) == MPI_SUCCESS);
  CHECK(is(both, HEADWAY_PRIORITY_URGENT));
  int in = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, rank / 2, 0, &in, 1, MPI_INT, rank / 2, 0, both,
               MPI_STATUS_IGNORE);
  CHECK(in == (rank ^ 1));
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void an_unknown_one_changes_nothing(void) {
  MPI_Comm made;
  int class = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_name(made, "halo");
  set_key(made, "high");
  CHECK(is(made, HEADWAY_PRIORITY_NORMAL));
  const int code = headway_comm_set_priority(made, 17);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_ARG);
  MPI_Error_class(headway_comm_get_priority(made, NULL), &class);
  CHECK(class == MPI_ERR_ARG);
  CHECK(is(made, HEADWAY_PRIORITY_NORMAL));
  MPI_Error_class(headway_comm_set_priority(MPI_COMM_NULL, HEADWAY_PRIORITY_URGENT), &class);
  CHECK(class == MPI_ERR_COMM);
  MPI_Comm_free(&made);
}

/* What is sent on one communicator comes in its order, also while its priority changes behind
 * others that wait. */
static void keeps_the_order_of_a_communicator(void) {
  MPI_Comm halo;
  MPI_Request r[bulk_count + urgent_count];
  static char bulk[bulk_count][bulk_bytes];
  int number[urgent_count];
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  const int peer = rank ^ 1;
  if (rank % 2 == 0) {
    for (int i = 0; i < bulk_count; ++i)
      MPI_Isend(bulk[i], bulk_bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < urgent_count; ++i) {
      CHECK(headway_comm_set_priority(halo, i / 3 % 2) == MPI_SUCCESS);
      number[i] = i;
      MPI_Isend(&number[i], 1, MPI_INT, peer, 0, halo, &r[bulk_count + i]);
    }
  } else {
    for (int i = 0; i < urgent_count; ++i) {
      number[i] = -1;
      MPI_Recv(&number[i], 1, MPI_INT, peer, MPI_ANY_TAG, halo, MPI_STATUS_IGNORE);
      CHECK(number[i] == i);
      r[bulk_count + i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < bulk_count; ++i)
      MPI_Irecv(bulk[i], bulk_bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &r[i]);
  }
  MPI_Waitall(bulk_count + urgent_count, r, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&halo);
}

/* Collective operations of an urgent communicator. */
static void serves_collective_operations(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  set_key(made, "urgent");
  for (int i = 0; i < 20; ++i) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == size * (size - 1) / 2);
  }
  MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  is_set_by_key_and_by_call();
  is_a_hint_of_new_communicators();
  belongs_to_intercommunicators_too();
  an_unknown_one_changes_nothing();
  keeps_the_order_of_a_communicator();
  serves_collective_operations();
  return finish();
}

/* Goal: buffers that are the same memory on one rank alone, which no other rank can see, leave no
 * rank waiting: that rank has MPI_ERR_BUFFER, every rank whose result lacks its data has an error,
 * and what follows on the same communicator is right.
 * Method: each rank in turn makes the mistake, in every collective with two buffers, with sizes
 * that take different ways, in all three forms. Where all ranks return is checked by the time limit
 * of the test. */
#include <stdbool.h>

#include "patterns.h"

enum { bytes_max = 300000, form_count = 3 };

static char sent[16 * bytes_max], received[16 * bytes_max];
static MPI_Comm ring, groups; /* an inter-communicator of the even and the odd ranks */

/* Calls MPI_upper, MPI_Ilower or MPI_lower_init, the last two with their end. An error code. */
#define FORMS(name, upper, lower, init, comm, ...)                           \
  static int name(void* into, int bytes, int form) {                         \
    MPI_Request r = MPI_REQUEST_NULL;                                        \
    if (form == 0) return MPI_##upper(__VA_ARGS__, comm);                    \
    int code = form == 1 ? MPI_##lower(__VA_ARGS__, comm, &r)                \
                         : MPI_##init(__VA_ARGS__, comm, MPI_INFO_NULL, &r); \
    if (form == 2 && code == MPI_SUCCESS) code = MPI_Start(&r);              \
    if (code == MPI_SUCCESS) code = MPI_Wait(&r, MPI_STATUS_IGNORE);         \
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);                         \
    return code;                                                             \
  }
#define BLOCKS sent, bytes, MPI_CHAR, into, bytes, MPI_CHAR
#define VECTOR sent, into, bytes, MPI_SIGNED_CHAR, MPI_BXOR

FORMS(reduce_to_all, Allreduce, Iallreduce, Allreduce_init, MPI_COMM_WORLD, VECTOR)
FORMS(scan, Scan, Iscan, Scan_init, MPI_COMM_WORLD, VECTOR)
FORMS(exscan, Exscan, Iexscan, Exscan_init, MPI_COMM_WORLD, VECTOR)
FORMS(reduce_scatter, Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init,
      MPI_COMM_WORLD, VECTOR)
FORMS(gather_to_all, Allgather, Iallgather, Allgather_init, MPI_COMM_WORLD, BLOCKS)
FORMS(exchange, Alltoall, Ialltoall, Alltoall_init, MPI_COMM_WORLD, BLOCKS)
FORMS(reduce, Reduce, Ireduce, Reduce_init, MPI_COMM_WORLD, VECTOR, 0)
FORMS(gather, Gather, Igather, Gather_init, MPI_COMM_WORLD, BLOCKS, 0)
FORMS(scatter, Scatter, Iscatter, Scatter_init, MPI_COMM_WORLD, BLOCKS, 0)
FORMS(exchange_around, Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, ring, BLOCKS)
FORMS(gather_around, Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, ring, BLOCKS)

FORMS(reduce_between, Allreduce, Iallreduce, Allreduce_init, groups, VECTOR)
FORMS(scatter_between, Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init,
      groups, VECTOR)
FORMS(gather_between, Allgather, Iallgather, Allgather_init, groups, BLOCKS)
FORMS(exchange_between, Alltoall, Ialltoall, Alltoall_init, groups, BLOCKS)

static bool always(int culprit) { return (void)culprit, true; }
static bool at_root(int culprit) { return check_rank == culprit && culprit == 0; }
static bool behind(int culprit) { return check_rank >= culprit; }
static bool at_neighbor(int culprit) {
  const int apart = (check_rank - culprit + check_size) % check_size;
  return apart <= 1 || apart == check_size - 1;
}
static bool in_other_group(int culprit) { return (check_rank - culprit) % 2 != 0; }
/* The root's data reach no rank. */
static bool root_alone(int culprit) { return culprit == 0; }

static const struct {
  const char* name;
  int (*call)(void* into, int bytes, int form);
  bool (*fails)(int culprit); /* whether this rank must have an error */
  bool rooted;                /* only the root's second buffer counts */
  bool between_groups;
} operations[] = {{"allreduce", reduce_to_all, always, false, false},
                  {"scan", scan, behind, false, false},
                  {"exscan", exscan, behind, false, false},
                  {"reduce_scatter_block", reduce_scatter, always, false, false},
                  {"allgather", gather_to_all, always, false, false},
                  {"alltoall", exchange, always, false, false},
                  {"reduce", reduce, at_root, true, false},
                  {"gather", gather, at_root, true, false},
                  {"scatter", scatter, root_alone, true, false},
                  {"neighbor_alltoall", exchange_around, at_neighbor, false, false},
                  {"neighbor_allgather", gather_around, at_neighbor, false, false},
                  {"allreduce between groups", reduce_between, in_other_group, false, true},
                  {"scatter between groups", scatter_between, in_other_group, false, true},
                  {"allgather between groups", gather_between, in_other_group, false, true},
                  {"alltoall between groups", exchange_between, in_other_group, false, true}};

/* Buffers with one address whose types have their data elsewhere are no mistake, and buffers with
 * two addresses whose types have it at the same place are one. */
static void types_say_where_the_data_are(void) {
  enum { apart = 8 };
  int numbers[apart + 16], code, class = MPI_SUCCESS;
  const int one = 1;
  const MPI_Aint bytes = apart * sizeof(int);
  MPI_Datatype away, elsewhere;
  MPI_Type_create_hindexed(1, &one, &bytes, MPI_INT, &away);
  MPI_Type_create_resized(away, 0, sizeof(int), &elsewhere);
  MPI_Type_commit(&elsewhere);
#define OWN_NUMBER numbers, 1, MPI_INT, numbers, 1, elsewhere
  numbers[0] = check_rank;
  CHECK_OK(MPI_Allgather(OWN_NUMBER, MPI_COMM_WORLD));
  for (int i = 0; i < check_size; ++i) CHECK(numbers[apart + i] == i, "allgather: %d", i);
  CHECK_OK(MPI_Gather(OWN_NUMBER, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Neighbor_allgather(OWN_NUMBER, ring));
  const int left = (check_rank + check_size - 1) % check_size;
  CHECK(numbers[apart] == left, "neighbor_allgather: %d", numbers[apart]);
  for (int i = 0; i < apart; ++i) numbers[i] = check_rank;
  if (check_size <= apart) {
    CHECK_OK(MPI_Alltoall(OWN_NUMBER, MPI_COMM_WORLD));
    for (int i = 0; i < check_size; ++i) CHECK(numbers[apart + i] == i, "alltoall: %d", i);
    CHECK_OK(MPI_Scatter(numbers, 1, elsewhere, numbers, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(numbers[0] == check_rank, "scatter: %d", numbers[0]);
  }
  CHECK_OK(MPI_Neighbor_alltoall(OWN_NUMBER, ring));
  code = MPI_Allgather(numbers + apart, 1, MPI_INT, numbers, 1, elsewhere, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_BUFFER, "the same data at two addresses: class %d", class);
  MPI_Type_free(&elsewhere);
  MPI_Type_free(&away);
}

static void ends(size_t o, int bytes, int form, int culprit) {
  const bool mistaken = check_rank == culprit && (!operations[o].rooted || check_rank == 0);
  const int code = operations[o].call(mistaken ? sent : received, bytes, form);
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (mistaken)
    CHECK(class == MPI_ERR_BUFFER, "%s, %d bytes, form %d: class %d", operations[o].name, bytes,
          form, class);
  else if (operations[o].fails(culprit))
    CHECK(class != MPI_SUCCESS, "%s, %d bytes, form %d: no error, rank %d is mistaken",
          operations[o].name, bytes, form, culprit);
  int number = check_rank, sum = -1;
  CHECK_OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(sum == check_size * (check_size - 1) / 2, "after %s: %d", operations[o].name, sum);
}

int main(int argc, char** argv) {
  static const int sizes[] = {4, 200, 40000, bytes_max};
  check_start(&argc, &argv);
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  types_say_where_the_data_are();
  if (check_size > 1) {
    MPI_Comm own;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 3, &groups);
    MPI_Comm_set_errhandler(groups, MPI_ERRORS_RETURN);
    MPI_Comm_free(&own);
  }
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o) {
    if (operations[o].between_groups && check_size == 1) continue;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      for (int form = 0; form < form_count; ++form)
        for (int culprit = 0; culprit < check_size; ++culprit) ends(o, sizes[s], form, culprit);
  }
  if (check_size > 1) MPI_Comm_free(&groups);
  MPI_Comm_free(&ring);
  return check_end("aliased");
}

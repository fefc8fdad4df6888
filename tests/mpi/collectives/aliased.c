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
static MPI_Comm ring;

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

static bool always(int culprit) { return (void)culprit, true; }
static bool at_root(int culprit) { return check_rank == culprit && culprit == 0; }
static bool behind(int culprit) { return check_rank >= culprit; }
static bool at_neighbor(int culprit) {
  const int apart = (check_rank - culprit + check_size) % check_size;
  return apart <= 1 || apart == check_size - 1;
}
/* The root's data reach no rank. */
static bool root_alone(int culprit) { return culprit == 0; }

static const struct {
  const char* name;
  int (*call)(void* into, int bytes, int form);
  bool (*fails)(int culprit); /* whether this rank must have an error */
  bool rooted;                /* only the root's second buffer counts */
} operations[] = {{"allreduce", reduce_to_all, always, false},
                  {"scan", scan, behind, false},
                  {"exscan", exscan, behind, false},
                  {"reduce_scatter_block", reduce_scatter, always, false},
                  {"allgather", gather_to_all, always, false},
                  {"alltoall", exchange, always, false},
                  {"reduce", reduce, at_root, true},
                  {"gather", gather, at_root, true},
                  {"scatter", scatter, root_alone, true},
                  {"neighbor_alltoall", exchange_around, at_neighbor, false},
                  {"neighbor_allgather", gather_around, at_neighbor, false}};

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
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      for (int form = 0; form < form_count; ++form)
        for (int culprit = 0; culprit < check_size; ++culprit) ends(o, sizes[s], form, culprit);
  MPI_Comm_free(&ring);
  return check_end("aliased");
}

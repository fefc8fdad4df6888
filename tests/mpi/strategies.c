/* The strategy of a communicator's messages: an info key, separate for each communicator. */
#include "hints.h"

static int rank, size;

static void set(MPI_Comm comm, const char* value) { set_hint(comm, "headway_strategy", value); }

static int is(MPI_Comm comm, const char* wanted) {
  return hint_is(comm, "headway_strategy", wanted);
}

/* Small, middle and large messages around the ring, from all ranks at once. */
static void ring(MPI_Comm comm) {
  static const int sizes[] = {1, 8, 1000, 40000, 300000, 2000000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int bytes = sizes[i];
    unsigned char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
    int wrong = 0;
    for (int at = 0; at < bytes; ++at) out[at] = (unsigned char)(at * 7 + at / 251 + rank);
    MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 3, in, bytes, MPI_BYTE,
                 (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
    for (int at = 0; at < bytes; ++at)
      wrong |= in[at] != (unsigned char)(at * 7 + at / 251 + (rank + size - 1) % size);
    CHECK(!wrong);
    free(in);
    free(out);
  }
}

static void each_has_its_own(void) {
  static const char* const all[] = {"fifo", "aggregate", "equal", "sampled", "parallel"};
  MPI_Comm comms[5];
  for (int i = 0; i < 5; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    set(comms[i], all[i]);
  }
  for (int i = 0; i < 5; ++i) {
    CHECK(is(comms[i], all[i]));
    ring(comms[i]);
    MPI_Comm_free(&comms[i]);
  }
}

/* A hint belongs to the communicator that it was set on, and not to its duplicates. */
static void with_info(void) {
  MPI_Info info;
  MPI_Comm made, later, plain;
  MPI_Request request;
  MPI_Info_create(&info);
  MPI_Info_set(info, "headway_strategy", "equal");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Info_free(&info);
  CHECK(is(made, "equal") && is(later, "equal"));
  MPI_Comm_dup(made, &plain);
  CHECK(is(plain, "sampled"));
  ring(later);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&later);
  MPI_Comm_free(&made);
}

static void an_unknown_one_changes_nothing(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_name(made, "halo");
  set(made, "fifo");
  set(made, "best");
  CHECK(is(made, "fifo"));
  ring(made);
  MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return_errors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(is(MPI_COMM_WORLD, "sampled"));
  each_has_its_own();
  with_info();
  an_unknown_one_changes_nothing();
  return finish();
}

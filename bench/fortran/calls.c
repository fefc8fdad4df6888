/// What a call of MPI costs in Fortran above its C form: each call is repeated in loops in C and in
/// the three forms of Fortran (loops.F90), in one process, in turns.
#include <mpi.h>
#include <stdio.h>

#include "measure.h"

enum { forms = 4, rounds = 41, turn_ns = 2000000 };

static const char* const form_names[forms] = {"C", "mpif.h", "use mpi", "use mpi_f08"};
static int data[16];

static void c_comm_rank(int number, int count) {
  const MPI_Comm comm = MPI_Comm_fromint(number);
  int rank;
  for (int i = 0; i < count; ++i) MPI_Comm_rank(comm, &rank);
}

static void c_send(int number, int count) {
  const MPI_Comm comm = MPI_Comm_fromint(number);
  for (int i = 0; i < count; ++i) MPI_Send(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm);
}

static void c_recv(int number, int count) {
  const MPI_Comm comm = MPI_Comm_fromint(number);
  for (int i = 0; i < count; ++i)
    MPI_Recv(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
}

static void c_isend_wait(int number, int count) {
  const MPI_Comm comm = MPI_Comm_fromint(number);
  for (int i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_Isend(data, 16, MPI_INTEGER, MPI_PROC_NULL, 1, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void c_allreduce(int number, int count) {
  const MPI_Comm comm = MPI_Comm_fromint(number);
  int total[16];
  for (int i = 0; i < count; ++i) MPI_Allreduce(data, total, 16, MPI_INTEGER, MPI_SUM, comm);
}

typedef void loop(int comm, int count);

#define FORTRAN_LOOPS(name) extern loop mpif_##name, mpi_##name, f08_##name;
FORTRAN_LOOPS(comm_rank)
FORTRAN_LOOPS(send)
FORTRAN_LOOPS(recv)
FORTRAN_LOOPS(isend_wait)
FORTRAN_LOOPS(allreduce)

struct call {
  const char* name;
  int calls;  ///< of MPI in one repetition
  loop* loops[forms];
};
#define CALL(text, calls, name)                                    \
  {                                                                \
    text, calls, { c_##name, mpif_##name, mpi_##name, f08_##name } \
  }

static const struct call all_calls[] = {
    CALL("MPI_Comm_rank", 1, comm_rank),
    CALL("MPI_Send to MPI_PROC_NULL", 1, send),
    CALL("MPI_Recv from MPI_PROC_NULL", 1, recv),
    CALL("MPI_Isend to MPI_PROC_NULL, MPI_Wait", 2, isend_wait),
    CALL("MPI_Allreduce of one rank", 1, allreduce),
};

/// Most nanoseconds above C, by form.
static const double above_max[forms] = {0, 5, 5, 15};

static double nanoseconds(loop* of, int comm, int count) {
  const uint64_t start = now_ns();
  of(comm, count);
  return (double)(now_ns() - start) / count;
}

static void measure(const struct call* call, const char* comm_name, int comm) {
  struct samples times[forms] = {0};
  struct samples above[forms] = {0};
  const int count = 1 + (int)(turn_ns / (1 + nanoseconds(call->loops[0], comm, 1000)));
  for (int round = 0; round < rounds; ++round) {
    double taken[forms];
    for (int i = 0; i < forms; ++i) {
      const int form = (i + round) % forms;
      taken[form] = nanoseconds(call->loops[form], comm, count) / call->calls;
    }
    for (int form = 0; form < forms; ++form) {
      samples_add(&times[form], taken[form]);
      samples_add(&above[form], taken[form] - taken[0]);
    }
  }
  for (int form = 0; form < forms; ++form) {
    const struct summary each = summarise(&times[form]);
    const struct summary more = summarise(&above[form]);
    printf("%-38s %-10s %-12s %8.2f ns", call->name, comm_name, form_names[form], each.median);
    if (form > 0)
      printf(" %+8.2f above C (%+.2f at best), at most %.0f: %s", more.median, more.best,
             above_max[form], more.median <= above_max[form] ? "reached" : "NOT reached");
    printf("\n");
    samples_free(&times[form]);
    samples_free(&above[form]);
  }
}

int main(int argc, char** argv) {
  MPI_Comm made;
  MPI_Init(&argc, &argv);
  pin_to_core(0);
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  for (unsigned i = 0; i < sizeof all_calls / sizeof all_calls[0]; ++i) {
    measure(&all_calls[i], "predefined", MPI_Comm_toint(MPI_COMM_SELF));
    measure(&all_calls[i], "made", MPI_Comm_toint(made));
  }
  MPI_Comm_free(&made);
  MPI_Finalize();
  return 0;
}

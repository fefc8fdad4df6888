/* Goal: where ranks call different collective operations as their n-th one on a communicator, or
 * one operation with different roots, each rank that waits ends with an error that says which call
 * two ranks have made, and no rank takes the data of another call for that of its own. (The program
 * is wrong. What cannot be known: docs/failures.md.)
 * Method: one rank makes its calls in another order than the rest, or with another root, on a
 * communicator that the case alone uses. Each call has bytes of its own. Where all ranks return is
 * checked by the time limit of the test. Arguments: the number of one case, its bytes, whether
 * the ranks have agreed on shared memory before, and a word if errors are fatal; without them all
 * cases run. */
#include <stdbool.h>

#include "check_all.h"

enum { bytes_max = 1 << 20, ranks_max = 8, barriers = 6 };
static unsigned char sent[ranks_max * bytes_max], received[ranks_max * bytes_max];
static unsigned char other_sent[ranks_max * bytes_max], other_received[ranks_max * bytes_max];

/* The byte that a rank contributes to a call. */
static unsigned char byte_of(int call, int rank) { return (unsigned char)(16 * call + rank + 1); }

typedef struct {
  MPI_Comm comm;
  int bytes;
  int root;
} where;

static void fill(unsigned char* data, int call, int bytes) {
  memset(data, byte_of(call, check_rank), (size_t)bytes * (size_t)check_size);
}

/* Each call returns its code, and checks what it has received. */
static int broadcast(where w) {
  const int call = 1;
  fill(sent, call, w.bytes);
  const int code = MPI_Bcast(sent, w.bytes, MPI_BYTE, w.root, w.comm);
  const unsigned char due = byte_of(call, w.root);
  if (code == MPI_SUCCESS)
    CHECK(sent[0] == due && sent[w.bytes - 1] == due, "bcast: %d, not %d", sent[0], due);
  return code;
}

static int barrier(where w) { return MPI_Barrier(w.comm); }

static int reduce_all(where w) {
  const int call = 3;
  fill(sent, call, w.bytes);
  const int code = MPI_Allreduce(sent, received, w.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, w.comm);
  const unsigned char due = byte_of(call, check_size - 1);
  if (code == MPI_SUCCESS)
    CHECK(received[0] == due && received[w.bytes - 1] == due, "allreduce: %d, not %d", received[0],
          due);
  return code;
}

static int reduce(where w) {
  const int call = 4;
  fill(sent, call, w.bytes);
  const int code = MPI_Reduce(sent, received, w.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, w.root, w.comm);
  const unsigned char due = byte_of(call, check_size - 1);
  if (code == MPI_SUCCESS && check_rank == w.root)
    CHECK(received[0] == due && received[w.bytes - 1] == due, "reduce: %d, not %d", received[0],
          due);
  return code;
}

/* After a call that gives each rank a block of each. */
static void check_blocks(where w, int call, const char* name) {
  for (int rank = 0; rank < check_size; ++rank) {
    const unsigned char due = byte_of(call, rank), is = received[(size_t)rank * (size_t)w.bytes];
    CHECK(is == due, "%s: %d, not %d", name, is, due);
  }
}

static int gather_to_all(where w) {
  const int call = 5;
  fill(sent, call, w.bytes);
  const int code = MPI_Allgather(sent, w.bytes, MPI_BYTE, received, w.bytes, MPI_BYTE, w.comm);
  if (code == MPI_SUCCESS) check_blocks(w, call, "allgather");
  return code;
}

static int exchange(where w) {
  const int call = 6;
  fill(sent, call, w.bytes);
  const int code = MPI_Alltoall(sent, w.bytes, MPI_BYTE, received, w.bytes, MPI_BYTE, w.comm);
  if (code == MPI_SUCCESS) check_blocks(w, call, "alltoall");
  return code;
}

static int gather(where w) {
  const int call = 7;
  fill(sent, call, w.bytes);
  return MPI_Gather(sent, w.bytes, MPI_BYTE, received, w.bytes, MPI_BYTE, w.root, w.comm);
}

static int scatter(where w) {
  const int call = 8;
  fill(sent, call, w.bytes);
  const int code =
      MPI_Scatter(sent, w.bytes, MPI_BYTE, received, w.bytes, MPI_BYTE, w.root, w.comm);
  if (code == MPI_SUCCESS) CHECK(received[0] == byte_of(call, w.root), "scatter: %d", received[0]);
  return code;
}

/* Non-blocking operations have buffers of their own, because they last longer. */
static int begin_barrier(where w, MPI_Request* r) { return MPI_Ibarrier(w.comm, r); }

static int begin_broadcast(where w, MPI_Request* r) {
  fill(other_sent, 9, w.bytes);
  return MPI_Ibcast(other_sent, w.bytes, MPI_BYTE, w.root, w.comm, r);
}

static int begin_reduce_all(where w, MPI_Request* r) {
  fill(other_sent, 10, w.bytes);
  return MPI_Iallreduce(other_sent, other_received, w.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, w.comm, r);
}

typedef int blocking(where w);
typedef int begun(where w, MPI_Request* r);

typedef struct {
  const char* name;
  blocking* first;
  blocking* second; /* null: `beside`, or the first one with another root */
  begun* beside;
} mistake;

static const mistake mistakes[] = {
    {"bcast, barrier", broadcast, barrier, NULL},
    {"allreduce, reduce", reduce_all, reduce, NULL},
    {"bcast, other root", broadcast, NULL, NULL},
    {"allgather, alltoall", gather_to_all, exchange, NULL},
    {"allreduce, bcast", reduce_all, broadcast, NULL},
    {"gather, scatter", gather, scatter, NULL},
    {"reduce, other root", reduce, NULL, NULL},
    {"bcast beside ibarrier", broadcast, NULL, begin_barrier},
    {"barrier beside ibcast", barrier, NULL, begin_broadcast},
    {"allreduce beside ibarrier", reduce_all, NULL, begin_barrier},
    {"barrier beside iallreduce", barrier, NULL, begin_reduce_all},
};
enum { mistakes_count = sizeof mistakes / sizeof *mistakes };

static int failed;

static void note(const mistake* m, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  failed = 1;
  MPI_Error_string(code, text, &length);
  const char* first = strstr(text, " calls MPI_");
  CHECK(first && strstr(first + 1, " MPI_"), "%s: '%s'", m->name, text);
}

static void make_calls(const mistake* m, where w, bool other) {
  if (m->second) {
    note(m, (other ? m->second : m->first)(w));
    note(m, (other ? m->first : m->second)(w));
  } else if (m->beside) {
    MPI_Request r = MPI_REQUEST_NULL;
    if (other) note(m, m->beside(w, &r));
    note(m, m->first(w));
    if (!other) note(m, m->beside(w, &r));
    note(m, MPI_Wait(&r, MPI_STATUS_IGNORE));
  } else {
    w.root = other ? 1 : 0;
    note(m, m->first(w));
    note(m, barrier(w)); /* where the ranks learn of it that have not waited before */
  }
}

static void make(const mistake* m, int bytes, int other, bool has_memory, bool is_fatal) {
  where w = {.bytes = bytes, .root = 0};
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &w.comm));
  if (!is_fatal) MPI_Comm_set_errhandler(w.comm, MPI_ERRORS_RETURN);
  for (int i = 0; has_memory && i < barriers; ++i) CHECK_OK(MPI_Barrier(w.comm));
  failed = 0;
  make_calls(m, w, check_rank == other);
  int any = 0;
  CHECK_OK(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(any, "%s with %d bytes, rank %d otherwise%s: no error", m->name, bytes, other,
        has_memory ? ", in shared memory" : "");
  CHECK_OK(MPI_Comm_free(&w.comm));
}

int main(int argc, char** argv) {
  static const int sizes[] = {8, 4096, 65536, bytes_max};
  check_start(&argc, &argv);
  if (argc > 3) {
    make(&mistakes[atoi(argv[1])], atoi(argv[2]), check_size - 1, atoi(argv[3]), argc > 4);
  } else {
    for (int m = 0; m < mistakes_count; ++m)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int has_memory = 0; has_memory < 2; ++has_memory)
          make(&mistakes[m], sizes[s], s % 2 == 0 ? check_size - 1 : 0, has_memory, false);
  }
  return check_end("kinds");
}

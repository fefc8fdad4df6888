/* Goal: persistent collective operations give every rank its result at each start, whatever the
 * order in which each rank starts them and waits for them, beside other operations, also where
 * there are more of them than have memory of their own, and while a rank makes no call.
 * Method: requests of several operations and lengths, started and waited for in another order on
 * each rank, freed and made again in the place of others. */
#include <stdbool.h>
#include <unistd.h>

#include "patterns.h"
#include "watched.h"

enum { many = 80, length_max = 40000, kinds = 6 };

/* A persistent operation with its buffers. */
struct operation {
  int kind, root, length;
  long *from, *into;
  MPI_Request request;
};

static void make(struct operation* o, MPI_Comm comm, int number, int length) {
  *o = (struct operation){.kind = number % kinds, .root = number % check_size, .length = length};
  const size_t room = sizeof(long) * (size_t)length * (size_t)check_size;
  o->from = calloc(1, room);
  o->into = calloc(1, room);
  long *f = o->from, *t = o->into;
  const int n = length;
  MPI_Request* r = &o->request;
  switch (o->kind) {
    case 0:
      CHECK_OK(MPI_Allreduce_init(f, t, n, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, r));
      break;
    case 1:
      CHECK_OK(MPI_Bcast_init(t, n, MPI_LONG, o->root, comm, MPI_INFO_NULL, r));
      break;
    case 2:
      CHECK_OK(MPI_Allgather_init(f, n, MPI_LONG, t, n, MPI_LONG, comm, MPI_INFO_NULL, r));
      break;
    case 3:
      CHECK_OK(MPI_Alltoall_init(f, n, MPI_LONG, t, n, MPI_LONG, comm, MPI_INFO_NULL, r));
      break;
    case 4:
      CHECK_OK(MPI_Scan_init(f, t, n, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, r));
      break;
    default:
      CHECK_OK(MPI_Reduce_init(f, t, n, MPI_LONG, MPI_SUM, o->root, comm, MPI_INFO_NULL, r));
  }
}

static void prepare(struct operation* o, int round) {
  for (int block = 0; block < check_size; ++block)
    for (int i = 0; i < o->length; ++i)
      o->from[block * o->length + i] = value_of(check_rank, block + round, i);
  memset(o->into, 0x5a, sizeof(long) * (size_t)o->length * (size_t)check_size);
  if (o->kind == 1 && check_rank == o->root)
    memcpy(o->into, o->from, sizeof(long) * (size_t)o->length);
}

/* The sum over ranks 0 ... last, of element i. */
static long sum_to(int last, int i, int round) {
  long sum = 0;
  for (int rank = 0; rank <= last; ++rank) sum += value_of(rank, round, i);
  return sum;
}

/* What is due at element i of the block from `rank`. */
static long due(const struct operation* o, int rank, int i, int round) {
  switch (o->kind) {
    case 1:
      return value_of(o->root, round, i);
    case 2:
      return value_of(rank, round, i);
    case 3:
      return value_of(rank, check_rank + round, i);
    default:
      return sum_to(o->kind == 4 ? check_rank : check_size - 1, i, round);
  }
}

static void check(const struct operation* o, int round) {
  if (o->kind == 5 && check_rank != o->root) return;
  const int blocks = o->kind == 2 || o->kind == 3 ? check_size : 1;
  for (int rank = 0; rank < blocks; ++rank)
    for (int i = 0; i < o->length; ++i) {
      const long is = o->into[rank * o->length + i], should = due(o, rank, i, round);
      if (is == should) continue;
      CHECK(false, "kind %d, %d elements, round %d: element %d of %d is %ld, not %ld", o->kind,
            o->length, round, i, rank, is, should);
      return;
    }
}

static void end(struct operation* o) {
  CHECK_OK(MPI_Request_free(&o->request));
  free(o->from);
  free(o->into);
}

static int length_of(int number) {
  const int lengths[] = {1, 4, 5, 100, 1, 1300, 1, 7000, 2};
  return number % 37 == 36 ? length_max / check_size : lengths[number % 9];
}

/* Each rank has its own order; `step` and `many` share no factor, so that each is there once. */
static int in_order(int k, int step) { return (k * step + check_rank * 13) % many; }

static void in_any_order(MPI_Comm comm) {
  static struct operation all[many];
  const int steps[] = {1, 3, 7, 9, 79};
  for (int i = 0; i < many; ++i) make(&all[i], comm, i, length_of(i));
  for (int round = 0; round < 6; ++round) {
    long one = 1, sum = 0;
    MPI_Request beside;
    for (int i = 0; i < many; ++i) prepare(&all[i], round);
    CHECK_OK(MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm, &beside));
    for (int k = 0; k < many; ++k)
      CHECK_OK(MPI_Start(&all[in_order(k, steps[(round + check_rank) % 5])].request));
    CHECK_OK(MPI_Barrier(comm));
    for (int k = 0; k < many; ++k) {
      struct operation* o = &all[in_order(k, steps[(round + 2 * check_rank) % 5])];
      int done = 0;
      if (k % 3 == 0)
        while (!done) CHECK_OK(MPI_Test(&o->request, &done, MPI_STATUS_IGNORE));
      CHECK_OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
      check(o, round);
    }
    CHECK_OK(MPI_Wait(&beside, MPI_STATUS_IGNORE));
    CHECK(sum == check_size, "the sum beside is %ld", sum);
    /* Some are freed, in another order on each rank, and others take their place. */
    for (int k = 0; k < many; ++k) {
      const int i = in_order(k, 3);
      if (i % 4 == round % 4) end(&all[i]);
    }
    for (int i = round % 4; i < many; i += 4) make(&all[i], comm, i + round, length_of(i + round));
  }
  for (int i = 0; i < many; ++i) end(&all[i]);
}

/* One after the other, one rank ahead of the others. */
static void again_and_again(MPI_Comm comm) {
  for (int kind = 0; kind < kinds; ++kind)
    for (int length = 1; length <= 10000; length *= 10) {
      struct operation o;
      make(&o, comm, kind + kinds * check_size, length);
      for (int round = 0; round < 20; ++round) {
        prepare(&o, round);
        if (check_rank == round % check_size) usleep(100);
        CHECK_OK(MPI_Start(&o.request));
        CHECK_OK(MPI_Wait(&o.request, MPI_STATUS_IGNORE));
        check(&o, round);
      }
      end(&o);
    }
}

/* Ends by the timeout of the test if the operation waits for a call of this rank. */
static void while_a_rank_makes_no_call(MPI_Comm comm) {
  struct operation o;
  make(&o, comm, 0, 1000);
  prepare(&o, 0);
  for (int round = 0; round < 3; ++round) {
    if (check_rank != 0) usleep(20000); /* behind rank 0 */
    CHECK_OK(MPI_Start(&o.request));
    const long* const last = &o.into[o.length - 1];
    if (check_rank == 0)
      while (watched_long(last) != due(&o, 0, o.length - 1, 0)) usleep(100);
    CHECK_OK(MPI_Wait(&o.request, MPI_STATUS_IGNORE));
    check(&o, 0);
    prepare(&o, 0);
  }
  end(&o);
}

/* The first operation of a communicator, whose handle is freed before it is started. */
static void on_a_new_communicator(void) {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm;
    struct operation o;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make(&o, comm, i, 10);
    MPI_Comm_free(&comm);
    for (int round = 0; round < 3; ++round) {
      prepare(&o, round);
      CHECK_OK(MPI_Start(&o.request));
      CHECK_OK(MPI_Wait(&o.request, MPI_STATUS_IGNORE));
      check(&o, round);
    }
    end(&o);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  in_any_order(MPI_COMM_WORLD);
  again_and_again(MPI_COMM_WORLD);
  while_a_rank_makes_no_call(MPI_COMM_WORLD);
  on_a_new_communicator();
  return check_end("persistent");
}

/* Goal: every collective that moves data puts each block in its place, in each of its forms:
 * blocking, non-blocking and persistent; any root and layout, random lengths; in place where
 * allowed.
 * Method: a call is described once and made in all three forms. */
#include "forms.h"
#include "patterns.h"

static const struct layout *from, *to;
enum { random_counts = 3 };
static long count;
static enum form form;
static MPI_Comm comm;

#define HOLDS(buffer, first, n, rank, block)                                                      \
  CHECK(holds(buffer, to, first, n, rank, block), "%ld elements, %s to %s, form %d, block of %d", \
        count, from->name, to->name, (int)form, rank)

static void test_bcast(int root) {
  const struct layout* mine = check_rank % 2 ? from : to;
  long* b = new_buffer(mine, count);
  if (check_rank == root) fill(b, mine, 0, count, root, 7);
  RUN(form, Bcast, Ibcast, b, count, mine->type, root, comm);
  CHECK(holds(b, mine, 0, count, root, 7), "bcast of %ld from %d", count, root);
  free(b);
}

static void test_gather(int root, int in_place) {
  long *s = new_buffer(from, count), *a = new_buffer(to, count * check_size);
  fill(s, from, 0, count, check_rank, 1);
  const void* send = s;
  if (in_place && check_rank == root) {
    fill(a, to, count * root, count, root, 1);
    send = MPI_IN_PLACE;
  }
  RUN(form, Gather, Igather, send, count, from->type, a, count, to->type, root, comm);
  for (int i = 0; check_rank == root && i < check_size; ++i) HOLDS(a, i * count, count, i, 1);
  free(s);
  free(a);
}

static void test_scatter(int root, int in_place) {
  long *a = new_buffer(from, count * check_size), *b = new_buffer(to, count);
  for (int i = 0; i < check_size; ++i) fill(a, from, i * count, count, root, i);
  void* receive = in_place && check_rank == root ? MPI_IN_PLACE : b;
  RUN(form, Scatter, Iscatter, a, count, from->type, receive, count, to->type, root, comm);
  if (receive == b) HOLDS(b, 0, count, root, check_rank);
  free(a);
  free(b);
}

static void test_allgather(int in_place) {
  long *s = new_buffer(from, count), *a = new_buffer(to, count * check_size);
  fill(s, from, 0, count, check_rank, 2);
  if (in_place) fill(a, to, count * check_rank, count, check_rank, 2);
  const void* send = in_place ? MPI_IN_PLACE : s;
  RUN(form, Allgather, Iallgather, send, count, from->type, a, count, to->type, comm);
  for (int i = 0; i < check_size; ++i) HOLDS(a, i * count, count, i, 2);
  free(s);
  free(a);
}

static void test_alltoall(int in_place) {
  long *s = new_buffer(from, count * check_size), *a = new_buffer(to, count * check_size);
  for (int i = 0; i < check_size; ++i) fill(s, from, i * count, count, check_rank, i);
  for (int i = 0; in_place && i < check_size; ++i) fill(a, to, i * count, count, check_rank, i);
  const void* send = in_place ? MPI_IN_PLACE : s;
  RUN(form, Alltoall, Ialltoall, send, count, from->type, a, count, to->type, comm);
  /* In place, the second start sends back what the first one brought. */
  const int back = in_place && form == persistent;
  for (int i = 0; i < check_size; ++i)
    HOLDS(a, i * count, count, back ? check_rank : i, back ? i : check_rank);
  free(s);
  free(a);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  struct layout all[LAYOUTS];
  make_layouts(all);
  comm = MPI_COMM_WORLD;
  srand(20261126); /* the same counts on all ranks */
  for (int f = 0; f < LAYOUTS * LAYOUTS; ++f) {
    from = &all[f % LAYOUTS];
    to = &all[f / LAYOUTS];
    for (int c = 0; c < COUNTS_TRIED + random_counts; ++c) {
      count = c < COUNTS_TRIED ? counts_tried[c] : rand() % 3000;
      if (count > 1000 && f % (LAYOUTS + 1) != 0) continue;
      form = (enum form)((f + c) % forms);
      const int root = (f + 2 * c) % check_size;
      test_bcast(root);
      for (int in_place = 0; in_place < 2; ++in_place) {
        test_gather(root, in_place);
        test_scatter(root, in_place);
        test_allgather(in_place);
        test_alltoall(in_place);
      }
    }
  }
  free_layouts(all);
  return check_end("moving");
}

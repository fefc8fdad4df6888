/* Goal: the v and w forms respect each rank's own count, place and type, empty ones included.
 * Method: rank i has length(i, j) elements for rank j; blocks lie in reverse order with gaps. */
#include "patterns.h"

static int length(int i, int j) { return (i * 3 + j * 5) % 4 * ((i + j) % 2 ? 100 : 1); }

struct row {
  int *counts, *places;
  long total;
};

static struct row new_row(int mine, int sending) {
  struct row r = {malloc(sizeof(int) * check_size), malloc(sizeof(int) * check_size), 0};
  for (int i = check_size; i-- > 0;) {
    r.counts[i] = sending ? length(mine, i) : length(i, mine);
    r.places[i] = (int)r.total;
    r.total += r.counts[i] + 2;
  }
  return r;
}

static void free_row(struct row* r) {
  free(r->counts);
  free(r->places);
}

static void test_gatherv(const struct layout* from, const struct layout* to, int root, int wait) {
  struct row in = new_row(root, 0);
  const int mine = length(check_rank, root);
  long *s = new_buffer(from, mine), *a = new_buffer(to, in.total);
  fill(s, from, 0, mine, check_rank, 3);
  const int is_root = check_rank == root;
  if (wait) {
    CHECK_OK(MPI_Gatherv(s, mine, from->type, a, is_root ? in.counts : NULL,
                         is_root ? in.places : NULL, to->type, root, MPI_COMM_WORLD));
  } else {
    MPI_Request r;
    CHECK_OK(MPI_Igatherv(s, mine, from->type, a, in.counts, in.places, to->type, root,
                          MPI_COMM_WORLD, &r));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  for (int i = 0; is_root && i < check_size; ++i)
    CHECK(holds(a, to, in.places[i], in.counts[i], i, 3), "gatherv, block of %d", i);
  long* back = new_buffer(from, mine);
  CHECK_OK(MPI_Scatterv(a, in.counts, in.places, to->type, back, mine, from->type, root,
                        MPI_COMM_WORLD));
  CHECK(holds(back, from, 0, mine, check_rank, 3), "scatterv");
  free(s);
  free(a);
  free(back);
  free_row(&in);
}

static void test_allgatherv(const struct layout* from, const struct layout* to, int in_place) {
  struct row in = new_row(1, 0);
  const int mine = length(check_rank, 1);
  long *s = new_buffer(from, mine), *a = new_buffer(to, in.total);
  fill(s, from, 0, mine, check_rank, 4);
  if (in_place) fill(a, to, in.places[check_rank], mine, check_rank, 4);
  CHECK_OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : s, mine, from->type, a, in.counts, in.places,
                          to->type, MPI_COMM_WORLD));
  for (int i = 0; i < check_size; ++i)
    CHECK(holds(a, to, in.places[i], in.counts[i], i, 4), "allgatherv, block of %d", i);
  free(s);
  free(a);
  free_row(&in);
}

static void test_alltoallv(const struct layout* from, const struct layout* to, int wait) {
  struct row out = new_row(check_rank, 1), in = new_row(check_rank, 0);
  long *s = new_buffer(from, out.total), *a = new_buffer(to, in.total);
  for (int i = 0; i < check_size; ++i) fill(s, from, out.places[i], out.counts[i], check_rank, i);
  MPI_Request r;
  if (wait) {
    CHECK_OK(MPI_Alltoallv(s, out.counts, out.places, from->type, a, in.counts, in.places, to->type,
                           MPI_COMM_WORLD));
  } else {
    CHECK_OK(MPI_Ialltoallv(s, out.counts, out.places, from->type, a, in.counts, in.places,
                            to->type, MPI_COMM_WORLD, &r));
    /* The arrays are not needed any more: the standard says they are, we copy them anyway. */
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < check_size; ++i)
    CHECK(holds(a, to, in.places[i], in.counts[i], i, check_rank), "alltoallv, block of %d", i);
  free(s);
  free(a);
  free_row(&out);
  free_row(&in);
}

static void test_alltoallw(struct layout* all, int wait) {
  struct row out = new_row(check_rank, 1), in = new_row(check_rank, 0);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * check_size);
  long** blocks = malloc(sizeof(long*) * check_size);
  /* Everything lies in one arena; places are bytes from its start. */
  const long room = 3 * 400;
  long* s = malloc(sizeof(long) * room * (check_size + 1));
  long* a = malloc(sizeof(long) * room * (check_size + 1));
  for (int i = 0; i < check_size; ++i) {
    const struct layout* l = &all[(i + check_rank) % LAYOUTS];
    types[i] = l->type;
    out.places[i] = in.places[i] = (int)((check_size - 1 - i) * room * sizeof(long));
    fill(s + (check_size - 1 - i) * room, l, 0, out.counts[i], check_rank, i);
    blocks[i] = a + (check_size - 1 - i) * room;
  }
  if (wait) {
    CHECK_OK(MPI_Alltoallw(s, out.counts, out.places, types, a, in.counts, in.places, types,
                           MPI_COMM_WORLD));
  } else {
    MPI_Request r;
    CHECK_OK(MPI_Ialltoallw(s, out.counts, out.places, types, a, in.counts, in.places, types,
                            MPI_COMM_WORLD, &r));
    CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < check_size; ++i)
    CHECK(holds(blocks[i], &all[(i + check_rank) % LAYOUTS], 0, in.counts[i], i, check_rank),
          "alltoallw, block of %d", i);
  free(s);
  free(a);
  free(types);
  free(blocks);
  free_row(&out);
  free_row(&in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  struct layout all[LAYOUTS];
  make_layouts(all);
  for (int f = 0; f < LAYOUTS * LAYOUTS; ++f) {
    const struct layout *from = &all[f % LAYOUTS], *to = &all[f / LAYOUTS];
    for (int root = 0; root < check_size; ++root) test_gatherv(from, to, root, root % 2);
    for (int flag = 0; flag < 2; ++flag) {
      test_allgatherv(from, to, flag);
      test_alltoallv(from, to, flag);
      test_alltoallw(all, flag);
    }
  }
  free_layouts(all);
  return check_end("varying");
}

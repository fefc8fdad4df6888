/* Goal: the v and w forms respect each rank's own count, place and type, empty ones included, in
 * each of their forms, in place or not.
 * Method: rank i has length(i, j) elements for rank j, which all ranks draw alike; blocks lie in
 * reverse order with gaps. */
#include "forms.h"
#include "patterns.h"

enum { length_max = 400 };
static const struct layout *from, *to;
static unsigned round_number; /* its lengths */
static int in_place;
static enum form form;

/* In place, a rank gets back as much as it sends. */
static int length(int i, int j) {
  const unsigned a = (unsigned)(in_place && j < i ? j : i);
  const unsigned b = (unsigned)(in_place && j < i ? i : j);
  unsigned x = (round_number * 16 + a) * 16 + b + 1;
  x = (x ^ x >> 7) * 2654435761u;
  x ^= x >> 15;
  return x % 3 == 0 ? 0 : (int)(x / 3 % (x % 3 == 1 ? 8 : length_max));
}

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

#define HOLDS(what, buffer, layout, first, n, rank, block)                                    \
  CHECK(holds(buffer, layout, first, n, rank, block), "%s, round %u, form %d%s, block of %d", \
        what, round_number, (int)form, in_place ? ", in place" : "", rank)

static void test_gatherv(int root) {
  struct row in = new_row(root, 0);
  const int mine = length(check_rank, root), is_root = check_rank == root;
  const int* counts = is_root ? in.counts : NULL;
  const int* places = is_root ? in.places : NULL;
  long *s = new_buffer(from, mine), *a = new_buffer(to, in.total), *b = new_buffer(from, mine);
  fill(s, from, 0, mine, check_rank, 3);
  if (is_root && in_place) fill(a, to, in.places[root], mine, root, 3);
  const void* send = is_root && in_place ? MPI_IN_PLACE : s;
  RUN(form, Gatherv, Igatherv, send, mine, from->type, a, counts, places, to->type, root,
      MPI_COMM_WORLD);
  for (int i = 0; is_root && i < check_size; ++i)
    HOLDS("gatherv", a, to, in.places[i], in.counts[i], i, 3);
  void* receive = is_root && in_place ? MPI_IN_PLACE : b;
  RUN(form, Scatterv, Iscatterv, a, counts, places, to->type, receive, mine, from->type, root,
      MPI_COMM_WORLD);
  if (receive == b) HOLDS("scatterv", b, from, 0, mine, check_rank, 3);
  free(s);
  free(a);
  free(b);
  free_row(&in);
}

static void test_allgatherv(void) {
  struct row in = new_row(1, 0);
  const int mine = length(check_rank, 1);
  long *s = new_buffer(from, mine), *a = new_buffer(to, in.total);
  fill(s, from, 0, mine, check_rank, 4);
  if (in_place) fill(a, to, in.places[check_rank], mine, check_rank, 4);
  const void* send = in_place ? MPI_IN_PLACE : s;
  RUN(form, Allgatherv, Iallgatherv, send, mine, from->type, a, in.counts, in.places, to->type,
      MPI_COMM_WORLD);
  for (int i = 0; i < check_size; ++i) HOLDS("allgatherv", a, to, in.places[i], in.counts[i], i, 4);
  free(s);
  free(a);
  free_row(&in);
}

/* What a block has been made of: in place, the second start sends back what the first one brought.
 */
static int origin(int sender) { return in_place && form == persistent ? check_rank : sender; }
static int target(int sender) { return in_place && form == persistent ? sender : check_rank; }

static void test_alltoallv(void) {
  struct row out = new_row(check_rank, 1), in = new_row(check_rank, 0);
  long *s = new_buffer(from, out.total), *a = new_buffer(to, in.total);
  for (int i = 0; i < check_size; ++i) {
    fill(s, from, out.places[i], out.counts[i], check_rank, i);
    if (in_place) fill(a, to, in.places[i], in.counts[i], check_rank, i);
  }
  const void* send = in_place ? MPI_IN_PLACE : s;
  RUN(form, Alltoallv, Ialltoallv, send, out.counts, out.places, from->type, a, in.counts,
      in.places, to->type, MPI_COMM_WORLD);
  for (int i = 0; i < check_size; ++i)
    HOLDS("alltoallv", a, to, in.places[i], in.counts[i], origin(i), target(i));
  free(s);
  free(a);
  free_row(&out);
  free_row(&in);
}

/* Both ends of a block have the same type. */
static void test_alltoallw(const struct layout* all) {
  struct row out = new_row(check_rank, 1), in = new_row(check_rank, 0);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * check_size);
  /* Everything lies in one arena; places are bytes from its start. */
  const long room = 3 * length_max;
  long* s = malloc(sizeof(long) * room * (check_size + 1));
  long* a = malloc(sizeof(long) * room * (check_size + 1));
  for (int i = 0; i < check_size; ++i) {
    const struct layout* l = &all[(i + check_rank) % LAYOUTS];
    const long place = (check_size - 1 - i) * room;
    types[i] = l->type;
    out.places[i] = in.places[i] = (int)(place * (long)sizeof(long));
    fill(s + place, l, 0, out.counts[i], check_rank, i);
    if (in_place) fill(a + place, l, 0, in.counts[i], check_rank, i);
  }
  const void* send = in_place ? MPI_IN_PLACE : s;
  RUN(form, Alltoallw, Ialltoallw, send, out.counts, out.places, types, a, in.counts, in.places,
      types, MPI_COMM_WORLD);
  for (int i = 0; i < check_size; ++i)
    HOLDS("alltoallw", a + (check_size - 1 - i) * room, &all[(i + check_rank) % LAYOUTS], 0,
          in.counts[i], origin(i), target(i));
  free(s);
  free(a);
  free(types);
  free_row(&out);
  free_row(&in);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  struct layout all[LAYOUTS];
  make_layouts(all);
  for (int f = 0; f < LAYOUTS * LAYOUTS; ++f) {
    from = &all[f % LAYOUTS];
    to = &all[f / LAYOUTS];
    for (int way = 0; way < 2 * forms; ++way, ++round_number) {
      form = (enum form)(way / 2);
      in_place = way % 2;
      for (int root = 0; root < check_size; ++root) test_gatherv(root);
      test_allgatherv();
      test_alltoallv();
      test_alltoallw(all);
    }
  }
  free_layouts(all);
  return check_end("varying");
}

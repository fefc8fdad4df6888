/* Goal: Cartesian topologies return what was passed, ranks and coordinates agree, shifts end or
 * wrap around, parts and copies have the right topology, others have none. */
#include "check_all.h"

enum { dims_max = 3 };

/* Row by row, as the standard numbers ranks. */
static int rank_at(int ndims, const int* dims, const int* coords) {
  int rank = 0;
  for (int d = 0; d < ndims; ++d) rank = rank * dims[d] + coords[d];
  return rank;
}

static int product(int ndims, const int* dims) {
  int all = 1;
  for (int d = 0; d < ndims; ++d) all *= dims[d];
  return all;
}

static void check_kind(MPI_Comm comm, int wanted) {
  int kind = -1;
  CHECK_OK(MPI_Topo_test(comm, &kind));
  CHECK(kind == wanted, "topology %d instead of %d", kind, wanted);
}

static void check_shifts(MPI_Comm comm, int ndims, const int* dims, const int* periods,
                         const int* coords) {
  for (int d = 0; d < ndims; ++d) {
    for (int by = -2 * dims[d] - 1; by <= 2 * dims[d] + 1; ++by) {
      int wanted[2], found[2] = {-99, -99};
      for (int side = 0; side < 2; ++side) {
        int there[dims_max];
        memcpy(there, coords, sizeof there);
        there[d] += side ? by : -by;
        const int inside = there[d] >= 0 && there[d] < dims[d];
        there[d] = (there[d] % dims[d] + dims[d]) % dims[d];
        wanted[side] = inside || periods[d] ? rank_at(ndims, dims, there) : MPI_PROC_NULL;
      }
      CHECK_OK(MPI_Cart_shift(comm, d, by, &found[0], &found[1]));
      CHECK(found[0] == wanted[0] && found[1] == wanted[1], "by %d in %d: %d and %d, not %d and %d",
            by, d, found[0], found[1], wanted[0], wanted[1]);
    }
  }
}

static void check_grid(MPI_Comm comm, int ndims, const int* dims, const int* periods) {
  int count = -1, told[dims_max], told_periods[dims_max], coords[dims_max] = {0}, rank, size, r;
  check_kind(comm, MPI_CART);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(size == product(ndims, dims), "%d ranks", size);
  CHECK_OK(MPI_Cartdim_get(comm, &count));
  CHECK(count == ndims, "%d dimensions", count);
  CHECK_OK(MPI_Cart_get(comm, ndims, told, told_periods, coords));
  for (int d = 0; d < ndims; ++d)
    CHECK(told[d] == dims[d] && told_periods[d] == !!periods[d], "dimension %d", d);
  CHECK(rank_at(ndims, dims, coords) == rank, "own coordinates");
  for (int i = 0; i < size; ++i) {
    int there[dims_max];
    CHECK_OK(MPI_Cart_coords(comm, i, ndims, there));
    CHECK(rank_at(ndims, dims, there) == i, "coordinates of %d", i);
    for (int d = 0; d < ndims; ++d)
      if (periods[d]) there[d] += (d % 2 ? 3 : -3) * dims[d];
    CHECK_OK(MPI_Cart_rank(comm, there, &r));
    CHECK(r == i, "rank %d instead of %d", r, i);
  }
  check_shifts(comm, ndims, dims, periods, coords);
}

static void check_part(MPI_Comm comm, int ndims, const int* dims, const int* periods, int remain) {
  int kept[dims_max], part_dims[dims_max], part_periods[dims_max], coords[dims_max], count = 0, sum;
  MPI_Comm part;
  CHECK_OK(MPI_Cart_get(comm, ndims, part_dims, part_periods, coords));
  int others = 0; /* a number for the coordinates that do not remain */
  for (int d = 0; d < ndims; ++d) {
    kept[d] = remain >> d & 1;
    if (!kept[d]) others = others * dims[d] + coords[d];
    if (kept[d]) part_periods[count] = periods[d];
    if (kept[d]) part_dims[count++] = dims[d];
  }
  CHECK_OK(MPI_Cart_sub(comm, kept, &part));
  check_grid(part, count, part_dims, part_periods);
  int size;
  MPI_Comm_size(part, &size);
  CHECK_OK(MPI_Allreduce(&others, &sum, 1, MPI_INT, MPI_SUM, part));
  CHECK(sum == others * size, "the part has ranks of other coordinates");
  MPI_Comm_free(&part);
}

static void check_copies(MPI_Comm comm, int ndims, const int* dims, const int* periods) {
  MPI_Comm copy;
  MPI_Request r;
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  check_grid(copy, ndims, dims, periods);
  MPI_Comm_free(&copy);
  CHECK_OK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy));
  check_grid(copy, ndims, dims, periods);
  MPI_Comm_free(&copy);
  CHECK_OK(MPI_Comm_idup(comm, &copy, &r));
  CHECK_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
  check_grid(copy, ndims, dims, periods);
  MPI_Comm_free(&copy);
  CHECK_OK(MPI_Comm_split(comm, 0, 0, &copy));
  check_kind(copy, MPI_UNDEFINED);
  MPI_Comm_free(&copy);
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  CHECK_OK(MPI_Comm_create(comm, group, &copy));
  check_kind(copy, MPI_UNDEFINED);
  MPI_Comm_free(&copy);
  MPI_Group_free(&group);
}

static void test_grid(int ndims, const int* dims, const int* periods, int reorder) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int mapped = -1;
  CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &mapped));
  CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &comm));
  const int inside = check_rank < product(ndims, dims);
  CHECK((mapped == MPI_UNDEFINED) == !inside && (!inside || mapped == check_rank),
        "mapped to %d though all ranks are on one node", mapped);
  CHECK((comm != MPI_COMM_NULL) == inside, "of a grid of %d", product(ndims, dims));
  if (comm == MPI_COMM_NULL) return;
  if (!reorder) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    CHECK(rank == check_rank, "rank %d", rank);
  }
  check_grid(comm, ndims, dims, periods);
  check_copies(comm, ndims, dims, periods);
  for (int remain = 0; remain < 1 << ndims; ++remain)
    check_part(comm, ndims, dims, periods, remain);
  MPI_Comm_free(&comm);
}

static int copied;
static int copy_nothing(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  ++copied;
  return MPI_SUCCESS;
}

/* A new topology takes over the error handler, but no attribute and no name. */
static void test_what_is_inherited(void) {
  MPI_Comm parent, comm;
  MPI_Errhandler handler;
  int key, length, flag, ring = 1;
  char name[MPI_MAX_OBJECT_NAME];
  void* value;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  MPI_Comm_set_name(parent, "parent");
  MPI_Comm_create_keyval(copy_nothing, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(parent, key, &copied);
  CHECK_OK(MPI_Cart_create(parent, 1, &check_size, &ring, 0, &comm));
  CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
  CHECK(!flag && copied == 0, "an attribute was copied");
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK(length == 0, "it is called '%s'", name);
  CHECK_OK(MPI_Comm_get_errhandler(comm, &handler));
  CHECK(handler == MPI_ERRORS_RETURN, "another error handler");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&parent);
}

static void test_refusals(void) {
  MPI_Comm comm, plain = MPI_COMM_WORLD, kept;
  int one = 1, two[2] = {1, 1}, some[2], more, rank;
  MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Cart_create(plain, -1, &one, &one, 0, &comm), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(plain, 1, (int[]){0}, &one, 0, &comm), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(plain, 2, (int[]){-1, -1}, two, 0, &comm), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(plain, 1, (int[]){check_size + 1}, &one, 0, &comm), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(plain, 2, (int[]){65536, 65536}, two, 0, &comm), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_create(plain, 1, NULL, &one, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_create(plain, 1, &one, NULL, 0, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_create(MPI_COMM_NULL, 1, &one, &one, 0, &comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Cart_map(plain, 1, (int[]){check_size + 1}, &one, &rank), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cartdim_get(plain, &more), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_get(plain, 1, some, some, some), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_rank(plain, &one, &rank), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_coords(plain, 0, 1, some), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_shift(plain, 0, 1, &rank, &more), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Cart_sub(plain, &one, &kept), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Graphdims_get(plain, &rank, &more), MPI_ERR_TOPOLOGY);

  CHECK_OK(MPI_Cart_create(plain, 2, (int[]){check_size, 1}, (int[]){0, 1}, 0, &comm));
  CHECK_CLASS(MPI_Cart_rank(comm, (int[]){check_size, 0}, &rank), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_rank(comm, (int[]){-1, 0}, &rank), MPI_ERR_ARG);
  CHECK_OK(MPI_Cart_rank(comm, (int[]){0, -7}, &rank));
  CHECK_CLASS(MPI_Cart_rank(comm, NULL, &rank), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_coords(comm, check_size, 2, some), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Cart_coords(comm, -1, 2, some), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Cart_coords(comm, 0, -1, some), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Cart_shift(comm, 2, 1, &rank, &more), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_shift(comm, -1, 1, &rank, &more), MPI_ERR_DIMS);
  CHECK_CLASS(MPI_Cart_sub(comm, NULL, &kept), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Graph_neighbors_count(comm, 0, &more), MPI_ERR_TOPOLOGY);
  CHECK_CLASS(MPI_Dist_graph_neighbors_count(comm, &rank, &more, &one), MPI_ERR_TOPOLOGY);
  some[1] = 77;
  CHECK_OK(MPI_Cart_coords(comm, check_size - 1, 1, some));
  CHECK(some[0] == check_size - 1 && some[1] == 77, "the first part only: %d, %d", some[0],
        some[1]);
  MPI_Comm_free(&comm);

  CHECK_OK(MPI_Cart_create(plain, 0, NULL, NULL, 0, &comm));
  CHECK((comm != MPI_COMM_NULL) == (check_rank == 0), "the zero-dimensional grid has one rank");
  if (comm == MPI_COMM_NULL) return;
  CHECK_CLASS(MPI_Cart_shift(comm, 0, 1, &rank, &more), MPI_ERR_DIMS);
  CHECK_OK(MPI_Cart_rank(comm, NULL, &rank));
  CHECK(rank == 0, "rank %d", rank);
  CHECK_OK(MPI_Cart_sub(comm, NULL, &kept));
  check_grid(kept, 0, NULL, NULL);
  MPI_Comm_free(&kept);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int a = 1; a <= check_size; ++a) {
    for (int b = 1; a * b <= check_size; ++b) {
      for (int c = 1; a * b * c <= check_size; ++c) {
        const int dims[dims_max] = {a, b, c}, ndims = c > 1 ? 3 : b > 1 ? 2 : 1;
        const int closed = (a + b + c) % 8,
                  periods[dims_max] = {closed & 1, closed & 2, closed & 4};
        test_grid(ndims, dims, periods, a % 2);
      }
    }
  }
  test_grid(0, NULL, NULL, 0);
  test_what_is_inherited();
  test_refusals();
  return check_end("grids");
}

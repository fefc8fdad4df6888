/* Goal: inter-communicators of all origins have the groups that they should have, carry messages
 * to the remote group alone, and become one communicator again by MPI_Intercomm_merge. */
#include "two_groups.h"

static int same_group(MPI_Group group, const int* world_ranks, int count) {
  MPI_Group world;
  int size, same = 1;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &size);
  for (int i = 0; same && i < size; ++i) {
    int rank;
    MPI_Group_translate_ranks(group, 1, &i, world, &rank);
    same = size == count && rank == world_ranks[i];
  }
  MPI_Group_free(&world);
  return same && size == count;
}

/* `mine` and `others`: world ranks of both groups. */
static void check_groups(MPI_Comm inter, const int* mine, int size, const int* others,
                         int remote_size) {
  int flag = 0, n = -1, rank = -1;
  MPI_Group local, remote;
  CHECK_OK(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag, "MPI_Comm_test_inter");
  CHECK_OK(MPI_Comm_size(inter, &n));
  CHECK(n == size, "size %d, not %d", n, size);
  CHECK_OK(MPI_Comm_remote_size(inter, &n));
  CHECK(n == remote_size, "remote size %d, not %d", n, remote_size);
  CHECK_OK(MPI_Comm_rank(inter, &rank));
  CHECK(0 <= rank && rank < size && mine[rank] == check_rank, "rank %d", rank);
  CHECK_OK(MPI_Comm_group(inter, &local));
  CHECK_OK(MPI_Comm_remote_group(inter, &remote));
  CHECK(same_group(local, mine, size), "local group");
  CHECK(same_group(remote, others, remote_size), "remote group");
  MPI_Group_free(&local);
  MPI_Group_free(&remote);
}

/* Each process sends to all of the remote group and receives from all of it, by any source too. */
static void exchange_messages(MPI_Comm inter, const int* others, int remote_size, int count) {
  int rank;
  MPI_Comm_rank(inter, &rank);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)remote_size);
  int* out = malloc(sizeof(int) * (size_t)(count + 1));
  int* in = malloc(sizeof(int) * (size_t)(count + 1));
  for (int i = 0; i <= count; ++i) out[i] = check_rank * 1000 + i;
  for (int i = 0; i < remote_size; ++i)
    CHECK_OK(MPI_Isend(out, count + 1, MPI_INT, i, 5, inter, &requests[i]));
  int* seen = calloc((size_t)remote_size, sizeof(int));
  for (int i = 0; i < remote_size; ++i) {
    MPI_Status status;
    int n = 0;
    CHECK_OK(MPI_Recv(in, count + 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
    MPI_Get_count(&status, MPI_INT, &n);
    const int from = status.MPI_SOURCE;
    CHECK(0 <= from && from < remote_size && !seen[from], "source %d", from);
    if (0 <= from && from < remote_size) {
      seen[from] = 1;
      CHECK(n == count + 1 && in[0] == others[from] * 1000 && in[count] == in[0] + count,
            "%d elements, the first %d", n, in[0]);
    }
  }
  CHECK_OK(MPI_Waitall(remote_size, requests, MPI_STATUSES_IGNORE));
  /* Rank i and rank i of the remote group, with probes and synchronous sends. */
  if (rank < remote_size) {
    MPI_Status status;
    MPI_Request sent;
    CHECK_OK(MPI_Issend(out, 1, MPI_INT, rank, 6, inter, &sent));
    CHECK_OK(MPI_Probe(rank, 6, inter, &status));
    CHECK(status.MPI_SOURCE == rank, "probed source %d", status.MPI_SOURCE);
    CHECK_OK(MPI_Recv(in, 1, MPI_INT, rank, MPI_ANY_TAG, inter, &status));
    CHECK(in[0] == others[rank] * 1000, "%d", in[0]);
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
  }
  free(requests);
  free(out);
  free(in);
  free(seen);
}

static void check_one(MPI_Comm inter, const struct two_groups* g) {
  const int me = g->is_second, other = !me;
  check_groups(inter, g->world_rank[me], g->size[me], g->world_rank[other], g->size[other]);
  exchange_messages(inter, g->world_rank[other], g->size[other], 10);
  CHECK_OK(MPI_Barrier(inter));
}

/* The second group is high, or the first, or both say the same. */
static void check_merge(const struct two_groups* g) {
  for (int high = 0; high < 4; ++high) {
    const int mine = g->is_second ? high & 1 : high >> 1;
    MPI_Comm merged;
    int size, rank, flag;
    CHECK_OK(MPI_Intercomm_merge(g->inter, mine, &merged));
    CHECK_OK(MPI_Comm_test_inter(merged, &flag));
    CHECK(!flag, "merged");
    MPI_Comm_size(merged, &size);
    MPI_Comm_rank(merged, &rank);
    CHECK(size == check_size, "size %d", size);
    int* all = malloc(sizeof(int) * (size_t)size);
    MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, merged);
    CHECK(all[rank] == check_rank, "rank %d", rank);
    const int second_first = all[0] == g->world_rank[1][0];
    for (int i = 0; i < size; ++i) {
      const int side = second_first ? i < g->size[1] : i >= g->size[0];
      const int before = second_first == side ? 0 : g->size[!side];
      CHECK(all[i] == g->world_rank[side][i - before], "rank %d is %d", i, all[i]);
    }
    if (high == 1) CHECK(!second_first, "the second group is high");
    if (high == 2) CHECK(second_first, "the first group is high");
    free(all);
    MPI_Comm_free(&merged);
  }
}

static void check_copies(const struct two_groups* g) {
  MPI_Comm copy, copy_of_copy;
  MPI_Request request;
  int result;
  CHECK_OK(MPI_Comm_dup(g->inter, &copy));
  check_one(copy, g);
  CHECK_OK(MPI_Comm_compare(g->inter, copy, &result));
  CHECK(result == MPI_CONGRUENT, "%d", result);
  CHECK_OK(MPI_Comm_compare(g->inter, g->local, &result));
  CHECK(result == MPI_UNEQUAL, "%d", result);
  CHECK_OK(MPI_Comm_compare(g->inter, g->inter, &result));
  CHECK(result == MPI_IDENT, "%d", result);
  CHECK_OK(MPI_Comm_idup(copy, &copy_of_copy, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_one(copy_of_copy, g);
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_disconnect(&copy_of_copy));
}

/* Even and odd ranks of both groups, in reverse order. */
static void check_split(const struct two_groups* g) {
  int rank, count[2] = {0, 0};
  MPI_Comm part;
  MPI_Comm_rank(g->inter, &rank);
  int* members[2];
  for (int side = 0; side < 2; ++side) {
    members[side] = malloc(sizeof(int) * (size_t)check_size);
    for (int i = g->size[side]; i-- > 0;)
      if (i % 2 == rank % 2) members[side][count[side]++] = g->world_rank[side][i];
  }
  CHECK_OK(MPI_Comm_split(g->inter, rank % 2, -rank, &part));
  const int me = g->is_second, other = !me;
  if (count[other] == 0) {
    CHECK(part == MPI_COMM_NULL, "no remote process has the color");
  } else {
    check_groups(part, members[me], count[me], members[other], count[other]);
    exchange_messages(part, members[other], count[other], 1000);
    CHECK_OK(MPI_Comm_free(&part));
  }
  CHECK_OK(MPI_Comm_split(g->inter, g->is_second && rank == 0 ? MPI_UNDEFINED : 0, 0, &part));
  CHECK((part == MPI_COMM_NULL) == (g->size[1] == 1 || (g->is_second && rank == 0)),
        "without rank 0 of the second group");
  if (part != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&part));
  free(members[0]);
  free(members[1]);
}

/* The group of each side without its rank 0; where that is empty, there is no communicator. */
static void check_create(const struct two_groups* g) {
  MPI_Group all, some;
  MPI_Comm part;
  int rank, zero = 0;
  const int me = g->is_second, other = !me;
  MPI_Comm_rank(g->inter, &rank);
  MPI_Comm_group(g->inter, &all);
  MPI_Group_excl(all, 1, &zero, &some);
  CHECK_OK(MPI_Comm_create(g->inter, some, &part));
  if (rank == 0 || g->size[other] == 1) {
    CHECK(part == MPI_COMM_NULL, "rank %d of %d, remote %d", rank, g->size[me], g->size[other]);
  } else {
    check_groups(part, g->world_rank[me] + 1, g->size[me] - 1, g->world_rank[other] + 1,
                 g->size[other] - 1);
    exchange_messages(part, g->world_rank[other] + 1, g->size[other] - 1, 3);
    CHECK_OK(MPI_Comm_free(&part));
  }
  if (some != MPI_GROUP_EMPTY) MPI_Group_free(&some);
  MPI_Group_free(&all);
}

static void check_from_groups(const struct two_groups* g) {
  MPI_Group local, remote;
  MPI_Comm inter;
  MPI_Comm_group(g->inter, &local);
  MPI_Comm_remote_group(g->inter, &remote);
  CHECK_OK(MPI_Intercomm_create_from_groups(local, 0, remote, 0, "org.headway.test", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &inter));
  check_one(inter, g);
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(inter, &handler);
  CHECK(handler == MPI_ERRORS_RETURN, "error handler");
  CHECK_OK(MPI_Comm_free(&inter));
  MPI_Group_free(&local);
  MPI_Group_free(&remote);
}

static void check_refusals(const struct two_groups* g) {
  MPI_Comm made;
  int n, dims[1] = {1}, periods[1] = {0};
  MPI_Group group;
  MPI_Comm_set_errhandler(g->inter, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(g->local, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Send(&n, 1, MPI_INT, g->size[!g->is_second], 0, g->inter), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Bcast(&n, 1, MPI_INT, g->size[!g->is_second], g->inter), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(&n, 1, MPI_INT, MPI_ROOT, g->local), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Scan(&check_rank, &n, 1, MPI_INT, MPI_SUM, g->inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan(&check_rank, &n, 1, MPI_INT, MPI_SUM, g->inter), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Cart_create(g->inter, 1, dims, periods, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_create(g->inter, 0, MPI_COMM_WORLD, 0, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Intercomm_merge(g->local, 0, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_remote_size(g->local, &n), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_remote_group(g->local, &group), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, g->inter), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Neighbor_allgather(&check_rank, 0, MPI_INT, &n, 0, MPI_INT, g->inter),
              MPI_ERR_COMM);
  MPI_Comm_group(g->inter, &group);
  CHECK_CLASS(MPI_Comm_create_group(g->inter, group, 0, &made), MPI_ERR_COMM);
  MPI_Group_free(&group);
}

/* Two groups with a process in common, and one that is joined with itself. */
static void check_overlap(void) {
  MPI_Comm made;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Intercomm_create_from_groups(world, 0, world, 0, "overlap", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &made),
              MPI_ERR_COMM);
  MPI_Group_free(&world);
}

/* An inter-communicator of three processes out of one of two: by way of a merged one. */
static void check_many(const struct two_groups* g) {
  /* The numbers of closed communicators are used again. */
  for (int i = 0; i < 20; ++i) {
    MPI_Comm merged, again;
    CHECK_OK(MPI_Intercomm_merge(g->inter, g->is_second, &merged));
    CHECK_OK(MPI_Intercomm_create(g->local, 0, merged, g->is_second ? 0 : g->size[0], i, &again));
    check_one(again, g);
    MPI_Comm_free(&again);
    MPI_Comm_free(&merged);
  }
  /* The leaders talk through an inter-communicator. */
  MPI_Comm again;
  CHECK_OK(MPI_Intercomm_create(g->local, 0, g->inter, 0, 7, &again));
  check_one(again, g);
  MPI_Comm_free(&again);
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  for (int division = 0; division < DIVISIONS; ++division) {
    struct two_groups g = make_groups(division);
    check_one(g.inter, &g);
    check_merge(&g);
    check_copies(&g);
    check_split(&g);
    check_create(&g);
    check_from_groups(&g);
    check_many(&g);
    check_refusals(&g);
    free_groups(&g);
  }
  check_overlap();
  return check_end("inter-communicators");
}

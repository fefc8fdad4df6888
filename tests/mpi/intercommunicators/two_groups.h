/* MPI_COMM_WORLD in two groups, joined by an inter-communicator in every way that tests try. */
#ifndef HEADWAY_TESTS_MPI_TWO_GROUPS_H
#define HEADWAY_TESTS_MPI_TWO_GROUPS_H

#include "check_all.h"

struct two_groups {
  MPI_Comm local, inter;
  int is_second;      /* the group that I am in */
  int size[2];        /* of both groups */
  int* world_rank[2]; /* of each member of both groups, by its rank there */
};

#define DIVISIONS 4

/* How a rank of the world is put into group 0 or 1. */
static inline int group_of(int division, int rank) {
  switch (division) {
    case 0:
      return rank % 2;
    case 1:
      return rank > 0; /* one and all others */
    case 2:
      return rank < check_size - 1; /* the last one is in group 0 */
    default:
      return rank >= check_size / 2;
  }
}

/* The key that orders the group: the second one is in reverse order. */
static inline struct two_groups make_groups(int division) {
  struct two_groups g = {
      MPI_COMM_NULL, MPI_COMM_NULL, group_of(division, check_rank), {0, 0}, {NULL, NULL}};
  for (int side = 0; side < 2; ++side) {
    g.world_rank[side] = malloc(sizeof(int) * (size_t)check_size);
    for (int i = 0; i < check_size; ++i) {
      const int rank = side ? check_size - 1 - i : i;
      if (group_of(division, rank) == side) g.world_rank[side][g.size[side]++] = rank;
    }
  }
  MPI_Comm_split(MPI_COMM_WORLD, g.is_second, g.is_second ? -check_rank : check_rank, &g.local);
  const int leader = g.size[g.is_second] - 1; /* the last rank of each group */
  const int other = !g.is_second;
  int local_rank;
  MPI_Comm_rank(g.local, &local_rank);
  CHECK_OK(MPI_Intercomm_create(g.local, leader,
                                local_rank == leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                                g.world_rank[other][g.size[other] - 1], division, &g.inter));
  return g;
}

static inline void free_groups(struct two_groups* g) {
  CHECK_OK(MPI_Comm_free(&g->inter));
  CHECK_OK(MPI_Comm_free(&g->local));
  free(g->world_rank[0]);
  free(g->world_rank[1]);
}

#endif

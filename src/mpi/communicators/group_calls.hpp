#pragma once

#include <mpi.h>

#include "mpi/communicators/group.hpp"

/// MPI-5.0 section 7.3: sets of processes.
namespace headway::mpi::calls {

int group_size(group& which, int& size);
int group_rank(group& which, int& rank);
int group_translate_ranks(group& group1, int n, const int* ranks1, group& group2, int* ranks2);
int group_compare(group& group1, group& group2, int& result);
int group_union(group& group1, group& group2, group*& made);
int group_intersection(group& group1, group& group2, group*& made);
int group_difference(group& group1, group& group2, group*& made);
int group_incl(group& from, int n, const int* ranks, group*& made);
int group_excl(group& from, int n, const int* ranks, group*& made);
int group_range_incl(group& from, int n, int ranges[][3], group*& made);
int group_range_excl(group& from, int n, int ranges[][3], group*& made);
int group_free(group*& freed);

}  // namespace headway::mpi::calls

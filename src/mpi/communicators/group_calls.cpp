#include "mpi/communicators/group_calls.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {
namespace {

using processes::peer_id;

/// The group of these processes, made of `from`.
group* from_list(const std::vector<peer_id>& members, const group& from) {
  return make_group(memberships().intern(members), from.origin());
}

int bad_rank(const group& in, int rank) {
  return fail(MPI_ERR_RANK, "{} is no rank of the group, which has {} processes, or comes twice",
              rank, in.size());
}

/// Marks the chosen ranks; an error code if one is out of range or chosen twice.
int choose(const group& from, const std::vector<int>& ranks, std::vector<bool>& chosen) {
  chosen.assign(static_cast<std::size_t>(from.size()), false);
  for (const int rank : ranks) {
    if (rank < 0 || rank >= from.size() || chosen[static_cast<std::size_t>(rank)]) {
      return bad_rank(from, rank);
    }
    chosen[static_cast<std::size_t>(rank)] = true;
  }
  return MPI_SUCCESS;
}

int include(const group& from, const std::vector<int>& ranks, group*& made) {
  std::vector<bool> chosen;
  if (const int code = choose(from, ranks, chosen)) return code;
  std::vector<peer_id> members;
  members.reserve(ranks.size());
  for (const int rank : ranks) members.push_back(from.members()[rank]);
  made = from_list(members, from);
  return MPI_SUCCESS;
}

int exclude(const group& from, const std::vector<int>& ranks, group*& made) {
  std::vector<bool> chosen;
  if (const int code = choose(from, ranks, chosen)) return code;
  std::vector<peer_id> members;
  for (int rank = 0; rank < from.size(); ++rank) {
    if (!chosen[static_cast<std::size_t>(rank)]) members.push_back(from.members()[rank]);
  }
  made = from_list(members, from);
  return MPI_SUCCESS;
}

/// Appends the processes of `from` that are (`in_other`) or are not in `other`, in the order of
/// `from`.
void append(std::vector<peer_id>& members, const group& from, const group& other, bool in_other) {
  std::ranges::copy_if(from.members().peers(), std::back_inserter(members), [&](peer_id process) {
    return other.members().contains(process) == in_other;
  });
}

/// The ranks of triplets first, last, stride; an error code if a triplet is invalid.
int expand(const group& from, int n, int ranges[][3], std::vector<int>& ranks) {
  for (int i = 0; i < n; ++i) {
    const int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return fail(MPI_ERR_ARG, "range {} has stride 0", i);
    for (const int rank : {first, last}) {
      if (rank < 0 || rank >= from.size()) return bad_rank(from, rank);
    }
    for (int rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      ranks.push_back(rank);
    }
  }
  return MPI_SUCCESS;
}

}  // namespace

int group_size(group& which, int& size) {
  size = which.size();
  return MPI_SUCCESS;
}

int group_rank(group& which, int& rank) {
  rank = which.rank();
  return MPI_SUCCESS;
}

int group_translate_ranks(group& group1, int n, const int* ranks1, group& group2, int* ranks2) {
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (rank < 0 || rank >= group1.size()) return bad_rank(group1, rank);
    ranks2[i] = group2.rank_of(group1.members()[rank]);
  }
  return MPI_SUCCESS;
}

int group_compare(group& group1, group& group2, int& result) {
  result = compare(group1.members(), group2.members(), MPI_IDENT);
  return MPI_SUCCESS;
}

int group_union(group& group1, group& group2, group*& made) {
  const auto first = group1.members().peers();
  std::vector<peer_id> members(first.begin(), first.end());
  append(members, group2, group1, false);
  made = from_list(members, group1);
  return MPI_SUCCESS;
}

int group_intersection(group& group1, group& group2, group*& made) {
  std::vector<peer_id> members;
  append(members, group1, group2, true);
  made = from_list(members, group1);
  return MPI_SUCCESS;
}

int group_difference(group& group1, group& group2, group*& made) {
  std::vector<peer_id> members;
  append(members, group1, group2, false);
  made = from_list(members, group1);
  return MPI_SUCCESS;
}

int group_incl(group& from, int n, const int* ranks, group*& made) {
  return include(from, std::vector<int>(ranks, ranks + n), made);
}

int group_excl(group& from, int n, const int* ranks, group*& made) {
  return exclude(from, std::vector<int>(ranks, ranks + n), made);
}

int group_range_incl(group& from, int n, int ranges[][3], group*& made) {
  std::vector<int> ranks;
  if (const int code = expand(from, n, ranges, ranks)) return code;
  return include(from, ranks, made);
}

int group_range_excl(group& from, int n, int ranges[][3], group*& made) {
  std::vector<int> ranks;
  if (const int code = expand(from, n, ranges, ranks)) return code;
  return exclude(from, ranks, made);
}

int group_free(group*& freed) {
  // Programs free MPI_GROUP_EMPTY too, because many group operations return it.
  if (!freed->is_predefined()) pool<group>::all().drop(freed);
  freed = nullptr;
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls

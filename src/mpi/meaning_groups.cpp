#include "mpi/meaning_groups.hpp"

#include <algorithm>
#include <unordered_map>

#include "mpi/failure.hpp"
#include "mpi/pool.hpp"

namespace headway::mpi {

group* make_group(std::shared_ptr<const member_list> members) {
  if (members->empty()) return &group::empty();
  return pool<group>::all().make(std::move(members));
}

namespace meaning {
namespace {

group* from_list(member_list members) {
  return make_group(std::make_shared<const member_list>(std::move(members)));
}

/// Ranks by process, for questions about many processes at once.
class rank_index {
 public:
  explicit rank_index(const group& of) {
    const auto& members = of.members();
    ranks_.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      ranks_.emplace(members[i], static_cast<int>(i));
    }
  }
  [[nodiscard]] int operator[](std::uint32_t process) const {
    const auto at = ranks_.find(process);
    return at == ranks_.end() ? MPI_UNDEFINED : at->second;
  }
  [[nodiscard]] bool has(std::uint32_t process) const { return ranks_.contains(process); }

 private:
  std::unordered_map<std::uint32_t, int> ranks_;
};

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
  member_list members;
  members.reserve(ranks.size());
  for (const int rank : ranks) members.push_back(from.members()[static_cast<std::size_t>(rank)]);
  made = from_list(std::move(members));
  return MPI_SUCCESS;
}

int exclude(const group& from, const std::vector<int>& ranks, group*& made) {
  std::vector<bool> chosen;
  if (const int code = choose(from, ranks, chosen)) return code;
  member_list members;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]) members.push_back(from.members()[i]);
  }
  made = from_list(std::move(members));
  return MPI_SUCCESS;
}

/// Ranks of triplets first, last, stride; an error code if a triplet makes no sense.
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
  const rank_index there(group2);
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (rank < 0 || rank >= group1.size()) return bad_rank(group1, rank);
    ranks2[i] = there[group1.members()[static_cast<std::size_t>(rank)]];
  }
  return MPI_SUCCESS;
}

int group_compare(group& group1, group& group2, int& result) {
  if (group1.members() == group2.members()) {
    result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  result = MPI_UNEQUAL;
  if (group1.size() != group2.size()) return MPI_SUCCESS;
  const rank_index there(group2);
  const bool all = std::all_of(group1.members().begin(), group1.members().end(),
                               [&](std::uint32_t process) { return there.has(process); });
  if (all) result = MPI_SIMILAR;
  return MPI_SUCCESS;
}

int group_union(group& group1, group& group2, group*& made) {
  const rank_index first(group1);
  member_list members = group1.members();
  for (const std::uint32_t process : group2.members()) {
    if (!first.has(process)) members.push_back(process);
  }
  made = from_list(std::move(members));
  return MPI_SUCCESS;
}

int group_intersection(group& group1, group& group2, group*& made) {
  const rank_index second(group2);
  member_list members;
  for (const std::uint32_t process : group1.members()) {
    if (second.has(process)) members.push_back(process);
  }
  made = from_list(std::move(members));
  return MPI_SUCCESS;
}

int group_difference(group& group1, group& group2, group*& made) {
  const rank_index second(group2);
  member_list members;
  for (const std::uint32_t process : group1.members()) {
    if (!second.has(process)) members.push_back(process);
  }
  made = from_list(std::move(members));
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
  // MPI_GROUP_EMPTY is what many group operations give, so programs free it too.
  if (!freed->is_predefined()) pool<group>::all().drop(freed);
  freed = nullptr;
  return MPI_SUCCESS;
}

}  // namespace meaning
}  // namespace headway::mpi

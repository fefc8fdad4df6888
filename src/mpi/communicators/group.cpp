#include "mpi/communicators/group.hpp"

#include <algorithm>
#include <utility>

#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {

group::group(processes::membership_ref members, session_origin_ref origin)
    : members_(std::move(members)),
      origin_(std::move(origin)),
      rank_(the_library.runtime ? rank_of(this_process()) : MPI_UNDEFINED) {}

group& group::empty() {
  static auto* const made = [] {
    auto* only = new group(memberships().intern(processes::membership()));
    define(*only, object_kind::group, reinterpret_cast<std::uintptr_t>(MPI_GROUP_EMPTY));
    return only;
  }();
  return *made;
}

group* make_group(processes::membership_ref members, session_origin_ref origin) {
  if (members->empty()) return &group::empty();
  return pool<group>::all().make(std::move(members), std::move(origin));
}

int compare(const processes::membership& one, const processes::membership& other,
            int same) noexcept {
  if (one == other) return same;
  const auto in_other = [&](processes::peer_id process) { return other.contains(process); };
  const bool similar = one.size() == other.size() && std::ranges::all_of(one.peers(), in_other);
  return similar ? MPI_SIMILAR : MPI_UNEQUAL;
}

processes::membership_set& memberships() {
  static auto* const made = new processes::membership_set;  // groups may be freed at any time
  return *made;
}

}  // namespace headway::mpi

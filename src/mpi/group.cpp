#include "mpi/group.hpp"

#include <algorithm>

#include "mpi/library.hpp"

namespace headway::mpi {

group::group(std::shared_ptr<const member_list> members)
    : members_(std::move(members)),
      rank_(the_library.runtime ? rank_of(static_cast<std::uint32_t>(the_library.runtime->rank()))
                                : MPI_UNDEFINED) {}

int group::rank_of(std::uint32_t process) const noexcept {
  const auto at = std::find(members_->begin(), members_->end(), process);
  return at == members_->end() ? MPI_UNDEFINED : static_cast<int>(at - members_->begin());
}

group& group::empty() {
  static auto* const made = [] {
    auto* only = new group(std::make_shared<const member_list>());
    define(*only, object_kind::group, reinterpret_cast<std::uintptr_t>(MPI_GROUP_EMPTY));
    return only;
  }();
  return *made;
}

}  // namespace headway::mpi

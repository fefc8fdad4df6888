#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/object.hpp"

namespace headway::mpi {

/// Processes in rank order, as ranks of the job; shared by groups and communicators.
using member_list = std::vector<std::uint32_t>;

/// An ordered set of processes.
/// Threads:  immutable.
class group final : public object {
 public:
  using handle = MPI_Group;
  static constexpr object_kind object_kind_of = object_kind::group;
  static constexpr std::uintptr_t null_value = 0x108;

  explicit group(std::shared_ptr<const member_list> members);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_->size()); }
  /// Mine, or MPI_UNDEFINED if I am no member.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] const member_list& members() const noexcept { return *members_; }
  [[nodiscard]] const std::shared_ptr<const member_list>& shared_members() const noexcept {
    return members_;
  }
  /// The rank here of a process of the job, or MPI_UNDEFINED.
  [[nodiscard]] int rank_of(std::uint32_t process) const noexcept;

  /// MPI_GROUP_EMPTY.
  [[nodiscard]] static group& empty();

 private:
  std::shared_ptr<const member_list> members_;
  int rank_;
};

/// A new group, or MPI_GROUP_EMPTY.
[[nodiscard]] group* make_group(std::shared_ptr<const member_list> members);

}  // namespace headway::mpi

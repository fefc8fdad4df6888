#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/objects/object.hpp"
#include "mpi/sessions/session_origin.hpp"
#include "processes/membership.hpp"

namespace headway::mpi {

/// An MPI group: an ordered set of processes.
/// Threads:  immutable.
class group final : public object {
 public:
  using handle = MPI_Group;
  static constexpr object_kind object_kind_of = object_kind::group;
  static constexpr std::uintptr_t null_value = 0x108;

  explicit group(processes::membership_ref members, session_origin_ref origin = {});

  [[nodiscard]] int size() const noexcept { return members_->size(); }
  /// This process's rank, or MPI_UNDEFINED.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] const processes::membership& members() const noexcept { return *members_; }
  [[nodiscard]] const processes::membership_ref& shared_members() const noexcept {
    return members_;
  }
  [[nodiscard]] const session_origin_ref& origin() const noexcept { return origin_; }
  /// The rank of a process, or MPI_UNDEFINED.
  [[nodiscard]] int rank_of(processes::peer_id process) const noexcept {
    return members_->rank_of(process).value_or(MPI_UNDEFINED);
  }

  /// MPI_GROUP_EMPTY.
  [[nodiscard]] static group& empty();

 private:
  processes::membership_ref members_;
  session_origin_ref origin_;
  int rank_;
};

/// A new group, or MPI_GROUP_EMPTY.
[[nodiscard]] group* make_group(processes::membership_ref members, session_origin_ref origin);

/// `same` if both have the same processes with the same ranks, MPI_SIMILAR if with other ranks,
/// else MPI_UNEQUAL.
[[nodiscard]] int compare(const processes::membership& one, const processes::membership& other,
                          int same) noexcept;

/// All memberships of groups and communicators; equal ones are shared.
[[nodiscard]] processes::membership_set& memberships();

}  // namespace headway::mpi

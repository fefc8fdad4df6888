#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "collectives/exchange_team.hpp"
#include "messages/exchange.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/objects/attributes.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/objects/hint_set.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/objects/object.hpp"
#include "mpi/partitioned/tag_ranges.hpp"
#include "mpi/point_to_point/buffer_place.hpp"

namespace headway::report {
class collective_log;
}  // namespace headway::report

namespace headway::mpi {

class process_topology;

/// An MPI communicator: a group of processes and two matching spaces, one for the program's
/// messages and one for collective operations (contexts 2n and 2n + 1, where n is its context id).
///
/// An inter-communicator has a second group, whose ranks its messages go to and come from: those
/// are the members of its space of messages. Its space of collective operations has both groups,
/// one behind the other in the same order in all processes.
///
/// Shape:    the contexts are opened when the members have agreed on n; before that (MPI_Comm_idup)
///           only the handle exists. After MPI_Comm_free the object exists until its last operation
///           has ended.
/// Threads:  what messages read is immutable; name, attributes, info and error handler are accessed
///           as the standard requires of the program.
class communicator final : public object {
 public:
  using handle = MPI_Comm;
  static constexpr object_kind object_kind_of = object_kind::comm;
  static constexpr std::uintptr_t null_value = 0x100;

  /// The other group of an inter-communicator.
  struct remote_side {
    processes::membership_ref members;
    bool is_first;  ///< comes before the local group where both are one; the other side differs
  };

  /// `rank` is this process's among `members`, the local group.
  communicator(processes::membership_ref members, int rank, std::string name,
               std::optional<remote_side> other = {});
  ~communicator() override;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const processes::membership& members() const noexcept { return *members_; }
  [[nodiscard]] const processes::membership_ref& shared_members() const noexcept {
    return members_;
  }

  [[nodiscard]] bool is_inter() const noexcept { return remote_.has_value(); }
  /// Of an inter-communicator.
  [[nodiscard]] const remote_side& remote() const noexcept { return *remote_; }
  /// How many processes messages go to and blocks are exchanged with: those of the group, or of
  /// the remote group.
  [[nodiscard]] int peer_count() const noexcept { return peer_count_; }
  [[nodiscard]] bool has_rank(int rank) const noexcept {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(peer_count_);
  }

  // Both groups of an inter-communicator in one: the ranks of `collective()` and `team()`. Without
  // a remote group these are the ranks of the communicator.
  [[nodiscard]] const processes::membership_ref& everybody() const noexcept { return everybody_; }
  [[nodiscard]] int rank_among_all() const noexcept { return first_local() + rank_; }
  [[nodiscard]] int first_local() const noexcept {
    return is_inter() && remote_->is_first ? peer_count_ : 0;
  }
  [[nodiscard]] int first_remote() const noexcept {
    return is_inter() && !remote_->is_first ? size_ : 0;
  }

  // The root of a collective operation: of an inter-communicator also MPI_ROOT and MPI_PROC_NULL.
  [[nodiscard]] bool may_have_root(int root) const noexcept {
    return has_rank(root) || (is_inter() && (root == MPI_ROOT || root == MPI_PROC_NULL));
  }
  [[nodiscard]] bool is_root(int root) const noexcept {
    return root == (is_inter() ? MPI_ROOT : rank_);
  }
  /// Sends to the root or receives from it; in an inter-communicator the root itself does not.
  [[nodiscard]] bool serves_root(int root) const noexcept { return !is_inter() || root >= 0; }
  [[nodiscard]] bool has_part_in(int root) const noexcept { return root != MPI_PROC_NULL; }
  [[nodiscard]] bool may_send_to(int rank) const noexcept {
    return has_rank(rank) || rank == MPI_PROC_NULL;
  }
  [[nodiscard]] bool may_receive_from(int rank) const noexcept {
    return has_rank(rank) || rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL;
  }

  /// Opens both contexts, with the id that all members agreed on (context_agreement.hpp).
  void open(std::uint32_t id, std::uint64_t incarnation = 0);
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// The contexts of the program's messages and of collective operations.
  [[nodiscard]] messages::context& messages() const noexcept { return *messages_; }
  [[nodiscard]] messages::context& collective() const noexcept { return *collective_; }

  /// The team of collective operations. Only if the communicator is open.
  [[nodiscard]] collectives::team& team() noexcept {
    HEADWAY_DEBUG_ASSERT(open_);
    return team_->ranks();
  }

  /// The log of the team's operations. Only if the communicator is open.
  [[nodiscard]] const messages::operation_log& operations() const noexcept {
    return messages::exchange::log_of(*collective_);
  }

  [[nodiscard]] collectives::recent_schedules& recent_schedules() noexcept {
    return team_->recent();
  }
  /// Called once for each blocking collective operation, by all members: some calls are collective
  /// themselves, and determine how the members can use each other's memory.
  void count_blocking_collective(const collectives::call& what) { team_->count_call(what); }
  /// The same for each persistent one that is made.
  void count_persistent_collective(const collectives::call& what) { team_->count_persistent(what); }
  /// Makes an empty schedule persistent, before its steps are built, and once that was done
  /// (`is_built`) or has failed. False: they have to be built again. Both are called by all
  /// members, in the same order, and wait for them.
  void begin_persistent(collectives::schedule& s) { team_->begin_persistent(s); }
  [[nodiscard]] bool settle_persistent(collectives::schedule& s, bool is_built) {
    return team_->settle_persistent(s, is_built);
  }

  /// Counts the operations that may end after the handle is freed; see `communicator_ref`.
  void add_user() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }  // no data
  void drop_user() noexcept;

  /// The tag of the next agreement of all members, which begin agreements in the same order.
  [[nodiscard]] int next_agreement_tag() noexcept {
    // Relaxed: the number is the only thing that is shared.
    return messages::agreement_tags.of(agreements_.fetch_add(1, std::memory_order_relaxed));
  }

  tag_ranges partition_tags;                ///< of this process's partitioned sends
  report::collective_log* calls = nullptr;  ///< of recorded collective operations; null: none yet
  std::string name;
  errhandler_ref handler;
  attribute_set attributes;
  hint_set hints;  ///< see set_hints
  /// What both contexts send from now on passes messages of others. Only if the communicator is
  /// open. Any thread.
  void set_urgent(bool is) noexcept;
  [[nodiscard]] bool is_urgent() const noexcept {
    return messages::exchange::is_urgent(*messages_);
  }
  buffer_place buffer;  ///< MPI_Comm_attach_buffer
  session_origin_ref origin;
  std::shared_ptr<const process_topology> topology;  ///< null: none
  /// The number of neighbours in the topology that send to this process, and that it sends to.
  [[nodiscard]] int source_count() const noexcept;
  [[nodiscard]] int destination_count() const noexcept;

 private:
  processes::membership_ref members_;
  std::optional<remote_side> remote_;
  processes::membership_ref everybody_;
  int rank_;
  int size_;
  int peer_count_;
  std::uint32_t id_ = 0;
  bool open_ = false;
  messages::context* messages_ = nullptr;
  messages::context* collective_ = nullptr;
  std::optional<collectives::exchange_team> team_;
  std::atomic<std::uint32_t> agreements_{0};
  std::atomic<int> users_{1};
};

/// A counted reference of a collective or persistent operation to its communicator. Message
/// requests hold none, which saves two atomic additions a message; `free_communicator` searches the
/// requests instead.
class communicator_ref {
 public:
  communicator_ref() noexcept = default;
  explicit communicator_ref(communicator& shared) noexcept : at_(&shared) { at_->add_user(); }
  communicator_ref(communicator_ref&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  communicator_ref& operator=(communicator_ref&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~communicator_ref() {
    if (at_) at_->drop_user();
  }
  [[nodiscard]] communicator* get() const noexcept { return at_; }

 private:
  communicator* at_ = nullptr;
};

/// Whether all processes are of this process's job.
[[nodiscard]] bool are_of_job(const processes::membership& members);
/// Whether the processes run on more than one node.
[[nodiscard]] bool spans_nodes(const processes::membership& members);

/// Closes the contexts of a communicator whose handle was freed: now, or when its last operation
/// has ended.
void free_communicator(communicator& freed) noexcept;
/// Closes the communicators that were freed during operations that have ended since.
void reap_communicators() noexcept;

}  // namespace headway::mpi

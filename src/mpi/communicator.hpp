#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/exchange_carrier.hpp"
#include "collectives/notice_board.hpp"
#include "collectives/team.hpp"
#include "messages/exchange.hpp"
#include "mpi/attributes.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/group.hpp"
#include "mpi/info.hpp"
#include "mpi/object.hpp"
#include "mpi/recent_collectives.hpp"

namespace headway::mpi {

class send_buffer;

/// The info key that says how messages of a communicator are given to rails: HEADWAY_STRATEGY for
/// this one alone.
inline constexpr const char* strategy_hint = "headway_strategy";

/// A group of processes and two matching spaces, one for the program's messages and one for
/// collective operations (context ids 2n and 2n + 1, where n was agreed on by the members).
///
/// Shape:    its contexts are opened once the members have agreed; until then (MPI_Comm_idup) only
///           the handle exists. Freed, it lives on while operations on it are under way.
/// Threads:  everything that a message needs is immutable; name, attributes, info and error handler
///           as the standard asks of the program.
class communicator final : public object {
 public:
  using handle = MPI_Comm;
  static constexpr object_kind object_kind_of = object_kind::comm;
  static constexpr std::uintptr_t null_value = 0x100;

  /// `rank` is mine among `members`.
  communicator(std::shared_ptr<const member_list> members, int rank, std::string name);
  ~communicator() override;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const member_list& members() const noexcept { return *members_; }
  [[nodiscard]] const std::shared_ptr<const member_list>& shared_members() const noexcept {
    return members_;
  }

  [[nodiscard]] bool has_rank(int rank) const noexcept {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(size_);
  }
  [[nodiscard]] bool may_send_to(int rank) const noexcept {
    return has_rank(rank) || rank == MPI_PROC_NULL;
  }
  [[nodiscard]] bool may_receive_from(int rank) const noexcept {
    return has_rank(rank) || rank == MPI_ANY_SOURCE || rank == MPI_PROC_NULL;
  }

  /// Opens both contexts under the number that all members agreed on (see context_ids.hpp).
  void open(std::uint32_t id);
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// The matching space of the program's messages / of collective operations.
  [[nodiscard]] messages::context& messages() const noexcept { return *messages_; }
  [[nodiscard]] messages::context& collective() const noexcept { return *collective_; }

  /// The same as collective operations see it. Open communicators only.
  [[nodiscard]] collectives::team& team() noexcept { return *team_; }

  /// Where the members show each other small values; null where they do not share memory, and
  /// before it pays. Asked for once by each blocking collective that could use it, on all members
  /// alike: now and then it is collective itself, and finds out too whether the members can touch
  /// each other's memory (team::direct).
  [[nodiscard]] collectives::notice_board* board() {
    if (board_ || board_requests_ == board_requests_max) [[likely]]
      return board_.get();
    return seek_board();
  }

  /// An operation that may outlive the handle keeps the communicator; see `communicator_ref`.
  void add_user() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }  // no data
  void drop_user() noexcept;

  /// Collective operations of one communicator are numbered, so that their messages do not mix.
  [[nodiscard]] std::uint32_t next_collective() noexcept {
    return collectives_.fetch_add(1, std::memory_order_relaxed);  // a ticket, carries no data
  }

  std::string name;
  errhandler_ref handler;
  attribute_set attributes;
  std::vector<std::pair<std::string, std::string>> hints;  ///< MPI_Comm_set_info
  /// Acts on the hints that this library knows. Nothing before it is open: `open` does it then.
  void follow_hints();
  recent_collectives recent;
  std::shared_ptr<send_buffer> buffer;  ///< MPI_Comm_attach_buffer

 private:
  static constexpr int board_requests_max = 256;
  collectives::notice_board* seek_board();

  std::shared_ptr<const member_list> members_;
  int rank_;
  int size_;
  std::uint32_t id_ = 0;
  bool open_ = false;
  messages::context* messages_ = nullptr;
  messages::context* collective_ = nullptr;
  std::optional<collectives::exchange_carrier> carrier_;
  std::optional<collectives::team> team_;
  std::unique_ptr<collectives::notice_board> board_;
  int board_requests_ = 0;
  std::atomic<std::uint32_t> collectives_{0};
  std::atomic<int> users_{1};
};

/// Keeps a communicator alive while a collective or persistent operation uses it. Messages do
/// without (two atomic additions each): `free_communicator` looks for theirs instead.
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

/// The handle is gone; closes the contexts now or when the last operation has ended.
void free_communicator(communicator& freed) noexcept;
/// Closes those that were freed early and whose operations have ended meanwhile.
void reap_communicators() noexcept;

}  // namespace headway::mpi

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "processes/process.hpp"
#include "rails/memory.hpp"
#include "rails/shm_slots.hpp"
#include "windows/control_line.hpp"
#include "windows/epoch_signals.hpp"
#include "windows/exposed_memory.hpp"
#include "windows/near_way.hpp"
#include "windows/node_block.hpp"
#include "windows/operation.hpp"
#include "windows/request_slot.hpp"
#include "windows/settings.hpp"
#include "windows/slot_service.hpp"
#include "windows/slot_way.hpp"
#include "windows/statistics.hpp"
#include "windows/target.hpp"
#include "windows/wire_way.hpp"

namespace headway::windows {

/// A rank of a window, as an origin sees it.
struct member {
  std::int64_t bytes = 0;
  std::int64_t displacement_unit = 1;
  std::uint64_t base = 0;          ///< in its process
  std::byte* mapped = nullptr;     ///< the same memory in this process; null: not mapped here
  control_line* line = nullptr;    ///< null: it is reached through the target
  request_slots* slots = nullptr;  ///< of a `nearby` one, null: it has none
  staging staged = {};             ///< of the same
  /// Epochs of this process and that one, told in memory; null: by messages.
  epoch_pair *to = nullptr, *from = nullptr;
  processes::peer_id process{};
  way by = way::wire;  ///< `nearby` and `mapped` only with a `line`
};

/// Elements in the memory of a rank, as the program names them.
struct place {
  int rank = 0;
  std::int64_t displacement = 0;
  std::int64_t count = 0;
  const datatypes::layout* type = nullptr;
};

/// A window: memory that every rank of a context shows to the others (MPI-5.0 chapter 12). Sends
/// each operation by the quickest way to its target.
/// Shape:    a `member` for each rank; for a target reached by packets what is under way to it.
/// Threads:  operations and synchronisations any of the program's.
/// Progress: small puts may be gathered until the next synchronisation (slot_way, wire_way).
///           Operations do not wait but for other origins' changes of the same target, and on other
///           nodes for the lock of their epoch; lock, unlock and the flushes do. As a target,
///           the process serves others without a call.
/// Errors:   see `status`. What is checked by the caller: ranks, and that operators and kinds fit.
class window {
 public:
  struct parts {
    messages::exchange& exchange;
    messages::context& context;  ///< a collective one, of the window's own
    statistics& counts;          ///< of the instance
    counting counts_are = counting::shared;
    rails::memory* copies = nullptr;
    rails::shm_slots* wakes = nullptr;  ///< not null where a member has an `epoch_pair`
    node_block block = {};              ///< of the node: what members' pointers refer to
    node_block own_block = {};          ///< of this process, where the node has none
    control_line* own_line = nullptr;
    request_slots* own_slots = nullptr;  ///< null: no process of the node reaches this one `nearby`
    staging own_staged = {};
    std::vector<member> members = {};
    std::int64_t own_bytes = 0;
    bool dynamic = false;  ///< displacements are addresses of attached memory
    /// More ranks than processors: the holder of a lock needs the processor of one that waits.
    bool oversubscribed = false;
  };
  explicit window(parts made);
  window(const window&) = delete;
  window& operator=(const window&) = delete;

  /// Once every rank's window exists, or while others' are made.
  void start() noexcept;
  /// After `settle` in all ranks and a barrier.
  void stop() noexcept;

  [[nodiscard]] const member& at(int rank) const noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= rank && rank < size());
    return members_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] exposed_memory& memory() noexcept { return memory_; }
  /// Null: all epochs are told by messages.
  [[nodiscard]] epoch_signals* signals() noexcept { return signals_ ? &*signals_ : nullptr; }

  // `left` is what has not ended at the origin; null: nothing.
  [[nodiscard]] status put(const local_data& from, const place& to, pending_ptr& left);
  [[nodiscard]] status get(const local_data& to, const place& from, pending_ptr& left);
  /// `before` null: an accumulate, whose operator is not MPI_NO_OP.
  [[nodiscard]] status update(const local_data& operand, const local_data* before, const place& at,
                              const change& how, pending_ptr& left);
  [[nodiscard]] status compare_and_swap(const std::byte* value, const std::byte* expected,
                                        std::byte* before, const place& at);

  [[nodiscard]] status flush_local(int rank);
  [[nodiscard]] status flush(int rank);
  [[nodiscard]] status flush_local_all();
  [[nodiscard]] status flush_all();
  /// Afterwards no request of this process is under way.
  [[nodiscard]] status settle();
  [[nodiscard]] status lock(int rank, lock_type how);
  [[nodiscard]] status unlock(int rank, lock_type how);
  /// As the flushes, before the targets are told by a release of this thread (of an epoch counter,
  /// or of a message), which orders its stores.
  [[nodiscard]] status complete(int rank);
  /// Tells these ranks by requests that this process's accesses have ended, which they count in
  /// `ends`; returns when they have ended here.
  [[nodiscard]] status end_accesses(const std::vector<int>& ranks);
  [[nodiscard]] access_ends& ends() noexcept { return served_.ends(); }
  [[nodiscard]] status complete_all();
  /// Orders loads and stores of this process against those of others.
  static void synchronise_memory() noexcept;
  /// Before a release that tells others of it, and after an acquire of what others have told.
  static void publish_memory() noexcept;
  static void take_in_memory() noexcept;

 private:
  /// Nothing: outside of the window.
  [[nodiscard]] std::optional<remote_data> locate(const place& at) const noexcept;
  /// Where these elements are, if they are bytes in a row of mapped memory, and inside of the
  /// window; else null.
  [[nodiscard]] std::byte* mapped_row(const place& at) const noexcept;
  [[nodiscard]] status take_lock(int rank, lock_type how);
  void count(const member& m, statistics::count statistics::row::* kind, const place& at) noexcept {
    count_operation(counts_.of(m.by), kind, at.count * at.type->size(), counts_are_);
  }
  void make_slot_ways(const parts& made);
  void make_signals(const parts& made);
  [[nodiscard]] near_target near(const member& m) const noexcept;
  [[nodiscard]] slot_way* slots_to(const member& m) const noexcept {
    return slot_ways_.empty() ? nullptr
                              : slot_ways_[static_cast<std::size_t>(&m - members_.data())].get();
  }
  [[nodiscard]] status near_status() const noexcept;
  /// Of a target that is not reached by the wire.
  [[nodiscard]] status finish_puts(int rank) noexcept;
  /// Of all such.
  [[nodiscard]] status finish_puts() noexcept;
  template <class Each>
  [[nodiscard]] status over_wire(Each each);

  const node_block block_, own_block_;
  const std::vector<member> members_;
  statistics& counts_;
  const counting counts_are_;
  rails::memory* const copies_;
  const int self_;
  const bool dynamic_, oversubscribed_;
  const lock_holder me_;
  progress::engine& engine_;
  exposed_memory memory_;
  wire_way wire_;
  target served_;
  std::optional<slot_service> slot_service_;
  std::atomic<std::uint32_t> gathering_{0};           // of these ways, with puts to finish
  std::vector<std::unique_ptr<slot_way>> slot_ways_;  // by rank; empty: none
  std::optional<epoch_signals> signals_;
};

}  // namespace headway::windows

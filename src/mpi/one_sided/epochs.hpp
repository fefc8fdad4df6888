#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/mutex.hpp"
#include "messages/context.hpp"
#include "messages/request.hpp"
#include "windows/window.hpp"

namespace headway::mpi {

/// How an access or a synchronisation fits the epochs of a window.
enum class epoch_answer : std::uint8_t {
  ok,
  refused,  ///< it does not: MPI_ERR_RMA_SYNC
  lost,     ///< a process of the window is gone
};

/// The epochs of this process on a window: which targets it may access, and which origins it has
/// let in.
///
/// MPI_Win_post and MPI_Win_complete are told in memory (windows::epoch_signals), or by an empty
/// message and by a request behind the accesses (windows::access_ends); MPI_Win_start and
/// MPI_Win_wait wait for them. MPI_Win_lock_all takes the shared lock of a target when the target
/// is first used.
/// Shape:    a byte for each rank.
/// Threads:  `admit`, `lock`, `unlock` any of the program's, for different targets at once; the
///           rest one at a time.
/// Progress: `lock`, `start`, `wait` and, for the first access after MPI_Win_lock_all, `admit` wait
///           for other processes.
class epochs {
 public:
  epochs(windows::window& of, messages::context& context);

  /// Whether operations may be begun that access this rank.
  [[nodiscard]] epoch_answer admit(int rank) {
    HEADWAY_DEBUG_ASSERT(0 <= rank && rank < window_.size());
    switch (access_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire)) {  // (G)
      case access::none:
        break;
      case access::held_shared:
      case access::held_exclusive:
      case access::unchecked:
      case access::started:
        return epoch_answer::ok;
    }
    return admit_without_lock(rank);
  }
  /// Whether there is a passive epoch at this rank: a flush is allowed.
  [[nodiscard]] bool is_passive(int rank) const noexcept;
  [[nodiscard]] bool has_all() const noexcept { return all_ != all_locks::none; }
  /// Whether the window may be freed.
  [[nodiscard]] bool is_idle() const noexcept;

  /// `checked` false: by the program's promise no process holds the lock (MPI_MODE_NOCHECK).
  [[nodiscard]] epoch_answer lock(int rank, windows::lock_type how, bool checked);
  /// `how` gets the status of the operations.
  [[nodiscard]] epoch_answer unlock(int rank, windows::status& how);
  [[nodiscard]] epoch_answer lock_all(bool checked);
  [[nodiscard]] epoch_answer unlock_all(windows::status& how);

  /// Whether a fence is allowed now. `begins` says whether an epoch begins with it.
  [[nodiscard]] bool fence(bool begins) noexcept;

  /// The targets of MPI_Win_start until MPI_Win_complete, and the origins of the last MPI_Win_post.
  [[nodiscard]] const std::vector<int>& started() const noexcept { return started_; }
  [[nodiscard]] const std::vector<int>& posted() const noexcept { return posted_; }
  [[nodiscard]] epoch_answer start(std::vector<int> targets, bool checked);
  [[nodiscard]] epoch_answer complete(windows::status& how);
  [[nodiscard]] epoch_answer post(std::vector<int> origins, bool checked);
  /// Of all origins that were let in. `is_over` false: not yet, and MPI_Win_test may ask again.
  [[nodiscard]] epoch_answer wait();
  [[nodiscard]] epoch_answer test(bool& is_over);

 private:
  enum class access : std::uint8_t { none, held_shared, held_exclusive, unchecked, started };
  enum class all_locks : std::uint8_t { none, when_used, unchecked };
  using requests = std::vector<std::unique_ptr<messages::request>>;

  [[nodiscard]] epoch_answer admit_without_lock(int rank);
  /// Some rank is locked, or was named by MPI_Win_start.
  [[nodiscard]] bool has_access() const noexcept;
  /// The epoch that a fence began is over, because another one begins.
  void end_fences() noexcept {
    fenced_.store(false, std::memory_order_relaxed);  // the program orders its synchronisations
  }
  void set(int rank, access to) noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= rank && rank < window_.size());
    access_[static_cast<std::size_t>(rank)].store(to, std::memory_order_release);  // (G)
  }
  [[nodiscard]] access get(int rank) const noexcept {
    return access_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);  // (G)
  }
  [[nodiscard]] bool is_told_in_memory(int rank) const noexcept {
    return signals_ != nullptr && signals_->reach(rank);
  }
  /// Of the ranks in `started_`. False: a process was lost.
  [[nodiscard]] bool await_posts();
  void receive_from(int rank, int tag, requests& into);
  void send_to(int rank, int tag, requests& sent);
  /// Waits for all of them. False: a process was lost.
  [[nodiscard]] static bool await(requests& all);

  windows::window& window_;
  messages::context& context_;
  windows::epoch_signals* const signals_;  // null: there are none
  // (G) release when the lock was taken, acquire by operations of other threads: what an earlier
  // holder wrote is seen.
  std::vector<std::atomic<access>> access_;
  base::mutex taking_;  // of locks by `admit`
  all_locks all_ = all_locks::none;
  std::atomic<bool> fenced_{false};  // a fence has begun an epoch
  bool started_any_ = false;
  std::vector<int> started_;
  bool posted_any_ = false;
  std::vector<int> posted_;
};

}  // namespace headway::mpi

#pragma once

#include <atomic>
#include <cstdint>

#include "base/copy_for_reader.hpp"
#include "processes/process.hpp"
#include "rails/memory.hpp"
#include "windows/request_slot.hpp"
#include "windows/slot_service.hpp"
#include "windows/wire_way.hpp"

namespace headway::windows {

/// The slots of a target as an origin uses them: when to request something of the target, and how
/// long to wait for it.
///
/// A target that polls carries a request out within a microsecond. One that computes never may. So
/// an origin requests as long as the target takes what it requests. Once it has not, the origin
/// reads the target's sign with each operation, and requests again if the target has polled
/// meanwhile. If a waiting thread of the target sleeps, the origin wakes it after some operations:
/// more of them are likely to follow.
/// Shape:    of an origin, for one target; some words.
/// Threads:  any. What is learnt of the target is relaxed: hints, which carry no data.
/// Progress: `await` waits for the target for about as long as a copy by the kernel takes, or as a
///           wake-up takes if it was woken. Meanwhile this process serves its own slots, because
///           the target may wait for those. A target that has begun is waited for until it has
///           finished or ended.
class slot_client {
 public:
  struct target {
    request_slots& slots;
    staging staged;     ///< may be none
    slot_service& own;  ///< of this process
    int self;           ///< this process's rank in the window
    wire_way& wire;     ///< wakes the target
    int rank;           ///< the target's
    rails::memory& copies;
    processes::peer_id process;
    std::uint64_t base;  ///< of the window, in its process
  };
  explicit slot_client(const target& of) noexcept : of_(of) {}

  enum class outcome : std::uint8_t {
    answered,
    not_answered,  ///< withdrawn
    lost,          ///< the target has ended, and the slot stays as it is
  };
  struct claimed {
    request_slot* slot = nullptr;
    std::uint64_t patience_ns = 0;
  };
  /// A free slot for an operation. None: none is free, or the target is not expected to poll.
  [[nodiscard]] claimed claim() noexcept;
  /// A free slot for more of the same operation; may be null.
  [[nodiscard]] request_slot* claim_another() noexcept;
  /// Waits for what was requested; withdraws it if the target has not begun by then.
  [[nodiscard]] outcome await(request_slot& slot, std::uint64_t patience_ns) noexcept;
  /// The target has begun, or has finished.
  [[nodiscard]] outcome await_end(request_slot& slot) noexcept;
  static void leave(request_slot& slot) noexcept { slot.turn.leave(); }
  /// Remembers whether the target has taken an operation, or a part of it.
  void learn(outcome how) noexcept;

  /// How bytes are copied to memory that the target reads.
  [[nodiscard]] base::copy_for_reader& copies() noexcept { return copies_; }

  [[nodiscard]] const target& of() const noexcept { return of_; }

 private:
  [[nodiscard]] bool has_polled() noexcept;
  [[nodiscard]] bool should_wake(std::uint32_t missed) const noexcept;

  using hint = std::atomic<std::uint32_t>;
  // Operations that follow one another so soon pay for a wake-up. Fewer do not: the next one comes
  // after `gap_growth` times as many.
  static constexpr std::uint32_t worth_waking = 8, first_gap = 8, gap_growth = 4, greatest_gap = 64,
                                 greatest_apart = 64;

  const target of_;
  base::copy_for_reader copies_;
  hint missed_{0};            ///< operations since the target did not take one; 0: it took the last
  hint taken_{worth_waking};  ///< how many it took before that, in a row
  hint gap_{first_gap};       ///< operations until it is woken
  std::atomic<bool> woken_{false};  ///< for the operation under way
  hint apart_{1};        ///< operations between requests to a target that does not take them
  hint rounds_seen_{0};  ///< of its sign, at the last operation
};

}  // namespace headway::windows

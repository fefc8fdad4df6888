#pragma once

#include <atomic>
#include <cstdint>

#include "packets/bundle/replay_ring.hpp"
#include "packets/frames.hpp"
#include "progress/core/ltask.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class part_sender;

/// Sends one frame on one rail from another processor, for the holder of the scheduler's mask.
///
/// Threads:  `free`, `lend`, `take_back` in section S; the ltask in any thread. Between `lend` and
///           `take_back` only the ltask may call the rail's `send` for this peer.
class lane_helper final : public progress::ltask {
  // Ownership: everything but `state_` belongs to S while the state is `free` or `over`, to the
  //           ltask while it is `lent`. Hazards, and the edge that removes each:
  //   the ltask sees half an order, or S's last `send` unfinished    (L) release -> (T) acquire
  //   S sends while the ltask still does, or misses its answer       (O) release -> (B) acquire
  // Checked by: tests/unit/packets/parts_test.cpp, under ThreadSanitizer.
 public:
  explicit lane_helper(body run) noexcept
      : ltask("send a part", run, progress::ltask_kind::one_shot) {}

  struct order {
    part_sender* of = nullptr;
    std::uint32_t lane = 0;
    std::uint32_t number = 0;  ///< of the frame, which is held
    replay_ring::frame* frame = nullptr;
    frame_head head;
  };

  [[nodiscard]] bool free() const noexcept {
    return state_.load(std::memory_order_relaxed) == state::free;  // relaxed: only S sets `free`
  }
  void lend(const order& what) noexcept {
    order_ = what;
    state_.store(state::lent, std::memory_order_release);  // (L)
  }
  /// True: the ltask has answered; the helper is free again.
  [[nodiscard]] bool take_back() noexcept {
    if (state_.load(std::memory_order_acquire) != state::over) return false;  // (B)
    state_.store(state::free, std::memory_order_relaxed);                     // only S looks for it
    return true;
  }
  [[nodiscard]] const order& what() const noexcept { return order_; }
  [[nodiscard]] rails::post answer() const noexcept { return answer_; }

  /// The ltask's input.
  [[nodiscard]] order take() const noexcept {
    static_cast<void>(state_.load(std::memory_order_acquire));  // (T)
    return order_;
  }
  /// The ltask's last access: it may be lent again immediately.
  void give(rails::post answer) noexcept {
    answer_ = answer;
    state_.store(state::over, std::memory_order_release);  // (O)
  }

 private:
  enum class state : std::uint8_t { free, lent, over };
  std::atomic<state> state_{state::free};
  order order_;
  rails::post answer_ = rails::post::done;
};

}  // namespace headway::packets

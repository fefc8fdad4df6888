#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/memory.hpp"
#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// The atomics and flushes that this process has requested of one peer: requests go through the
/// ring, and the peer's engine writes each answer into a line of its own segment.
/// Shape:    at most `calls_max` without an answer, numbered from 0; allocates nothing.
/// Threads:  `full`, `begin`, `began` by the peer's one sender; `report` by one thread at a time;
///           `waiting`, `answered` any thread.
class atomic_calls {
  // Hazards, and the edge that removes each:
  //   call seen before it is written   (B) release of begun_ -> acquire
  //   call reused while it is reported (E) release of ended_ -> acquire
  //   half-written answer seen         (A) release of the line's turn -> acquire
  //   answer overwritten before it is read: the peer writes a line anew for a later request, which
  //   is sent behind (E), and travels with the record's own release
 public:
  static constexpr std::uint64_t not_asked = UINT64_MAX;

  /// `slot` is null if nothing is ever requested of the peer.
  explicit atomic_calls(slot_control* slot) noexcept : slot_(slot) {}

  [[nodiscard]] bool full() const noexcept {
    return begun_.load(std::memory_order_relaxed) -
               ended_.load(std::memory_order_acquire) ==  // (E)
           calls_max;
  }
  /// Returns the number of the call, which begins with `began`. `before` null: a flush.
  [[nodiscard]] std::uint32_t begin(std::uint64_t* before, std::uint64_t cookie) noexcept {
    // only the sender writes it
    const std::uint32_t number = begun_.load(std::memory_order_relaxed);
    calls_[number % calls_max] = {.before = before, .cookie = cookie};
    return number;
  }
  void began() noexcept {
    begun_.store(begun_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // (B)
  }
  [[nodiscard]] bool waiting() const noexcept {
    return begun_.load(std::memory_order_acquire) !=  // (B)
           // an outdated value only makes more calls look pending
           ended_.load(std::memory_order_relaxed);
  }
  /// Whether the oldest call is answered.
  [[nodiscard]] bool answered() const noexcept {
    const std::uint32_t oldest = ended_.load(std::memory_order_relaxed);  // as in `waiting`
    return oldest != begun_.load(std::memory_order_acquire) && has_answer(oldest);  // (B)
  }
  /// Reports the answered calls; all of them, as failed, if the peer is `down`. A flush also waits
  /// until `emptied(ticket)` is true; its ticket is `not_asked` the first time.
  template <class Emptied>
  [[nodiscard]] std::size_t report(peer_id peer, bool down, std::span<event> out,
                                   Emptied emptied) noexcept {
    std::size_t count = 0;
    std::uint32_t number = ended_.load(std::memory_order_relaxed);  // only the reporter writes it
    const std::uint32_t begun = begun_.load(std::memory_order_acquire);  // (B)
    for (; number != begun && count < out.size(); ++number) {
      call& c = calls_[number % calls_max];
      const bool here = has_answer(number) && (c.before || emptied(c.ticket));
      if (!here && !down) break;
      const answer_line& line = slot_->answers[number % calls_max];
      const bool well = here && (!c.before || line.well != 0);
      if (well && c.before) *c.before = line.before;
      out[count++] = {
          .kind = well ? event_kind::sent : event_kind::failed, .peer = peer, .cookie = c.cookie};
    }
    if (count > 0) ended_.store(number, std::memory_order_release);  // (E)
    return count;
  }

  /// At the peer: writes the answer to call `number`.
  static void answer(slot_control& slot, std::uint32_t number, bool well,
                     std::uint64_t before) noexcept {
    answer_line& line = slot.answers[number % calls_max];
    line.before = before;
    line.well = well;
    line.turn.store(std::uint64_t{number} + 1, std::memory_order_release);  // (A)
  }

 private:
  struct call {
    std::uint64_t* before = nullptr;
    std::uint64_t cookie = 0;
    std::uint64_t ticket = not_asked;  // of a flush; used by the reporter
  };
  [[nodiscard]] bool has_answer(std::uint32_t number) const noexcept {
    return slot_->answers[number % calls_max].turn.load(std::memory_order_acquire) ==  // (A)
           std::uint64_t{number} + 1;
  }

  slot_control* slot_;
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<std::uint32_t> ended_{0};
  std::array<call, calls_max> calls_;
};

}  // namespace headway::rails::shm

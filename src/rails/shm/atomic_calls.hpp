#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/memory.hpp"
#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// The atomics and flushes that this process has asked of one peer: requests go through the ring,
/// the peer's engine answers each in a line of its own segment.
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

  /// `slot` is null at a peer that nothing is asked of.
  explicit atomic_calls(slot_control* slot) noexcept : slot_(slot) {}

  [[nodiscard]] bool full() const noexcept {
    return begun_.load(std::memory_order_relaxed) -
               ended_.load(std::memory_order_acquire) ==  // (E)
           calls_max;
  }
  /// The number of the call; it counts once `began` is called. `before` null: a flush.
  [[nodiscard]] std::uint32_t begin(std::uint64_t* before, std::uint64_t cookie) noexcept {
    const std::uint32_t number = begun_.load(std::memory_order_relaxed);  // the sender's own
    calls_[number % calls_max] = {.before = before, .cookie = cookie};
    return number;
  }
  void began() noexcept {
    begun_.store(begun_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // (B)
  }
  [[nodiscard]] bool waiting() const noexcept {
    return begun_.load(std::memory_order_acquire) !=  // (B)
           ended_.load(std::memory_order_relaxed);    // an old one only looks like more waiting
  }
  /// Whether the oldest has its answer.
  [[nodiscard]] bool answered() const noexcept {
    const std::uint32_t oldest = ended_.load(std::memory_order_relaxed);  // as in `waiting`
    return oldest != begun_.load(std::memory_order_acquire) && has_answer(oldest);  // (B)
  }
  /// Reports the calls that have their answer, all of them as failed where the peer is `down`. A
  /// flush ends when `emptied(ticket)` says so, too; its ticket is `not_asked` the first time.
  template <class Emptied>
  [[nodiscard]] std::size_t report(peer_id peer, bool down, std::span<event> out,
                                   Emptied emptied) noexcept {
    std::size_t count = 0;
    std::uint32_t number = ended_.load(std::memory_order_relaxed);       // the reporter's own
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

  /// At the peer: its answer to call `number`.
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
    std::uint64_t ticket = not_asked;  // of a flush; the reporter's
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

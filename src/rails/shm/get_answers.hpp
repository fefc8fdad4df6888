#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/exposures.hpp"
#include "rails/shm/layout.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

/// The gets that one peer has requested of this process: the bytes go through the reply buffers of
/// the peer's slot. The other end of get_calls.hpp.
/// Shape:    at most `calls_max` under way; allocates nothing.
/// Threads:  `take`, `serve` one at a time; `waiting` any thread.
/// Progress: never waits. `serve` copies as many replies as there are buffers.
/// Errors:   a get of what is not exposed to the peer, or is withdrawn meanwhile, is refused.
class get_answers {
 public:
  void begin(const slot_view& slot, std::size_t reply_bytes) noexcept {
    slot_ = slot;
    reply_bytes_ = reply_bytes;
  }
  /// False: the request is empty, or the peer has more under way than it may.
  [[nodiscard]] bool take(const get_call& asked) noexcept {
    if (asked.bytes == 0 || taken_ - served_ == calls_max) return false;
    asked_[taken_++ % calls_max] = asked;
    any_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Whether some get is unanswered.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// Whether `serve` would do something.
  [[nodiscard]] bool waiting() const noexcept {
    const std::uint64_t before = ticket_.load(std::memory_order_acquire);
    // `serve` has moved on, so the buffer read here is not the current one.
    return any() && (is_free(before) || ticket_.load(std::memory_order_acquire) != before);
  }
  /// Fills free buffers. True: the peer may have to be woken.
  [[nodiscard]] bool serve(peer_id peer, exposures& exposed) noexcept {
    std::uint32_t filled = 0;
    for (; served_ != taken_ && filled < reply_count; ++filled) {
      // only this thread writes it
      const std::uint64_t ticket = ticket_.load(std::memory_order_relaxed);
      if (!is_free(ticket)) break;
      get_call& asked = asked_[served_ % calls_max];
      const std::size_t bytes = std::min<std::uint64_t>(asked.bytes, reply_bytes_);
      const std::size_t index = ticket % reply_count;
      const auto said =
          exposed.read(peer, asked.id, asked.offset, {slot_.replies + index * reply_bytes_, bytes});
      const bool well = said.what == exposures::answer::done;
      slot_.control->replies[index].bytes = well ? static_cast<std::uint32_t>(bytes) : 0;
      asked.offset += bytes;
      asked.bytes -= bytes;
      if (!well || asked.bytes == 0) ++served_;
      ticket_.store(ticket + 1, std::memory_order_release);
      fill_piece(slot_.control->replies[index].turn, ticket / reply_count);
    }
    if (served_ == taken_) any_.store(false, std::memory_order_relaxed);
    return filled > 0;
  }

 private:
  [[nodiscard]] bool is_free(std::uint64_t ticket) const noexcept {
    return piece_is_free(slot_.control->replies[ticket % reply_count].turn, ticket / reply_count);
  }

  slot_view slot_;
  std::size_t reply_bytes_ = 0;
  std::array<get_call, calls_max> asked_;
  std::uint32_t taken_ = 0, served_ = 0;
  std::atomic<bool> any_{false};          // a hint
  std::atomic<std::uint64_t> ticket_{0};  // of the next reply; written by `serve`
};

}  // namespace headway::rails::shm

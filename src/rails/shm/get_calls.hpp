#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "rails/memory.hpp"
#include "rails/shm/layout.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

/// The gets that this process has requested of one peer whose memory the kernel does not let it
/// read: a record requests all the bytes, and the peer's engine passes them through the reply
/// buffers of the slot, in turns (pieces.hpp), in the order of the gets.
/// Shape:    at most `calls_max` under way; allocates nothing.
/// Threads:  `full`, `begin` by the peer's one sender; `report` by one thread at a time; `waiting`,
///           `answered` any thread.
/// Errors:   replies are checked: one that does not fit ends its get as failed.
class get_calls {
  // Hazards, and the edge that removes each:
  //   call seen before it is written   (B) release of begun_ -> acquire
  //   call reused while it is reported (E) release of ended_ -> acquire
  //   replies: see pieces.hpp, where this end is the receiver
 public:
  get_calls(const slot_view& slot, std::size_t reply_bytes) noexcept
      : slot_(slot), reply_bytes_(reply_bytes) {}

  [[nodiscard]] bool full() const noexcept {
    return begun_.load(std::memory_order_relaxed) -
               ended_.load(std::memory_order_acquire) ==  // (E)
           calls_max;
  }
  /// Before the record is written, because the answer may come at once.
  void begin(std::span<std::byte> to, std::uint64_t cookie) noexcept {
    // only the sender writes it
    const std::uint32_t number = begun_.load(std::memory_order_relaxed);
    calls_[number % calls_max] = {.left = to, .cookie = cookie};
    begun_.store(number + 1, std::memory_order_release);  // (B)
  }
  [[nodiscard]] bool waiting() const noexcept {
    return begun_.load(std::memory_order_acquire) !=  // (B)
           // an outdated value only makes more calls look pending
           ended_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool answered() const noexcept {
    return waiting() && reply_is_full(ticket_.load(std::memory_order_relaxed));  // a hint
  }
  /// Copies replies out, about `budget_bytes` of them, and reports the gets that are complete; all
  /// of them, as failed, if the peer is `down`. `freed`: the peer may have to be woken.
  [[nodiscard]] std::size_t report(peer_id peer, bool down, std::span<event> out,
                                   std::size_t budget_bytes, bool& freed) noexcept {
    std::size_t count = 0, copied = 0;
    std::uint32_t number = ended_.load(std::memory_order_relaxed);  // only the reporter writes it
    const std::uint32_t begun = begun_.load(std::memory_order_acquire);  // (B)
    while (number != begun && count < out.size() && copied < budget_bytes) {
      call& c = calls_[number % calls_max];
      // only the reporter writes it
      const std::uint64_t ticket = ticket_.load(std::memory_order_relaxed);
      bool over = down, well = false;
      if (reply_is_full(ticket)) {
        copied += take(c, ticket, well);
        ticket_.store(ticket + 1, std::memory_order_relaxed);
        free_piece(line(ticket).turn, ticket / reply_count);
        freed = true;
        over = !well || c.left.empty();
      } else if (!down) {
        break;
      }
      if (!over) continue;
      out[count++] = {
          .kind = well ? event_kind::sent : event_kind::failed, .peer = peer, .cookie = c.cookie};
      ended_.store(++number, std::memory_order_release);  // (E)
    }
    return count;
  }

 private:
  struct call {
    std::span<std::byte> left;
    std::uint64_t cookie = 0;
  };
  [[nodiscard]] reply_line& line(std::uint64_t ticket) const noexcept {
    return slot_.control->replies[ticket % reply_count];
  }
  [[nodiscard]] bool reply_is_full(std::uint64_t ticket) const noexcept {
    return piece_is_full(line(ticket).turn, ticket / reply_count);
  }
  [[nodiscard]] std::size_t take(call& c, std::uint64_t ticket, bool& well) noexcept {
    const std::size_t bytes = line(ticket).bytes;  // 0: refused
    well = bytes > 0 && bytes <= reply_bytes_ && bytes <= c.left.size();
    if (!well) return 0;
    std::memcpy(c.left.data(), slot_.replies + ticket % reply_count * reply_bytes_, bytes);
    c.left = c.left.subspan(bytes);
    return bytes;
  }

  const slot_view slot_;
  const std::size_t reply_bytes_;
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<std::uint32_t> ended_{0};
  std::atomic<std::uint64_t> ticket_{0};  // of the next reply; written by `report`
  std::array<call, calls_max> calls_;
};

}  // namespace headway::rails::shm

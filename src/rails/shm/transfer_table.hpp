#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/memory.hpp"
#include "rails/shm/layout.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/way_choice.hpp"

namespace headway::rails::shm {

/// The transfers under way to one peer, from their notice until all their bytes are there. They are
/// counted from 0; transfer n has an entry here, and a line in the peer's segment that both ends
/// write.
///
/// Shape:    `transfers_max` entries; allocates nothing.
/// Threads:  `full`, `begin`, `began` by the peer's one sender; `entry`, `take_returned`, `report`,
///           by one thread at a time, the pusher; the rest any thread.
class transfer_table {
  // Hazards, and the edge that removes each:
  //   transfer seen before it is written  (T) release of posted_ -> acquire by the pusher
  //   entry reused before it is reported  (D) release of done_ -> acquire in `full`
 public:
  struct posting {
    std::span<const std::byte> payload;
    std::uint64_t cookie = 0;
    std::size_t pushed = 0;            // bytes; written by the pusher
    std::uint32_t returned_first = 0;  // pieces that could not be read or placed
    std::uint32_t returned_count = 0;
    std::uint64_t begun_ns = 0;  // 0: not timed
    way_choice::way chosen = way_choice::way::buffers;
    bool can_place = false;  // where the peer lends a target
  };

  /// `way` null: nothing is ever begun. `push` false: no buffers if the peer reads this process's
  /// memory. `writable_pid` 0: the peer's memory cannot be written.
  transfer_table(attachment* way, bool push, pid_t writable_pid) noexcept
      : way_(way), push_(push), writable_pid_(writable_pid) {}

  [[nodiscard]] bool full() const noexcept {
    return posted_.load(std::memory_order_relaxed) -     // only the sender writes it
               done_.load(std::memory_order_acquire) ==  // (D)
           transfers_max;
  }
  /// Unless `full`. The transfer begins with `began`, after the notice was written. `crosses`:
  /// payloads of the peer are coming.
  [[nodiscard]] transfer_notice begin(const remote_place& to, std::span<const std::byte> from,
                                      std::uint64_t cookie, bool crosses) noexcept;
  void began() noexcept {
    posted_.store(posted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // (T)
  }

  /// The transfers [oldest, end) are not reported.
  [[nodiscard]] std::uint32_t oldest() const noexcept {
    return done_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t end() const noexcept {
    return posted_.load(std::memory_order_acquire);  // (T)
  }
  [[nodiscard]] bool unfinished() const noexcept {
    return end() != done_.load(std::memory_order_acquire);
  }
  [[nodiscard]] posting& entry(std::uint32_t number) noexcept {
    return postings_[number % transfers_max];
  }
  [[nodiscard]] const posting& entry(std::uint32_t number) const noexcept {
    return postings_[number % transfers_max];
  }
  [[nodiscard]] transfer_line& line(std::uint32_t number) const noexcept {
    return way_->slot().control->transfers[number % transfers_max];
  }
  [[nodiscard]] std::uint64_t piece_count(std::uint32_t number) const noexcept {
    const std::size_t piece_bytes = way_->shape().piece_bytes;
    return (entry(number).payload.size() + piece_bytes - 1) / piece_bytes;
  }
  /// All its bytes have arrived.
  [[nodiscard]] bool is_whole(std::uint32_t number) const noexcept;
  /// Whether the peer has returned pieces, which are then in the entry.
  [[nodiscard]] bool take_returned(std::uint32_t number) noexcept;
  /// Whether pieces go through buffers at all.
  [[nodiscard]] bool has_buffers() const noexcept { return push_ || !is_pulled(); }
  /// The peer can read everything itself, and should, because this process computes.
  [[nodiscard]] bool leaves_copying() const noexcept;
  /// The peer computes and leaves everything to this end: to any thread that polls.
  [[nodiscard]] bool copies_alone(std::uint32_t number) const noexcept;
  [[nodiscard]] bool may_place(std::uint32_t number) const noexcept;
  /// Where the peer lets this process write; 0: nowhere, or not yet.
  [[nodiscard]] std::uint64_t target_of(std::uint32_t number) const noexcept;
  /// The kernel or the peer refuses: from now on, pieces go through buffers, or are read by the
  /// peer.
  void stop_placing(std::uint32_t number) noexcept;
  [[nodiscard]] pid_t writable_pid() const noexcept {
    return writable_pid_.load(std::memory_order_relaxed);
  }

  /// Reports the oldest transfers that are whole; all of them, as failed, if the peer is `down`.
  [[nodiscard]] std::size_t report(peer_id peer, bool down, std::span<event> out) noexcept;

 private:
  // for fewer bytes, system calls cost more
  static constexpr std::size_t placed_bytes_min = 128 * 1024;

  [[nodiscard]] bool buffers_were_used() const noexcept;
  [[nodiscard]] bool is_pulled() const noexcept {
    return way_->slot().control->pulls.load(std::memory_order_relaxed) != 0;
  }

  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint32_t> done_{0};
  attachment* const way_;
  const bool push_;
  // set to 0 by the pusher when the kernel or the peer refuses
  std::atomic<pid_t> writable_pid_;
  std::array<posting, transfers_max> postings_;
  // Pushed through buffers so far. Only the pusher writes; relaxed, it carries no data.
  std::atomic<std::uint64_t> buffered_bytes_{0};
  way_choice choice_;
};

}  // namespace headway::rails::shm

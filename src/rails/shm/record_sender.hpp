#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/copy_for_reader.hpp"
#include "base/prefetch_for_writing.hpp"
#include "base/process_edge.hpp"
#include "rails/driver.hpp"
#include "rails/passed_buffers.hpp"
#include "rails/shm/doorbell.hpp"
#include "rails/shm/header_copy.hpp"
#include "rails/shm/layout.hpp"
#include "rails/shm/ring.hpp"
#include "rails/shm/ring_memory.hpp"
#include "rails/shm/segment.hpp"

namespace headway::rails::shm {

/// Writes records into this process's ring in one peer's segment, and wakes the peer if it sleeps.
///
/// Shape:    allocates nothing.
/// Threads:  `usable`, `reserve`, `write`, `send` one at a time; the rest any thread, also at the
///           same time.
/// Progress: never waits; a full ring is an ordinary answer.
class record_sender {
 public:
  /// `way` outlives this object. Null: there is no segment (any more), and `usable` is false.
  record_sender(attachment* way, bool fence_always) noexcept;

  /// Before each call that writes. False: the peer is down.
  [[nodiscard, gnu::always_inline]] inline bool usable() noexcept {
    if (state_.load(std::memory_order_relaxed) == state::up && !bell_.is_closed()) [[likely]]
      return true;
    return begin();
  }
  /// Makes room for a record of so many cells; false: full, and the peer is asked to make room.
  [[nodiscard, gnu::always_inline]] inline bool reserve(std::uint64_t cells) noexcept {
    if (!ring_.reserve(cells)) [[unlikely]]
      return reserve_late(cells);
    if (starved_at_.load(std::memory_order_relaxed) != not_starved) [[unlikely]]
      starved_at_.store(not_starved, std::memory_order_relaxed);
    return true;
  }
  /// `done` or `retry`.
  [[nodiscard, gnu::always_inline]] inline post send(const packet& what) noexcept {
    if (what.payload.size() >= passed_bytes_min) [[unlikely]] {
      if (has_buffer()) return send_in_buffer(what);
      if (goes_in_parts(what)) return send_in_parts(what);
    }
    return write_record(record_kind::packet, what.header, what.payload, what.can_wait);
  }
  /// The same for another record, which cannot wait.
  [[nodiscard]] post write(record_kind kind, std::span<const std::byte> first,
                           std::span<const std::byte> second = {}) noexcept;

  /// After a store into the peer's memory that it must see, whether it runs or sleeps.
  void notify() noexcept {
    notify_of_waiting();
    if (hurry_bell_.must_ring(fence_always_)) [[unlikely]]
      way_->ring_bell();
  }
  /// The same of what can wait.
  void notify_of_waiting() noexcept {
    if (bell_.must_ring(fence_always_)) [[unlikely]]
      way_->ring_bell();
  }
  /// Whether a `reserve` that found the ring full would now find room.
  [[nodiscard]] bool has_room_again() noexcept {
    const std::uint64_t starved = starved_at_.load(std::memory_order_relaxed);
    return starved != not_starved &&
           ring_.memory().consumed().load(std::memory_order_acquire) != starved;
  }
  [[nodiscard]] bool peer_has_closed() const noexcept { return bell_.is_closed(); }
  /// What was received from the peer may be the reply to any record that was published.
  void reply_was_received() noexcept { to_peer_.returns(); }
  /// The buffers that this process and the peer pass to each other.
  [[nodiscard]] passed_buffers<>& passed() noexcept { return passed_; }
  /// Whether `send` would use a passed buffer. The first call makes memory for the one in the
  /// peer's segment. For the thread that may send; for others, a hint.
  [[nodiscard]] bool has_buffer() noexcept {
    if (!reserved_.load(std::memory_order_relaxed)) [[unlikely]]
      reserve_buffer();
    return passed_.any();
  }
  /// For good: `usable` is false from now on.
  void set_down() noexcept { state_.store(state::down, std::memory_order_relaxed); }

 private:
  enum class state : std::uint8_t { fresh, up, down };
  // Of a packet in parts, so long that publishing a part costs little beside copying it, and no
  // longer than half of the payload.
  static constexpr std::size_t part_bytes_max = 16 * 1024;
  static constexpr std::size_t parts_bytes_min = 12 * 1024;
  // Payloads that gain by a passed buffer.
  static constexpr std::size_t passed_bytes_min = 512;
  static constexpr std::uint64_t fetched_ahead = 3 * cells_per_line;
  static constexpr std::uint64_t fetched_cells_max = 16 * cells_per_line;
  static constexpr std::uint64_t not_starved = ~std::uint64_t{0};

  [[nodiscard, gnu::noinline]] bool begin() noexcept;
  [[gnu::noinline]] void reserve_buffer() noexcept;
  [[nodiscard, gnu::noinline]] bool reserve_late(std::uint64_t cells) noexcept;
  [[nodiscard, gnu::noinline]] post send_in_parts(const packet& what) noexcept;
  [[nodiscard, gnu::noinline]] post send_in_buffer(const packet& what) noexcept;
  [[nodiscard]] static bool goes_in_parts(const packet& what) noexcept {
    return what.in_parts && what.payload.size() >= parts_bytes_min;
  }
  struct parts {
    std::size_t count, bytes;  // the last one has the rest
  };
  [[nodiscard]] static parts parts_of(const packet& what) noexcept;
  [[nodiscard, gnu::always_inline]] inline post write_record(record_kind kind,
                                                             std::span<const std::byte> first,
                                                             std::span<const std::byte> second,
                                                             bool can_wait) noexcept {
    const auto gap = gap_before(second, first.size());
    const auto cells = cells_of(gap + first.size() + second.size());
    if (!reserve(cells)) [[unlikely]]
      return post::retry;
    publish({.kind = kind, .gap = gap}, cells, first, second, can_wait);
    return post::done;
  }
  /// Room for it is reserved. `head`: without the number of bytes.
  [[gnu::always_inline]] inline void publish(record_head head, std::uint64_t cells,
                                             std::span<const std::byte> first,
                                             std::span<const std::byte> second,
                                             bool can_wait) noexcept {
    head.bytes = first.size() + second.size();
    // A stream ends with a fence, which would wait for this store, too.
    const bool streams = copy_to_ring_.streams();
    if (!streams) ring_.begin(cells);
    std::byte* const at = ring_.memory().cell(ring_.position()) + sizeof(std::uint64_t) + head.gap;
    copy_to_ring_.copy(at + first.size(), second.data(), second.size());
    if (streams) ring_.begin(cells);
    copy_header(at, first);
    leave(head, cells, can_wait);
    if (!streams) fetch_ahead(cells);
  }
  /// Its bytes are where the head says.
  [[gnu::always_inline]] inline void leave(const record_head& head, std::uint64_t cells,
                                           bool can_wait) noexcept {
    to_peer_.leaves();
    ring_.publish(cells, record_word(head),
                  record_word({.kind = record_kind::skip, .bytes = ring_.skipped()}));
    can_wait ? notify_of_waiting() : hurry();
  }
  /// Fetches the lines of a record that may come behind the next one or two, and is probably as
  /// long as this one (docs/decisions/0034-half-lines.md). The first line behind this record stays
  /// where the reader polls it. Long copies are not helped, and a stream needs no line.
  [[gnu::always_inline]] inline void fetch_ahead(std::uint64_t cells) noexcept {
    const auto from = ring_.written() + fetched_ahead;
    const auto end = from + cells;
    if (cells > fetched_cells_max || !ring_.owns(end)) [[unlikely]]
      return;
    // From the next line on: two records of one cell share a line.
    for (auto at = from + from % cells_per_line; at < end; at += cells_per_line)
      base::prefetch_line_for_writing(ring_.memory().cell(at));
  }
  /// What is written so far cannot wait, or not any longer.
  void hurry() noexcept {
    // Before the load of the bell: the receiver looks at it after it has armed. It carries
    // nothing.
    ring_.memory().hurried().store(ring_.written(), std::memory_order_relaxed);
    notify();
  }

  ring_writer<ring_memory> ring_;
  doorbell bell_;
  doorbell hurry_bell_;
  std::atomic<state> state_;
  const bool fence_always_;
  base::copy_for_reader copy_to_ring_{base::copy_for_reader::slow_copies::compare};
  std::atomic<std::uint64_t> starved_at_{not_starved};  // `consumed` when there was no room
  attachment* const way_;
  [[no_unique_address]] base::process_edge to_peer_;
  passed_buffers<> passed_;
  std::atomic<bool> reserved_{false};  // the first thread to set it calls `set_peers`
};

}  // namespace headway::rails::shm

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/copy_between_cores.hpp"
#include "base/copy_small.hpp"

namespace headway::base {

/// Copies bytes to memory that a thread on another core reads next, and has read before.
///
/// A store needs its cache line, which may still lie in the reader's caches. Between cores that
/// share a cache that takes a few nanoseconds. Between others it takes some tens, one line after
/// the other, and streaming (non-temporal) stores are several times faster: they take the line from
/// all caches without reading it, and the reader then reads memory. Which cores the two threads run
/// on changes while a program runs, so the first bytes of one copy in many go through the caches
/// and are timed; the first ones soon.
///
/// Where the two threads go through more data than the caches hold, stores between near cores are
/// slow too. A stream then gains nothing, and the reader has to read memory although the written
/// bytes would fit into a cache. With `slow_copies::compare`, if a copy of 4 KiB or more is slow,
/// the next one streams and is timed, and the others stream only if it is clearly quicker.
/// docs/decisions/0028-streaming-stores.md has the figures.
///
/// Shape:    six bytes; one for each reader, or for each group of readers.
/// Threads:  any. What is learnt is read and written relaxed, and carries nothing: threads that
///           copy at the same time may time one copy more or less. A release store behind `copy`
///           publishes the bytes.
/// Progress: never waits.
class copy_for_reader {
 public:
  /// What follows if copies of 4 KiB or more are slow.
  enum class slow_copies : std::uint8_t { stream, compare };
  explicit copy_for_reader(slow_copies after = slow_copies::stream) noexcept : after_(after) {}

  /// Memcpy; the two blocks do not overlap.
  [[gnu::always_inline]] void copy(std::byte* to, const std::byte* from,
                                   std::size_t size) noexcept {
    if (size <= small_bytes_max) return copy_small(to, from, size);
    if (size < streamed_bytes_min) return copy_between_cores(to, from, size);
    const auto left = until_timed_.load(std::memory_order_relaxed);
    if (left <= 1) [[unlikely]]
      return copy_timed(to, from, size);
    until_timed_.store(left - 1, std::memory_order_relaxed);
    copy_as_learnt(to, from, size);
  }

  /// Whether copies go past the caches now.
  [[nodiscard]] bool streams() const noexcept { return streams_.load(std::memory_order_relaxed); }
  /// Whether the next copy of `streamed_bytes_min` or more is timed.
  [[nodiscard]] bool times_next() const noexcept {
    return until_timed_.load(std::memory_order_relaxed) <= 1;
  }
  /// Whether it then streams, to be compared with the last one, if it has 4 KiB or more.
  [[nodiscard]] bool compares_next() const noexcept {
    return slow_ns_per_kib_.load(std::memory_order_relaxed) != 0;
  }
  /// What is concluded from a copy through the caches that took so long.
  void learn(std::size_t size, std::uint64_t ns) noexcept;
  /// The same for one that streamed, after a slow one.
  void learn_streamed(std::size_t size, std::uint64_t ns) noexcept;

  static constexpr std::size_t streamed_bytes_min = 512;

 private:
  // Through the caches a line takes 1 to 3 ns if it comes from one that both cores share, 4 to 7 if
  // it is still in the reader's own, 20 to 35 if the cores share none. A stream takes 4, but its
  // reader then reads memory.
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t timed_bytes_max = 16384;  ///< more would cost more and tell nothing
  /// Fewer bytes are stored before the first of them has left the core: they are timed until all
  /// have. From more on, waiting for that would count the source's own way from memory.
  static constexpr std::size_t awaited_bytes_max = 4096;
  /// A copy that takes longer is slow: `fixed_ns` is for the clock, and for waiting.
  struct limit {
    std::uint64_t fixed_ns, ns_per_line;
  };
  static constexpr limit awaited{260, 5}, not_awaited{40, 8};
  static constexpr std::uint8_t timed_period = 32, awaited_period = 240, first_timed = 4;
  // One may be slow by accident: an interrupt, a page that is touched for the first time. And one
  // may be quick, because its lines are in no cache after a stream.
  static constexpr std::uint8_t against_max = 2;

  [[nodiscard]] static std::uint16_t per_kib(std::size_t size, std::uint64_t ns) noexcept;
  void conclude(bool slow, std::uint8_t period) noexcept;
  void copy_timed(std::byte* to, const std::byte* from, std::size_t size) noexcept;
  void copy_as_learnt(std::byte* to, const std::byte* from, std::size_t size) const noexcept {
    if (streams()) detail::copy_by_streaming_stores(to, from, size);
    else copy_between_cores(to, from, size);
  }

  const slow_copies after_;
  std::atomic<std::uint8_t> until_timed_{first_timed};
  std::atomic<std::uint8_t> against_{0};  // in a row, what is done now
  std::atomic<bool> streams_{false};
  std::atomic<std::uint16_t> slow_ns_per_kib_{0};  // of the last one, if it is to be compared
};

}  // namespace headway::base

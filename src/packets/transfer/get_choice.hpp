#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::packets {

/// Decides whether the receiver of a large message in the same node gets it (one core, one system
/// call), or its sender puts it (a reply first, then both cores). Which is faster depends on the
/// machine, the size, and on other messages between the two. So messages are timed, some in a row
/// for one figure, and now and then some use the slower way, to see whether it still is. A row ends
/// after two messages if both are clearly slower than by the other way, and a size class starts
/// with the figures of the next smaller one where those differ clearly: many programs send only a
/// hundred messages of a size.
///
/// Shape:    a figure for each way and size class, with and without other messages under way.
/// Threads:  any; the lock is held for some tens of nanoseconds.
class get_choice {
 public:
  enum class way : std::uint8_t { put, get };
  static constexpr std::uint32_t row_length = 8;  ///< messages for one figure
  static constexpr std::uint32_t first_row_length = 4, cold_row_length = 2;
  static constexpr std::uint32_t first_rows = 6;  ///< alternate between the two ways
  /// Rows until the slower way is tried again: twice as many each time, because the first rows of a
  /// process meet cold caches and page faults, which may make the faster way look like the slower.
  static constexpr std::uint32_t retry_period_min = 2, retry_period_max = 64;
  static constexpr std::uint32_t cold_rows = 12;
  /// After these, a retry costs at most a fiftieth of the time, as far as this many rows permit.
  static constexpr std::uint32_t retry_rows_max = 512;
  /// a larger one would occupy a polling thread
  static constexpr std::uint64_t get_bytes_max = 1 << 20;

  /// The choice for a message, kept until it has arrived.
  struct choice {
    way by = way::put;
    bool timed = false;
    std::uint8_t number = 0;  // of the size class, with or without others under way
    std::uint32_t row = 0;    // in which the message is timed: how many that class had before
    std::uint64_t begun_ns = 0;
  };

  /// `beside`: other large messages move between the two processes.
  [[nodiscard]] choice choose(std::uint64_t bytes, bool beside, std::uint64_t now_ns) noexcept;
  /// What was faster so far; nothing is learnt from the message. While threads wait for processors,
  /// its time says nothing of its way. If nothing is known, a put: a get takes several times as
  /// much processor time where the kernel copies slowly.
  [[nodiscard]] choice choose_known(std::uint64_t bytes, bool beside) noexcept;
  void arrived(const choice& made, std::uint64_t bytes, std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::uint32_t ways = 2;
  /// Messages of a size class, with or without others under way, and their times.
  struct size_class {
    way now = way::put;
    std::uint32_t chosen = 0, ended = 0;              // of this row
    std::array<std::uint64_t, ways> cost{};           // by way, ns for 1 KiB; 0: not known
    std::array<std::uint64_t, row_length> samples{};  // the same, of the messages in this row
    std::uint64_t last_end_ns = 0;
    std::uint32_t rows = 0;
    std::uint32_t retry_period = retry_period_min;
    std::uint32_t retry_at = first_rows + retry_period_min;  // rows
    [[nodiscard]] std::uint32_t length() const noexcept {
      return rows < ways ? cold_row_length : rows < first_rows ? first_row_length : row_length;
    }
    [[nodiscard]] std::uint64_t cost_of(way by) const noexcept {
      return cost[static_cast<std::size_t>(by)];
    }
    [[nodiscard]] way faster() const noexcept {
      return cost_of(way::get) < cost_of(way::put) ? way::get : way::put;
    }
  };
  static constexpr std::size_t class_count = 8;  // the first has no lower bound
  static constexpr int first_class_bits = 13;    // 4 to 8 KiB

  static std::size_t number_of(std::uint64_t bytes, bool beside) noexcept;
  [[nodiscard]] static bool is_clearly_slower(const size_class& c) noexcept;
  static void learn(size_class& c, bool overlap) noexcept;
  static void start_like(size_class& c, const size_class& smaller) noexcept;

  base::spinlock lock_;
  std::array<size_class, 2 * class_count> classes_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::packets

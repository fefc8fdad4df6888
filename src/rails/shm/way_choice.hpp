#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/clearly_longer.hpp"

namespace headway::rails::shm {

/// Chooses the way of a large payload that no other is in front of: through buffers, where both
/// ends copy every byte at the same time, or directly to its target, where the kernel copies half
/// of them for each end. Which is faster depends on the machine and the size: transfers are timed,
/// and now and then one goes the slower way, to see whether it still is. A size class starts with
/// the figures of the next smaller one where those differ clearly.
///
/// Threads:  `choose` one at a time, `learn` one at a time, both at the same time. The figures are
///           relaxed: they carry nothing, and a lost one is learnt again.
class way_choice {
 public:
  enum class way : std::uint8_t { buffers, placing };
  static constexpr std::uint32_t trials = 8, trials_least = 4;
  static constexpr std::uint32_t retry_period = 64;  // at least, and so that it costs 2 % at most

  [[nodiscard]] way choose(std::uint64_t bytes) noexcept {
    const std::size_t which = class_of(bytes);
    size_class& c = classes_[which];
    if (c.chosen == 0 && which > 0) start_like(c, classes_[which - 1]);
    const std::uint32_t number = c.chosen++;
    const auto by_placing = c.placing.load(std::memory_order_relaxed);
    const auto by_buffers = c.buffers.load(std::memory_order_relaxed);
    const auto [least, most] = std::minmax(by_placing, by_buffers);
    // The first ones meet cold memory and page faults: each way gets several, fewer if they differ
    // clearly.
    if (number < (base::clearly_longer(most, least) ? trials_least : trials))
      return number % 2 == 0 ? way::buffers : way::placing;
    const auto worth = (most - least) * 50 / std::max<std::uint64_t>(least, 1);
    const bool the_slower = number - c.retried >= std::max<std::uint64_t>(retry_period, worth);
    if (the_slower) c.retried = number;
    return (by_placing < by_buffers) != the_slower ? way::placing : way::buffers;
  }

  /// The time of a payload that nothing was in front of.
  void learn(std::uint64_t bytes, way taken, std::uint64_t ns) noexcept {
    size_class& c = classes_[class_of(bytes)];
    auto& known = taken == way::placing ? c.placing : c.buffers;
    const std::uint64_t old = known.load(std::memory_order_relaxed);
    const std::uint64_t seen =
        std::max<std::uint64_t>(ns * 1024 / std::max<std::uint64_t>(bytes, 1), 1);
    // The fastest ones count: the others met a peer that slept or computed. A lasting slow-down is
    // noticed by and by.
    const std::uint64_t now =
        old == 0 || seen < old ? seen : old + (std::min(seen, 2 * old) - old + 15) / 16;
    known.store(now, std::memory_order_relaxed);
  }

 private:
  struct size_class {
    std::atomic<std::uint64_t> buffers{0}, placing{0};  // ns for 1 KiB; 0: never seen
    std::uint32_t chosen = 0, retried = 0;  // how many were; which of them was the last retry
  };
  static constexpr std::size_t class_count = 8;  // the last has no upper end
  static constexpr int first_class_bits = 18;    // below 256 KiB

  /// Takes over the figures of the next smaller class, in place of trials, if they differ clearly.
  static void start_like(size_class& c, const size_class& smaller) noexcept {
    const auto by_placing = smaller.placing.load(std::memory_order_relaxed);
    const auto by_buffers = smaller.buffers.load(std::memory_order_relaxed);
    const auto [least, most] = std::minmax(by_placing, by_buffers);
    if (smaller.chosen < trials || !base::clearly_longer(most, least)) return;
    c.placing.store(by_placing, std::memory_order_relaxed);
    c.buffers.store(by_buffers, std::memory_order_relaxed);
    c.chosen = trials;
  }

  static std::size_t class_of(std::uint64_t bytes) noexcept {
    const int bits = static_cast<int>(std::bit_width(bytes)) - first_class_bits;
    return static_cast<std::size_t>(std::clamp(bits, 0, static_cast<int>(class_count) - 1));
  }

  std::array<size_class, class_count> classes_;
};

}  // namespace headway::rails::shm

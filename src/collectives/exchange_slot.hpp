#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::collectives {

/// One rank's value in the n-th exchange of a group. Each rank of a group has `exchange_lines` of
/// them and uses them alternately: see `slot_of`.
/// Shape:    two cache lines; of a small value the second is neither written nor read. Written by
///           its owner alone: first `value`, then `publish`.
/// Threads:  `publish` the owner; `holds` any thread of any process.
template <class Atomic, class Value>
struct basic_exchange_slot {
  // Hazards, and what removes each:
  //   read before it is written          (P) release store of number -> (A) acquire load
  //   overwritten while others read it   A line of exchange n is written again for n + 2. By then
  //       its owner has seen the lines of all ranks for n + 1, each of which was published, (P),
  //       after that rank's reads of n. With one line it would be written for n + 1, while other
  //       ranks may still read n.
  // Numbers start with 1 and only grow; a line that was never written has 0.
  // Checked by tests/model/exchange_slot_model.cpp (mutations there),
  // tests/stress/shm_collective_stress.cpp
  void publish(std::uint64_t n) noexcept {
    number.store(n, std::memory_order_release);  // (P)
  }
  [[nodiscard]] bool holds(std::uint64_t n) const noexcept {
    return number.load(std::memory_order_acquire) == n;  // (A)
  }

  Atomic number;
  Value value;
};

constexpr std::size_t exchange_lines = 2;

/// The line for exchange n, of the rank whose first line is at `lines`.
template <class Line>
[[nodiscard]] Line& slot_of(Line* lines, std::uint64_t n) noexcept {
  return lines[n % exchange_lines];
}

}  // namespace headway::collectives

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::collectives {

/// One rank's value in the n-th exchange of a group. Each rank of a group has `notice_lines` of
/// them, which it uses in turns: see `notice_of`.
/// Shape:    a cache line. Written by its owner alone: first `value`, then `publish`.
/// Threads:  `publish` the owner; `holds` any thread of any process.
template <class Atomic, class Value>
struct basic_notice {
  // Hazards, and what removes each:
  //   read before it is written          (P) release store of number -> (A) acquire load
  //   overwritten while others read it   A line of exchange n is written again for n + 2. By then
  //       its owner has seen everybody's line of n + 1, which each of them has published, (P),
  //       behind its reads of n. With one line it would be written for n + 1, into which the owner
  //       may go while others still read.
  // Numbers begin with 1, and 0 is a line that nobody has written. They never return.
  // Checked by tests/model/notice_model.cpp (mutations there), tests/stress/notice_stress.cpp
  void publish(std::uint64_t n) noexcept {
    number.store(n, std::memory_order_release);  // (P)
  }
  [[nodiscard]] bool holds(std::uint64_t n) const noexcept {
    return number.load(std::memory_order_acquire) == n;  // (A)
  }

  Atomic number;
  Value value;
};

constexpr std::size_t notice_lines = 2;

/// Where the first of a rank's lines is `lines`: the one of exchange n.
template <class Notice>
[[nodiscard]] Notice& notice_of(Notice* lines, std::uint64_t n) noexcept {
  return lines[n % notice_lines];
}

}  // namespace headway::collectives

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/mpiexec/placement.hpp"
#include "tools/mpiexec/processor_use.hpp"

namespace headway::mpiexec {

/// Finds out that ranks should not stay bound to the places where mpiexec has put them: threads
/// wait for one place, and processors of another are idle for longer. The kernel would move them.
///
/// A balanced job is looked at every eight seconds; what one look finds has to be found again by
/// the next one, because a short time says little.
///
/// Shape:    times in nanoseconds.
/// Threads:  one.
/// Progress: never waits, makes no system call.
/// Errors:   none; what cannot be read counts as nothing.
class balance_watch {
 public:
  static constexpr std::uint64_t first_period_ns = 500'000'000, last_period_ns = 8'000'000'000;
  /// Of the time between two looks: so long threads waited for one place, and so much longer
  /// another one was idle.
  static constexpr double share = 0.25;

  /// `places`: of each rank, none of them empty.
  balance_watch(const std::vector<machine_places::place>& places, std::uint64_t now_ns);

  [[nodiscard]] std::uint64_t next_look_ns() const noexcept { return last_look_ns_ + period_ns_; }
  /// `uses`: what each rank has had since its start; nothing of a rank that has ended.
  /// True: the ranks should not stay bound.
  [[nodiscard]] bool look(std::uint64_t now_ns, std::span<const std::optional<processor_use>> uses);

 private:
  struct place {
    double processors;
    processor_use use = {};  ///< by its ranks, since the last look
  };
  [[nodiscard]] bool is_unbalanced(double interval_ns) const noexcept;

  std::vector<place> places_;
  std::vector<std::size_t> place_of_rank_;
  std::vector<processor_use> last_;  ///< of each rank
  std::uint64_t last_look_ns_, period_ns_ = first_period_ns;
  bool was_unbalanced_ = false;
};

}  // namespace headway::mpiexec

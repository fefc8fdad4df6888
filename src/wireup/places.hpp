#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "launch/job.hpp"

namespace headway::wireup {

/// Which processes of a job share memory, and which share processors.
/// Shape:    sixteen bytes a process.
/// Threads:  any, after `read`.
class places {
 public:
  /// From the records of all processes; after the job's exchange.
  [[nodiscard]] static base::result<places> read(launch::job& job);

  /// By rank: equal numbers share memory. Numbered from 0 in the order of the ranks.
  [[nodiscard]] std::span<const int> nodes() const noexcept { return nodes_; }
  /// Of each rank: the package that the process is bound to, by the kernel's number; -1: none.
  [[nodiscard]] std::span<const int> packages() const noexcept { return packages_; }
  /// Whether the processes of this process's node have read one table of algorithms, all the same.
  enum class tables : std::uint8_t { none, same, different };
  [[nodiscard]] tables tuned_here() const noexcept { return tuned_here_; }
  /// How many processes use the processors that `rank` uses, `rank` included.
  [[nodiscard]] int beside(int rank) const noexcept;
  /// Whether these processes outnumber the processors of some computer. The same answer in every
  /// process.
  [[nodiscard]] bool outnumber_processors(std::span<const std::uint32_t> ranks) const;

 private:
  std::vector<int> nodes_;       // by rank
  std::vector<int> computers_;   // by rank: equal numbers share processors
  std::vector<int> processors_;  // by rank: those of its computer
  std::vector<int> packages_;    // by rank
  tables tuned_here_ = tables::none;
};

/// Of the processes that share the node of process `own`; each array is by rank, 0 is no table.
[[nodiscard]] places::tables compare_tables(std::span<const std::uint64_t> tuned,
                                            std::span<const int> nodes, std::size_t own);

/// Replaces equal values by equal numbers, in order of appearance: {7, 5, 7} → {0, 1, 0}.
[[nodiscard]] std::vector<int> number_by_equality(std::span<const std::uint64_t> values);

}  // namespace headway::wireup

#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "launch/job.hpp"

namespace headway::wireup {

/// Gives equal values equal numbers, from 0 in the order in which they come.
class numbering {
 public:
  [[nodiscard]] int of(std::uint64_t value) {
    return known_.try_emplace(value, static_cast<int>(known_.size())).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, int> known_;
};

/// Where a process runs, by numbers of this process.
struct process_position {
  int node = 0;        ///< equal numbers share memory
  int computer = 0;    ///< equal numbers share processors
  int processors = 0;  ///< of its computer
  int package = -1;    ///< that it is bound to, by the kernel's number; -1: to none alone
};

/// Whether these processes outnumber the processors of some computer.
[[nodiscard]] bool outnumber_processors(std::span<const process_position> of);

/// Which processes of a job share memory, and which share processors.
/// Shape:    sixteen bytes a process, and some words a node.
/// Threads:  any, after `read`.
class places {
 public:
  /// From the records of all processes; after the job's exchange.
  [[nodiscard]] static base::result<places> read(launch::job& job);

  /// By rank: equal numbers share memory. Numbered from 0 in the order of the ranks.
  [[nodiscard]] std::span<const int> nodes() const noexcept { return nodes_; }
  [[nodiscard]] process_position of(std::uint32_t rank) const noexcept {
    return {.node = nodes_[rank],
            .computer = computers_[rank],
            .processors = processors_[rank],
            .package = packages_[rank]};
  }
  /// Whether the processes of this process's node have read one table of algorithms, all the same.
  enum class tables : std::uint8_t { none, same, different };
  [[nodiscard]] tables tuned_here() const noexcept { return tuned_here_; }
  /// How many processes use the processors that `rank` uses, `rank` included.
  [[nodiscard]] int beside(int rank) const noexcept;

  /// The numbers of nodes and computers, for processes of other jobs.
  [[nodiscard]] const numbering& node_numbers() const noexcept { return node_numbers_; }
  [[nodiscard]] const numbering& computer_numbers() const noexcept { return computer_numbers_; }

 private:
  std::vector<int> nodes_;       // by rank
  std::vector<int> computers_;   // by rank: equal numbers share processors
  std::vector<int> processors_;  // by rank: those of its computer
  std::vector<int> packages_;    // by rank
  numbering node_numbers_, computer_numbers_;
  tables tuned_here_ = tables::none;
};

/// Of the processes that share the node of process `own`; each array is by rank, 0 is no table.
[[nodiscard]] places::tables compare_tables(std::span<const std::uint64_t> tuned,
                                            std::span<const int> nodes, std::size_t own);
}  // namespace headway::wireup

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "collectives/exchange_transport.hpp"
#include "collectives/settings.hpp"
#include "collectives/team.hpp"
#include "tests/simulation/dice.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/workload.hpp"

namespace headway::simulation {

/// A collective operation, known to all ranks before it starts.
struct planned_collective {
  collectives::collective what{};
  collectives::algorithm use{};  ///< `automatic`: as the table says
  std::uint32_t number = 0;      ///< among those of the communicator
  int root = 0;
  std::int64_t count = 0;    ///< elements of 8 bytes: of the whole, or of one rank's block
  bool keeps_order = false;  ///< of reductions: the operator does not commute
};

/// A communicator and the operations on it.
struct planned_communicator {
  std::vector<std::uint32_t> members;  ///< by rank
  bool oversubscribed = false;         ///< as the choice of an algorithm sees it
  std::vector<planned_collective> operations;
  // Known because all ranks are in one process:
  std::vector<int> entered;  ///< by operation: ranks that have started it
  bool has_lost = false;     ///< a member has died
};

/// All collective operations of a run, by a seed: every algorithm of the choice table that needs
/// no memory of other processes.
struct collective_plan {
  collective_plan(std::uint32_t processes, std::uint32_t operations, std::size_t bytes_max,
                  std::uint64_t seed);
  /// The first operation of the first communicator, which all processes are members of.
  planned_collective& first() { return communicators.front().operations.front(); }

  std::vector<planned_communicator> communicators;
};

/// One process's part of the collective operations: on each communicator some are under way at a
/// time, in the order of the plan.
///
/// Invariants that it checks: an operation ends on all ranks; its result is right, also where
/// another rank has died, unless it says that it failed; it fails only where a member was lost; a
/// barrier ends after all ranks have entered it; what is only read stays as it is.
class collective_traffic final : public workload {
 public:
  collective_traffic(process& on, collective_plan& all, std::uint64_t seed);
  ~collective_traffic() override;

  void check(bool advanced) override;
  void start_some() override;
  [[nodiscard]] bool may_start() const override;
  [[nodiscard]] bool done() const override;
  void process_died(std::uint32_t which) override;
  void close() override;
  [[nodiscard]] std::string state() const override;

 private:
  static constexpr std::size_t under_way_max = 3;  // on each communicator
  struct operation;
  struct communicator;

  [[nodiscard]] bool may_start(const communicator& c) const;
  void start(communicator& c);
  void check(communicator& c, operation& o);

  process& on_;
  dice dice_;
  std::vector<std::unique_ptr<communicator>> communicators_;
};

}  // namespace headway::simulation

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "endpoints/service.hpp"
#include "launch/job.hpp"
#include "messages/exchange.hpp"
#include "progress/engine.hpp"
#include "topology/machine.hpp"

namespace headway::rails {
class board;
class neighbours;
}  // namespace headway::rails

namespace headway::engine {

/// A rail as `headway info` shows it.
struct rail_entry {
  std::string name;
  std::string address;  ///< for people
  int peers = 0;        ///< processes of the job that are reached over it
};

/// The parts of the house, built in order and taken down in reverse order. One per process.
/// Threads:  `start` and `stop` alone; the rest any thread.
/// Progress: `start` and `stop` wait for the other ranks, each step with a deadline.
class runtime {
 public:
  /// Joins the job, opens the rails, tells the peers. Collective over the job.
  [[nodiscard]] static base::result<std::unique_ptr<runtime>> start();
  /// After the caller's own barrier: closes the rails, stops the threads, leaves the job.
  [[nodiscard]] base::result<> stop();
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// Number of the node that a process runs on: equal numbers share memory. 0 is the first rank's.
  [[nodiscard]] int node_of(int world_rank) const noexcept;
  /// Are these processes, on some computer, more than its processors? The same answer everywhere.
  [[nodiscard]] bool outnumber_processors(std::span<const std::uint32_t> world_ranks) const;
  [[nodiscard]] std::vector<rail_entry> rails() const;

  [[nodiscard]] launch::job& job() noexcept;
  [[nodiscard]] const topology::machine& machine() const noexcept;
  [[nodiscard]] progress::engine& progress() noexcept;
  [[nodiscard]] messages::exchange& messages() noexcept;
  [[nodiscard]] endpoints::service& endpoints() noexcept;
  /// Where the processes of this node show each other small values; null: not on these rails.
  [[nodiscard]] rails::board* board() noexcept;
  /// The memory of this node's processes; null: not on these rails.
  [[nodiscard]] rails::neighbours* memory_nearby() noexcept;

 private:
  struct parts;
  explicit runtime(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::engine

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "collectives/choice.hpp"
#include "collectives/exchange_team.hpp"
#include "collectives/operators.hpp"
#include "runtime/instance.hpp"

namespace headway::tool {

/// Measures blocking collective operations by a given algorithm, on all ranks of the job.
/// Threads:  one.
/// Progress: every function but `usable` is collective, and waits.
/// Errors:   `peer_lost` if a rank is lost or an operation fails.
class collective_meter {
 public:
  /// All ranks are on one node. `bytes_max`: of the vector, or of all blocks together.
  collective_meter(runtime::instance& job, std::size_t bytes_max);
  ~collective_meter();
  collective_meter(const collective_meter&) = delete;
  collective_meter& operator=(const collective_meter&) = delete;

  /// What a blocking call of that size can use here, and what it uses without a measured table.
  [[nodiscard]] std::vector<collectives::algorithm> usable(collectives::collective what,
                                                           std::int64_t bytes) const;
  [[nodiscard]] collectives::algorithm built_in(collectives::collective what,
                                                std::int64_t bytes) const;
  /// Microseconds of a call, each after a barrier, roots in turn: the median over the calls, each
  /// as long as on its slowest rank. The same number on every rank.
  [[nodiscard]] base::result<double> time_us(collectives::collective what, std::int64_t bytes,
                                             collectives::algorithm use, int calls);
  /// The largest of the ranks' values.
  [[nodiscard]] base::result<double> largest(double mine);

 private:
  /// The same for each element, in place.
  [[nodiscard]] base::result<> make_largest(std::vector<double>& all);
  struct call;
  /// A communicator's worth of collective operations.
  struct group {
    group(runtime::instance& job, std::uint32_t number);
    ~group();
    group(const group&) = delete;
    group& operator=(const group&) = delete;
    messages::exchange& exchange;
    messages::context* const context;
    std::optional<collectives::exchange_team> team;
  };

  [[nodiscard]] collectives::question question(collectives::collective what,
                                               std::int64_t bytes) const;
  [[nodiscard]] collectives::reduction sum_of(std::int64_t count);
  [[nodiscard]] collectives::team& measured() noexcept { return measured_.team->ranks(); }
  [[nodiscard]] messages::outcome run(group& in, const call& c);
  [[nodiscard]] bool by_slots(collectives::team& t, const call& c, messages::outcome& how);
  void append(collectives::schedule& s, const collectives::team& t, const call& c);

  group control_;                  // chooses as the built-in table says
  group measured_;                 // by the algorithm that is measured
  collectives::question shape_{};  // of every call: ranks, load, and what they have
  bool has_slots_ = false;
  std::vector<double> from_, into_;
};

}  // namespace headway::tool

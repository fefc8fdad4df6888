#pragma once

#include <optional>

#include "collectives/exchange_transport.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/recent_schedules.hpp"
#include "collectives/team.hpp"

namespace headway::collectives {

/// The team of a communicator, with everything that its collective operations keep.
/// Threads:  see `team`. Its arguments must outlive it.
class exchange_team {
 public:
  /// Facts about the processes, from the composition, and the user's settings.
  struct surroundings {
    node_memory::rail_memory memory = {};
    bool oversubscribed = false;  ///< more ranks than processors on some node
    node_memory::nodes nodes = {};
    settings chosen_by_user = {};
    /// The communicator's, if it has a topology on all its ranks.
    std::optional<neighborhood> neighbors = {};
    const tuned_shape* measured = nullptr;  ///< see team::measured
  };

  exchange_team(messages::exchange& exchange, messages::context& context, const surroundings& known)
      : transport_(exchange, context),
        ranks_(transport_, context.self, context.members->size(), known.oversubscribed,
               known.chosen_by_user, known.measured),
        memory_(ranks_, known.memory, exchange.engine(), context, known.nodes, known.neighbors) {}

  [[nodiscard]] team& ranks() noexcept { return ranks_; }
  [[nodiscard]] recent_schedules& recent() noexcept { return recent_; }
  /// See node_memory::count_call.
  void count_call(const call& what) {
    if (memory_.count_call(what)) [[unlikely]]
      recent_.forget();
  }

  /// See node_memory::count_persistent.
  void count_persistent(const call& what) {
    if (memory_.count_persistent(what)) recent_.forget();
  }
  /// See node_memory::begin_persistent.
  void begin_persistent(schedule& s) { memory_.begin_persistent(s); }
  [[nodiscard]] bool settle_persistent(schedule& s, bool is_built) {
    return memory_.settle_persistent(s, is_built);
  }

 private:
  exchange_transport transport_;
  team ranks_;
  node_memory memory_;
  recent_schedules recent_;
};

}  // namespace headway::collectives

#pragma once

#include <utility>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/team.hpp"

namespace headway::collectives {

/// Some ranks of a team, as a team that sends messages. The schedule uses them while this exists.
/// Threads:  that which builds the schedule.
class team_part {
 public:
  /// `ranks[own_rank]` is this process.
  team_part(schedule& s, const team& whole, std::vector<int> ranks, int own_rank)
      : steps_(s), ranks_(std::move(ranks)), team_(whole, ranks_, own_rank) {
    steps_.use_ranks(ranks_);
  }
  ~team_part() { steps_.use_ranks({}); }
  team_part(const team_part&) = delete;
  team_part& operator=(const team_part&) = delete;

  [[nodiscard]] const team& ranks() const noexcept { return team_; }

 private:
  schedule& steps_;
  const std::vector<int> ranks_;
  const team team_;
};

}  // namespace headway::collectives

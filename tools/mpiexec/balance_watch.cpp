#include "tools/mpiexec/balance_watch.hpp"

#include <algorithm>
#include <utility>

namespace headway::mpiexec {
namespace {

/// Threads that have ended take with them what they had.
std::uint64_t increase(std::uint64_t from, std::uint64_t to) noexcept {
  return to > from ? to - from : 0;
}

}  // namespace

balance_watch::balance_watch(const std::vector<machine_places::place>& places, std::uint64_t now_ns)
    : last_(places.size()), last_look_ns_(now_ns) {
  std::vector<machine_places::place> known;
  for (const auto& one : places) {
    const auto found = std::ranges::find(known, one);
    place_of_rank_.push_back(static_cast<std::size_t>(found - known.begin()));
    if (found != known.end()) continue;
    known.push_back(one);
    places_.push_back({.processors = static_cast<double>(one.size())});
  }
}

bool balance_watch::look(std::uint64_t now_ns, std::span<const std::optional<processor_use>> uses) {
  for (auto& one : places_) one.use = {};
  for (std::size_t rank = 0; rank < uses.size(); ++rank) {
    if (!uses[rank]) continue;
    auto& sum = places_[place_of_rank_[rank]].use;
    const auto before = std::exchange(last_[rank], *uses[rank]);
    sum.ran_ns += increase(before.ran_ns, uses[rank]->ran_ns);
    sum.waited_ns += increase(before.waited_ns, uses[rank]->waited_ns);
  }
  const bool unbalanced =
      is_unbalanced(static_cast<double>(now_ns - std::exchange(last_look_ns_, now_ns)));
  period_ns_ = unbalanced ? first_period_ns : std::min(2 * period_ns_, last_period_ns);
  return std::exchange(was_unbalanced_, unbalanced) && unbalanced;
}

bool balance_watch::is_unbalanced(double interval_ns) const noexcept {
  const auto least = share * interval_ns;
  const auto idle_ns = [&](const place& one) {
    return one.processors * interval_ns - static_cast<double>(one.use.ran_ns);
  };
  double most_idle_ns = 0;
  for (const auto& one : places_) most_idle_ns = std::max(most_idle_ns, idle_ns(one));
  return std::ranges::any_of(places_, [&](const place& one) {
    return static_cast<double>(one.use.waited_ns) >= least && most_idle_ns >= idle_ns(one) + least;
  });
}

}  // namespace headway::mpiexec

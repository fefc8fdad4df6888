#include "mpi/topologies/placement.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace headway::mpi {
namespace {

using ranks = std::vector<int>;

std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

/// The limit of exchanges in one division; each one visits all of its ranks.
constexpr int exchanges_max = 256;

/// The distance of two locations; 0: the same.
std::int64_t distance(const location& a, const location& b) noexcept {
  if (a.node != b.node) return 100;
  if (a.package != b.package) return 10;
  return a.cache != b.cache ? 1 : 0;
}

/// Divides ranks into two parts, and improves the division by exchanging pairs.
class bisection {
 public:
  explicit bisection(const traffic& t) : traffic_(t), side_(index(t.size()), outside) {}

  /// Orders `members` so that little traffic crosses between the first `count` and the others.
  /// `candidates`: initial orders, of which the one with the smallest cut is improved.
  void divide(std::span<int> members, std::size_t count, std::span<const ranks> candidates) {
    std::optional<std::int64_t> least;
    for (const ranks& each : candidates) {
      const auto crossing = mark(each, count);
      if (least && *least <= crossing) continue;
      least = crossing;
      std::ranges::copy(each, members.begin());
    }
    mark(members, count);
    exchange_pairs(members);
    std::ranges::stable_partition(members, [&](int r) { return side_[index(r)] == first; });
    for (const int r : members) side_[index(r)] = outside;
  }

  /// An order in which a part grows along the heaviest edges, from the rank with the least traffic.
  [[nodiscard]] ranks grown(std::span<const int> members) {
    std::set<std::pair<std::int64_t, int>> waiting;  // by its traffic with the part, negative
    std::vector<std::int64_t> tie(index(traffic_.size()), 0);
    for (const int r : members) side_[index(r)] = second;
    for (const int r : members) tie[index(r)] = weight_to(r, second);
    const int start = *std::ranges::min_element(members, {}, [&](int r) { return tie[index(r)]; });
    for (const int r : members) waiting.emplace(tie[index(r)] = r == start ? -1 : 0, r);
    ranks order;
    while (!waiting.empty()) {
      const int taken = waiting.extract(waiting.begin()).value().second;
      order.push_back(taken);
      side_[index(taken)] = outside;
      for (const auto& e : traffic_.of(taken)) {
        if (side_[index(e.to)] != second) continue;
        waiting.erase({tie[index(e.to)], e.to});
        waiting.emplace(tie[index(e.to)] -= e.weight, e.to);
      }
    }
    return order;
  }

 private:
  enum side : char { outside, first, second };

  [[nodiscard]] std::int64_t weight_to(int rank, side which) const noexcept {
    std::int64_t sum = 0;
    for (const auto& e : traffic_.of(rank))
      if (side_[index(e.to)] == which) sum += e.weight;
    return sum;
  }

  /// Marks the first `count` ranks as one part, and returns the traffic that crosses.
  std::int64_t mark(std::span<const int> order, std::size_t count) {
    for (std::size_t i = 0; i < order.size(); ++i)
      side_[index(order[i])] = i < count ? first : second;
    std::int64_t crossing = 0;
    for (const int r : order.first(count)) crossing += weight_to(r, second);
    return crossing;
  }

  /// By how much less traffic crosses if the rank changes its side.
  [[nodiscard]] std::int64_t gain(int rank) const noexcept {
    const side here = side_[index(rank)];
    return weight_to(rank, here == first ? second : first) - weight_to(rank, here);
  }

  [[nodiscard]] std::int64_t weight_between(int a, int b) const noexcept {
    std::int64_t sum = 0;
    for (const auto& e : traffic_.of(a))
      if (e.to == b) sum += e.weight;
    return sum;
  }

  /// Exchanges the rank with the highest gain of each side, as long as less traffic crosses.
  void exchange_pairs(std::span<const int> members) {
    for (int i = 0; i < exchanges_max; ++i) {
      int chosen[2] = {-1, -1};
      std::int64_t best[2] = {0, 0};
      for (const int r : members) {
        const int s = side_[index(r)] == first ? 0 : 1;
        const auto g = gain(r);
        if (chosen[s] >= 0 && g <= best[s]) continue;
        chosen[s] = r;
        best[s] = g;
      }
      if (best[0] + best[1] - 2 * weight_between(chosen[0], chosen[1]) <= 0) return;
      std::swap(side_[index(chosen[0])], side_[index(chosen[1])]);
    }
  }

  const traffic& traffic_;
  std::vector<side> side_;
};

/// Initial orders of `members` for a division; a prefix becomes one part.
using proposal = std::function<std::vector<ranks>(std::span<const int> members)>;

class placing {
 public:
  placing(const traffic& t, std::span<const location> where, proposal propose)
      : where_(where), propose_(std::move(propose)), divided_(t), order_(index(t.size())) {}

  ranks run() {
    ranks members(order_.size()), processes(order_.size());
    std::iota(members.begin(), members.end(), 0);
    std::iota(processes.begin(), processes.end(), 0);
    std::ranges::stable_sort(processes, {}, [&](int p) { return where_[index(p)]; });
    assign(members, processes);
    return std::move(order_);
  }

 private:
  /// The index at which neighbouring processes, sorted by location, differ most; of several, that
  /// nearest to the middle.
  [[nodiscard]] std::size_t divide(std::span<const int> processes) const {
    const auto step = [&](std::size_t i) {
      return distance(where_[index(processes[i - 1])], where_[index(processes[i])]);
    };
    std::size_t chosen = 1;
    const auto off = [&](std::size_t i) {
      return i * 2 > processes.size() ? i * 2 - processes.size() : processes.size() - i * 2;
    };
    for (std::size_t i = 2; i < processes.size(); ++i) {
      if (step(i) > step(chosen) || (step(i) == step(chosen) && off(i) < off(chosen))) chosen = i;
    }
    return chosen;
  }

  void assign(std::span<int> members, std::span<const int> processes) {
    if (processes.empty()) return;
    if (where_[index(processes.front())] == where_[index(processes.back())]) {
      std::ranges::sort(members);
      for (std::size_t i = 0; i < members.size(); ++i) order_[index(members[i])] = processes[i];
      return;
    }
    const auto count = divide(processes);
    divided_.divide(members, count, propose_(members));
    assign(members.first(count), processes.first(count));
    assign(members.subspan(count), processes.subspan(count));
  }

  std::span<const location> where_;
  proposal propose_;
  bisection divided_;
  ranks order_;
};

ranks cheaper_than_identity(const traffic& t, std::span<const location> where,
                            const proposal& propose) {
  ranks identity(index(t.size()));
  std::iota(identity.begin(), identity.end(), 0);
  const auto usual = cost(t, where, identity);
  if (usual == 0) return identity;
  ranks placed = placing(t, where, propose).run();
  return cost(t, where, placed) < usual ? placed : identity;
}

}  // namespace

std::span<const traffic::edge> traffic::of(int node) const noexcept {
  const auto i = index(node);
  const auto begin = i == 0 ? 0 : ends[i - 1];
  return std::span(edges).subspan(begin, ends[i] - begin);
}

traffic traffic_of(int nodes, std::span<const weighted_edge> edges) {
  traffic made;
  std::vector<std::size_t> degrees(index(nodes), 0);
  for (const auto& e : edges) {
    if (e.from == e.to) continue;
    ++degrees[index(e.from)];
    ++degrees[index(e.to)];
  }
  made.ends.resize(index(nodes));
  std::inclusive_scan(degrees.begin(), degrees.end(), made.ends.begin());
  made.edges.resize(nodes == 0 ? 0 : made.ends.back());
  std::vector<std::size_t> next(made.ends.size());
  std::exclusive_scan(degrees.begin(), degrees.end(), next.begin(), std::size_t{0});
  for (const auto& e : edges) {
    if (e.from == e.to) continue;
    made.edges[next[index(e.from)]++] = {e.to, e.weight};
    made.edges[next[index(e.to)]++] = {e.from, e.weight};
  }
  return made;
}

traffic traffic_of(const grid& g) {
  std::vector<weighted_edge> edges;
  for (int rank = 0; rank < g.size(); ++rank) {
    for (int d = 0; d < g.dimensions(); ++d)
      if (const int next = g.shifted(rank, d, 1); next >= 0) edges.push_back({rank, next, 1});
  }
  return traffic_of(g.size(), edges);
}

traffic traffic_of(const graph& g) {
  const int nodes = static_cast<int>(g.ends.size());
  std::vector<weighted_edge> edges;
  for (int node = 0; node < nodes; ++node)
    for (const int other : g.neighbors_of(node)) edges.push_back({node, other, 1});
  return traffic_of(nodes, edges);
}

std::int64_t cost(const traffic& t, std::span<const location> where, std::span<const int> order) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < t.size(); ++rank) {
    const auto& here = where[index(order[index(rank)])];
    for (const auto& e : t.of(rank)) {
      if (e.to > rank) sum += e.weight * distance(here, where[index(order[index(e.to)])]);
    }
  }
  return sum;
}

std::vector<int> place(const grid& g, const traffic& t, std::span<const location> where) {
  return cheaper_than_identity(t, where, [&](std::span<const int> members) {
    std::vector<ranks> proposals;
    for (int d = 0; d < g.dimensions(); ++d) {
      std::vector<std::pair<int, int>> keyed;  // by the coordinate, then by rank
      for (const int r : members) keyed.emplace_back(g.coordinates_of(r)[index(d)], r);
      std::ranges::sort(keyed);
      ranks order;
      for (const auto& [coordinate, rank] : keyed) order.push_back(rank);
      proposals.push_back(std::move(order));
    }
    return proposals;
  });
}

std::vector<int> place(const traffic& t, std::span<const location> where) {
  return cheaper_than_identity(t, where, [&](std::span<const int> members) {
    ranks ascending(members.begin(), members.end());
    std::ranges::sort(ascending);
    return std::vector{bisection(t).grown(ascending), ascending};
  });
}

}  // namespace headway::mpi

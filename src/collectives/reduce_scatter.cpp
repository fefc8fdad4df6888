// The algorithms of reduce_scatter, in messages: each builds a schedule (algorithms.hpp).
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {

void reduce_scatter_pairwise(schedule& s, const team& t, const reduction& r,
                             const std::int64_t* counts) {
  const partition part(counts, t.size);
  if (r.count == 0 || r.type->size() == 0) return;
  values v(s, *r.type);
  const auto mine = part.length(t.rank);
  // In place, the result goes to the beginning of the input, which may be another rank's part.
  std::byte* result = r.in_place ? v.scratch(mine) : v.at(r.receive, 0);
  reduce_own_part(s, t, r, part, result);
  v.copy(result, r.receive, mine);
}

void reduce_scatter_ordered(schedule& s, const team& t, const reduction& r,
                            const std::int64_t* counts) {
  const partition part(counts, t.size);
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  const auto mine = part.length(t.rank);
  std::vector<std::byte*> contributions;
  for (int peer = 0; mine > 0 && peer < t.size; ++peer) {
    contributions.push_back(v.scratch(mine));
    if (peer == t.rank) {
      v.copy(v.at(r.input(), part.begin(peer)), contributions.back(), mine);
    } else {
      v.receive(peer, contributions.back(), mine);
    }
  }
  for (int i = 1; i < t.size; ++i) {
    const int peer = (t.rank + i) % t.size;
    if (part.length(peer) == 0) continue;
    v.send(peer, v.at(r.input(), part.begin(peer)), part.length(peer));
  }
  v.settle();
  if (mine == 0) return;
  for (std::size_t i = 1; i < contributions.size(); ++i) {
    s.combine(contributions[i - 1], contributions[i], mine);
  }
  v.copy(contributions.back(), r.receive, mine);
}

}  // namespace headway::collectives

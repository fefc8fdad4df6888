// The algorithms of barrier, in messages: each builds a schedule (algorithms.hpp).
#include "collectives/algorithms.hpp"

namespace headway::collectives {

void barrier_dissemination(schedule& s, const team& t) {
  for (int distance = 1; distance < t.size; distance <<= 1) {
    s.receive((t.rank - distance + t.size) % t.size, nullptr, 0);
    s.send((t.rank + distance) % t.size, nullptr, 0);
    s.close_round();
  }
}

void barrier_tree(schedule& s, const team& t, tree shape) {
  each_child(shape, t.rank, t.size, [&](int child) { s.receive(child, nullptr, 0); });
  s.close_round();
  if (t.rank != 0) {
    const int parent = parent_of(shape, t.rank);
    s.receive(parent, nullptr, 0);
    s.send(parent, nullptr, 0);
    s.close_round();
  }
  each_child_downwards(shape, t.rank, t.size, [&](int child) { s.send(child, nullptr, 0); });
  s.close_round();
}

}  // namespace headway::collectives

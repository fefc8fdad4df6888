// The algorithms of allreduce, in messages: each builds a schedule (algorithms.hpp).
#include <utility>

#include "collectives/active_ranks.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {
void allreduce_doubling(schedule& s, const team& t, const reduction& r) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  auto* now = static_cast<std::byte*>(r.receive);
  if (!r.in_place) v.copy(r.send, now, r.count);
  if (t.size == 1) return;
  const active_ranks all(t.size);
  if (all.is_passive(t.rank)) {
    v.send(t.rank + 1, now, r.count);
    s.close_round();
    v.receive(t.rank + 1, now, r.count);
    v.settle();
    return;
  }
  std::byte* other = v.scratch(r.count);
  if (all.has_passive_neighbour(t.rank)) {
    v.receive(t.rank - 1, other, r.count);
    v.settle();
    s.combine(other, now, r.count);
  }
  const int number = all.number_of(t.rank);
  for (int bit = 1; bit < all.count; bit <<= 1) {
    const int peer = all.rank_of(number ^ bit);
    v.receive(peer, other, r.count);
    v.send(peer, now, r.count);
    v.settle();
    if (peer < t.rank) {
      s.combine(other, now, r.count);
    } else {  // this rank's value is the left one; both partners compute the same expression
      s.combine(now, other, r.count);
      std::swap(now, other);
    }
  }
  if (all.has_passive_neighbour(t.rank)) {
    v.send(t.rank - 1, now, r.count);
    s.close_round();
  }
  v.copy(now, r.receive, r.count);
}

void allreduce_tree(schedule& s, const team& t, const reduction& r, tree shape) {
  if (r.count == 0 || r.type->size() == 0) return;
  reduction here = r;
  if (t.rank != 0 && r.in_place) {  // only the root reduces in place
    here.send = r.receive;
    here.in_place = false;
  }
  reduce_tree(s, t, here, 0, shape);
  bcast_tree(s, t, {r.receive, r.count, r.type}, 0, shape);
}

void reduce_own_part(schedule& s, const team& t, const reduction& r, const partition& part,
                     std::byte* result) {
  s.set_reducer(r.op);
  values v(s, *r.type);
  const auto mine = part.length(t.rank);
  const std::byte* own = v.at(r.input(), part.begin(t.rank));
  if (t.size == 1) v.copy(own, result, mine);
  std::byte* arriving = own == result || t.size > 2 ? v.scratch(mine) : nullptr;
  for (int i = 1; i < t.size; ++i) {
    const int from = (t.rank - i + t.size) % t.size, to = (t.rank + i) % t.size;
    // The first part is received where the result will be, and combined with this rank's own.
    const bool straight = i == 1 && own != result;
    if (mine > 0) v.receive(from, straight ? result : arriving, mine);
    if (part.length(to) > 0) v.send(to, v.at(r.input(), part.begin(to)), part.length(to));
    v.settle();
    s.combine(straight ? own : arriving, result, mine);
  }
}

void allreduce_ring(schedule& s, const team& t, const reduction& r) {
  if (r.count == 0 || r.type->size() == 0) return;
  values v(s, *r.type);
  const partition part(r.count, t.size);
  reduce_own_part(s, t, r, part, v.at(r.receive, part.begin(t.rank)));
  const int next = (t.rank + 1) % t.size, previous = (t.rank + t.size - 1) % t.size;
  for (int i = 0; i + 1 < t.size; ++i) {
    const int in = (t.rank - 1 - i + 2 * t.size) % t.size, out = (t.rank - i + t.size) % t.size;
    if (part.length(in) > 0) v.receive(previous, v.at(r.receive, part.begin(in)), part.length(in));
    if (part.length(out) > 0) v.send(next, v.at(r.receive, part.begin(out)), part.length(out));
    v.settle();
  }
}

}  // namespace headway::collectives

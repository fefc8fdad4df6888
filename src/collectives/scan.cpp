// The algorithms of scan and exscan, in messages: each builds a schedule (algorithms.hpp).
#include "collectives/algorithms.hpp"

namespace headway::collectives {

void scan_doubling(schedule& s, const team& t, const reduction& r, bool exclusive) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  // `now` covers the ranks (rank - distance, rank]; the result leaves out mine if exclusive.
  auto* result = static_cast<std::byte*>(r.receive);
  std::byte* now = exclusive ? v.scratch(r.count) : result;
  v.copy(r.input(), now, r.count);
  std::byte* left = v.scratch(r.count);
  bool empty = true;  // an exclusive result holds no value yet
  for (int distance = 1; distance < t.size; distance <<= 1) {
    const bool has_left = t.rank >= distance;
    if (has_left) v.receive(t.rank - distance, left, r.count);
    if (t.rank + distance < t.size) v.send(t.rank + distance, now, r.count);
    v.settle();
    if (!has_left) continue;
    if (exclusive && empty) v.copy(left, result, r.count);
    if (exclusive && !empty) s.combine(left, result, r.count);
    empty = false;
    s.combine(left, now, r.count);
  }
}

void scan_chain(schedule& s, const team& t, const reduction& r, bool exclusive) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  auto* result = static_cast<std::byte*>(r.receive);
  std::byte* now = exclusive ? v.scratch(r.count) : result;
  v.copy(r.input(), now, r.count);
  if (t.rank > 0) {
    std::byte* left = exclusive ? result : v.scratch(r.count);
    v.receive(t.rank - 1, left, r.count);
    v.settle();
    s.combine(left, now, r.count);
  }
  if (t.rank + 1 < t.size) {
    v.send(t.rank + 1, now, r.count);
    s.close_round();
  }
}

}  // namespace headway::collectives

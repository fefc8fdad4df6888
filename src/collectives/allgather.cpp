// The algorithms of allgather, in messages: each builds a schedule (algorithms.hpp).
#include <algorithm>
#include <vector>

#include "collectives/algorithms.hpp"

namespace headway::collectives {

void allgather_ring(schedule& s, const team& t, const block* mine, const blocks& all) {
  wire_buffers w(s);
  std::vector<std::byte*> wire(static_cast<std::size_t>(t.size));
  const auto at = [&](int rank) -> std::byte*& { return wire[static_cast<std::size_t>(rank)]; };
  for (int i = 0; i < t.size; ++i) {
    if (i != t.rank) at(i) = w.in(all.of(i));
  }
  const block own = mine ? *mine : all.of(t.rank);
  at(t.rank) = const_cast<std::byte*>(w.out(own));
  if (mine) w.move(*mine, all.of(t.rank));
  const int next = (t.rank + 1) % t.size, previous = (t.rank + t.size - 1) % t.size;
  for (int i = 0; i + 1 < t.size; ++i) {
    const int in = (t.rank - 1 - i + 2 * t.size) % t.size, out = (t.rank - i + t.size) % t.size;
    const auto in_bytes = all.of(in).bytes(), out_bytes = all.of(out).bytes();
    if (in_bytes > 0) s.receive(previous, at(in), in_bytes);
    if (out_bytes > 0) s.send(next, at(out), out_bytes);
    s.close_round();
  }
  w.settle();
}

void allgather_bruck(schedule& s, const team& t, const block* mine, const blocks& all) {
  const block own = mine ? *mine : all.of(t.rank);
  const auto bytes = own.bytes();
  if (bytes == 0) return;
  std::byte* packed = s.scratch(t.size * bytes);  // block i is that of rank + i
  s.pack(*own.type, own.data, own.count, packed);
  for (int distance = 1; distance < t.size; distance <<= 1) {
    const auto some = std::min(distance, t.size - distance) * bytes;
    s.receive((t.rank + distance) % t.size, packed + distance * bytes, some);
    s.send((t.rank - distance + t.size) % t.size, packed, some);
    s.close_round();
  }
  if (all.plain()) {  // two rows: from my rank to the last, and from rank 0 to mine
    const auto first = (t.size - t.rank) * bytes;
    auto* to = static_cast<std::byte*>(all.data) + all.type->true_lb();
    s.copy(packed, to + t.rank * bytes, first);
    s.copy(packed + first, to, t.rank * bytes);
    return;
  }
  for (int i = mine ? 0 : 1; i < t.size; ++i) {
    const block b = all.of((t.rank + i) % t.size);
    s.unpack(*b.type, packed + i * bytes, b.data, b.count);
  }
}

void allgather_tree(schedule& s, const team& t, const block* mine, const blocks& all) {
  const block own = all.of(t.rank);
  gather_linear(s, t, t.rank != 0 && !mine ? &own : mine, all, 0);
  bcast_tree(s, t, {all.data, all.count * t.size, all.type}, 0, tree::flat);
}

}  // namespace headway::collectives

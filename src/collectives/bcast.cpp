// The algorithms of bcast, in messages: each builds a schedule (algorithms.hpp).
#include <algorithm>

#include "collectives/algorithms.hpp"

namespace headway::collectives {
namespace {

/// Ranks counted from the root, and back.
struct rotation {
  int root;
  int size;
  [[nodiscard]] int virtual_of(int rank) const noexcept { return (rank - root + size) % size; }
  [[nodiscard]] int real_of(int v) const noexcept { return (v + root) % size; }
};

/// The parts of a message, one for each rank.
struct parts {
  std::int64_t bytes;
  int ranks;
  [[nodiscard]] std::int64_t begin(int part) const noexcept { return bytes * part / ranks; }
  [[nodiscard]] std::int64_t length(int part) const noexcept {
    return begin(part + 1) - begin(part);
  }
};

std::byte* wire_of(wire_buffers& w, const block& data, bool is_root) {
  return is_root ? const_cast<std::byte*>(w.out(data)) : w.in(data);
}

}  // namespace

void bcast_tree(schedule& s, const team& t, const block& data, int root, tree shape) {
  const auto bytes = data.bytes();
  if (bytes == 0 || t.size == 1) return;
  const rotation turn{root, t.size};
  const int me = turn.virtual_of(t.rank);
  wire_buffers w(s);
  std::byte* wire = wire_of(w, data, me == 0);
  if (me != 0) {
    s.receive(turn.real_of(parent_of(shape, me)), wire, bytes);
    s.close_round();
  }
  each_child_downwards(shape, me, t.size,
                       [&](int child) { s.send(turn.real_of(child), wire, bytes); });
  s.close_round();
  w.settle();
}

void bcast_pipeline(schedule& s, const team& t, const block& data, int root,
                    std::int64_t segment_bytes) {
  const auto bytes = data.bytes();
  if (bytes == 0 || t.size == 1) return;
  const rotation turn{root, t.size};
  const int me = turn.virtual_of(t.rank);
  wire_buffers w(s);
  std::byte* wire = wire_of(w, data, me == 0);
  const auto segments = (bytes + segment_bytes - 1) / segment_bytes;
  const auto length = [&](std::int64_t i) {
    return std::min(segment_bytes, bytes - i * segment_bytes);
  };
  for (std::int64_t i = 0; i <= segments; ++i) {
    const auto ready = me == 0 ? i : i - 1;  // the segment to pass on meanwhile
    if (me != 0 && i < segments) {
      s.receive(turn.real_of(me - 1), wire + i * segment_bytes, length(i));
    }
    if (me + 1 < t.size && ready >= 0 && ready < segments) {
      s.send(turn.real_of(me + 1), wire + ready * segment_bytes, length(ready));
    }
    s.close_round();
  }
  w.settle();
}

void bcast_scatter_ring(schedule& s, const team& t, const block& data, int root) {
  const auto bytes = data.bytes();
  if (bytes == 0 || t.size == 1) return;
  const rotation turn{root, t.size};
  const int me = turn.virtual_of(t.rank);
  const parts part{bytes, t.size};
  wire_buffers w(s);
  std::byte* wire = wire_of(w, data, me == 0);
  // Down the binomial tree each rank receives the parts of all ranks below it.
  const int below = me == 0 ? t.size : std::min(me & -me, t.size - me);
  if (me != 0) {
    const auto mine = part.begin(me + below) - part.begin(me);
    s.receive(turn.real_of(parent_of(tree::binomial, me)), wire + part.begin(me), mine);
    s.close_round();
  }
  each_child_downwards(tree::binomial, me, t.size, [&](int child) {
    const int end = std::min(child + (child & -child), t.size);
    s.send(turn.real_of(child), wire + part.begin(child), part.begin(end) - part.begin(child));
  });
  s.close_round();
  const int next = turn.real_of((me + 1) % t.size),
            previous = turn.real_of((me + t.size - 1) % t.size);
  for (int i = 0; i + 1 < t.size; ++i) {
    const int in = (me - 1 - i + 2 * t.size) % t.size, out = (me - i + t.size) % t.size;
    s.receive(previous, wire + part.begin(in), part.length(in));
    s.send(next, wire + part.begin(out), part.length(out));
    s.close_round();
  }
  w.settle();
}

}  // namespace headway::collectives

// The algorithms of gather and scatter, in messages: each builds a schedule (algorithms.hpp).
#include <algorithm>

#include "collectives/algorithms.hpp"

namespace headway::collectives {
namespace {

/// The ranks below `v` in a binomial tree of `size`, `v` included.
int ranks_below(int v, int size) noexcept { return v == 0 ? size : std::min(v & -v, size - v); }

/// Moves blocks between their places at the root and packed memory in the order of virtual ranks.
class rotated {
 public:
  rotated(schedule& s, const team& t, const blocks& all, int root, std::byte* packed)
      : schedule_(s), team_(t), all_(all), root_(root), packed_(packed) {}

  /// Each block but the root's own to its place.
  void unpack() const {
    for (int v = 1; v < team_.size; ++v) {
      const block b = of(v);
      schedule_.unpack(*b.type, at(v), b.data, b.count);
    }
  }
  void pack() const {
    for (int v = 1; v < team_.size; ++v) {
      const block b = of(v);
      schedule_.pack(*b.type, b.data, b.count, at(v));
    }
  }

 private:
  [[nodiscard]] block of(int v) const noexcept { return all_.of((v + root_) % team_.size); }
  [[nodiscard]] std::byte* at(int v) const noexcept { return packed_ + v * all_.of(0).bytes(); }

  schedule& schedule_;
  const team& team_;
  const blocks& all_;
  int root_;
  std::byte* packed_;
};

}  // namespace

void gather_linear(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    if (mine->bytes() == 0) return;
    s.send(root, w.out(*mine), mine->bytes());
    s.close_round();
    return;
  }
  for (int peer = 0; peer < t.size; ++peer) {
    if (peer == root) continue;
    const block b = all.of(peer);
    if (b.bytes() > 0) s.receive(peer, w.in(b), b.bytes());
  }
  if (mine) w.move(*mine, all.of(root));
  s.close_round();
  w.settle();
}

void gather_binomial(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  const bool is_root = t.rank == root;
  const auto bytes = is_root ? all.of(root).bytes() : mine->bytes();
  if (bytes == 0) return;
  const int v = (t.rank - root + t.size) % t.size;
  const int below = ranks_below(v, t.size);
  wire_buffers w(s);
  const std::byte* up = nullptr;
  if (is_root || below > 1) {
    std::byte* packed = s.scratch(below * bytes);
    each_child(tree::binomial, v, t.size, [&](int child) {
      s.receive((child + root) % t.size, packed + (child - v) * bytes,
                ranks_below(child, t.size) * bytes);
    });
    if (!is_root) s.pack(*mine->type, mine->data, mine->count, packed);
    s.close_round();
    if (is_root) rotated(s, t, all, root, packed).unpack();
    up = packed;
  } else {
    up = w.out(*mine);
  }
  if (is_root) {
    if (mine) w.move(*mine, all.of(root));
    return;
  }
  s.send((parent_of(tree::binomial, v) + root) % t.size, up, below * bytes);
  s.close_round();
}

void scatter_linear(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    if (mine->bytes() == 0) return;
    s.receive(root, w.in(*mine), mine->bytes());
    s.close_round();
    w.settle();
    return;
  }
  for (int peer = 0; peer < t.size; ++peer) {
    if (peer == root) continue;
    const block b = all.of(peer);
    if (b.bytes() > 0) s.send(peer, w.out(b), b.bytes());
  }
  if (mine) w.move(all.of(root), *mine);
  s.close_round();
}

void scatter_binomial(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  const bool is_root = t.rank == root;
  const auto bytes = is_root ? all.of(root).bytes() : mine->bytes();
  if (bytes == 0) return;
  const int v = (t.rank - root + t.size) % t.size;
  const int below = ranks_below(v, t.size);
  wire_buffers w(s);
  std::byte* packed = nullptr;
  if (is_root) {
    packed = s.scratch(below * bytes);
    rotated(s, t, all, root, packed).pack();
  } else {
    packed = below > 1 ? s.scratch(below * bytes) : w.in(*mine);
    s.receive((parent_of(tree::binomial, v) + root) % t.size, packed, below * bytes);
    s.close_round();
  }
  each_child_downwards(tree::binomial, v, t.size, [&](int child) {
    s.send((child + root) % t.size, packed + (child - v) * bytes,
           ranks_below(child, t.size) * bytes);
  });
  if (is_root) {
    if (mine) w.move(all.of(root), *mine);
  } else if (below > 1) {
    s.unpack(*mine->type, packed, mine->data, mine->count);
  }
  s.close_round();
  w.settle();
}

}  // namespace headway::collectives

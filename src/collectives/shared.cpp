// The algorithms of collective operations inside a node, which read shared memory instead of
// receiving messages: each builds a schedule with an exchange (shared_exchange.hpp).
#include <algorithm>

#include "base/copy_for_reader.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {
namespace {

shared_exchange& new_exchange(schedule& s, const team& t) {
  static_assert(std::is_trivially_destructible_v<shared_exchange>);
  return *new (s.scratch(sizeof(shared_exchange))) shared_exchange(s, t, s.exchanges());
}

template <class Act>
void each_other(const team& t, Act&& act) {
  for (int i = 1; i < t.size; ++i) act((t.rank + i) % t.size);
}

/// The parts of a vector, one for each rank, in bytes. Each rank's stream has those of all others,
/// beginning with the next rank's, so that at any time each rank reads from another one.
class rotated_parts {
 public:
  rotated_parts(const partition& part, std::int64_t element_bytes)
      : part_(part), element_(element_bytes) {}
  [[nodiscard]] std::int64_t begin(int rank) const noexcept { return part_.begin(rank) * element_; }
  [[nodiscard]] std::int64_t length(int rank) const noexcept {
    return part_.length(rank) * element_;
  }
  void show(shared_exchange& x, const team& t, const void* all) const {
    const auto* first = static_cast<const std::byte*>(all);
    const auto behind = begin(t.rank + 1);
    if (length(t.rank) < static_cast<std::int64_t>(base::copy_for_reader::streamed_bytes_min)) {
      x.stream().show_parts(2);
      x.stream().show_part(first + behind, begin(t.size) - behind);
      x.stream().show_part(first, begin(t.rank));
      return;
    }
    x.stream().show_parts(t.size - 1);
    for (int next = t.rank + 1; next < t.rank + t.size; ++next) {
      const int reader = next % t.size;
      x.stream().show_part(first + begin(reader), length(reader), reader);
    }
  }
  /// The reader's part in the stream of `rank`.
  [[nodiscard]] wanted_parts::part of(const team& t, int rank, int reader) const noexcept {
    const auto total = begin(t.size) - length(rank);
    const auto offset = begin(reader) - begin(rank + 1);
    return {rank, total, reader > rank ? offset : offset + begin(t.size), length(reader)};
  }

 private:
  const partition& part_;
  const std::int64_t element_;
};

/// Calls `act` for each other rank, in the order in which they show this rank's part.
template <class Act>
void each_showing(const team& t, Act&& act) {
  for (int i = 1; i < t.size; ++i) act((t.rank - i + t.size) % t.size);
}

/// Copies all other ranks' streams, each a block, to their places.
void read_blocks(shared_exchange& x, const team& t, wire_buffers& w, const blocks& all) {
  x.parts().reserve(t.size - 1);
  each_other(t, [&](int rank) {
    const block b = all.of(rank);
    x.parts().copy({rank, b.bytes(), 0, b.bytes()}, w.in(b));
  });
}

/// Copies all other ranks' streams, each its part of the result, to their places.
void read_parts(shared_exchange& x, const team& t, const rotated_parts& parts, std::byte* result) {
  x.parts().reserve(t.size - 1);
  each_other(t, [&](int rank) {
    const auto bytes = parts.length(rank);
    x.parts().copy({rank, bytes, 0, bytes}, result + parts.begin(rank));
  });
}

/// Combines the inputs of ranks 0 … `last` into the result. `input`: this rank's.
void combine_up_to(shared_exchange& x, const reduction& r, int last, const void* input) {
  x.combine({.first = 0,
             .last = last,
             .bytes = r.bytes(),
             .own = input,
             .to = r.receive,
             .element_bytes = r.type->size(),
             .op = r.op});
}

/// In place, or with buffers that are the same without saying so, which the call refuses.
bool takes_place_of_input(const reduction& r) noexcept { return r.input() == r.receive; }

/// A copy of the input, for an operation whose result takes the input's place too early.
const void* kept_input(schedule& s, const reduction& r) {
  std::byte* kept = s.scratch(r.bytes());
  s.copy(r.input(), kept, r.bytes());
  return kept;
}

void show_to_root(shared_exchange& x, const void* from, std::int64_t bytes, int root) {
  x.stream().set_readers(rank_set::only(root));
  x.stream().show(from, bytes);
}

/// The packed bytes of equal blocks, one behind the other.
const std::byte* packed(schedule& s, wire_buffers& w, const team& t, const blocks& all,
                        bool copied) {
  if (all.plain() && !copied) return w.out(all.of(0));
  const auto bytes = all.of(0).bytes();
  std::byte* made = s.scratch(t.size * bytes);
  for (int rank = 0; rank < t.size; ++rank) {
    const block b = all.of(rank);
    s.pack(*b.type, b.data, b.count, made + rank * bytes);
  }
  return made;
}

/// Each rank combines its own part of all inputs. Commutative operators only: the order is that of
/// arrival, the same in every run.
shared_exchange& combine_own_part(schedule& s, const team& t, const reduction& r,
                                  const rotated_parts& parts, std::byte* result) {
  const auto* own = static_cast<const std::byte*>(r.input()) + parts.begin(t.rank);
  s.copy(own, result, parts.length(t.rank));
  auto& x = new_exchange(s, t);
  parts.show(x, t, r.input());
  x.parts().reserve(t.size - 1);
  each_showing(t, [&](int rank) {
    x.parts().apply(parts.of(t, rank, t.rank), result, r.type->size(), r.op);
  });
  s.add_exchange(x);
  return x;
}

}  // namespace

void barrier_shared(schedule& s, const team& t) {
  auto& x = new_exchange(s, t);
  x.stream().show(nullptr, 0);
  x.parts().reserve(t.size - 1);
  each_other(t, [&](int rank) { x.parts().copy({rank, 0, 0, 0}, nullptr); });
  s.add_exchange(x);
}

void bcast_shared(schedule& s, const team& t, const block& data, int root) {
  wire_buffers w(s);
  const auto bytes = data.bytes();
  const std::byte* from = t.rank == root ? w.out(data) : nullptr;
  auto& x = new_exchange(s, t);
  if (t.rank == root) {
    x.stream().show(from, bytes);
  } else {
    x.parts().reserve(1);
    x.parts().copy({root, bytes, 0, bytes}, w.in(data));
  }
  s.add_exchange(x);
  w.settle();
}

void reduce_shared(schedule& s, const team& t, const reduction& r, int root) {
  auto& x = new_exchange(s, t);
  if (t.rank != root) show_to_root(x, r.input(), r.bytes(), root);
  else combine_up_to(x, r, t.size - 1, r.input());
  s.add_exchange(x);
}

void reduce_shared_parts(schedule& s, const team& t, const reduction& r, int root) {
  reduce_in_parts(s, t, r, root, [](std::byte*, std::int64_t) {});
}

void reduce_in_parts(schedule& s, const team& t, const reduction& r, int root,
                     const part_steps& between) {
  const partition part(r.count, t.size);
  const rotated_parts parts(part, r.type->size());
  auto* const result = static_cast<std::byte*>(r.receive);
  const auto mine = parts.length(t.rank);
  std::byte* own = t.rank == root ? result + parts.begin(root) : s.scratch(mine);
  combine_own_part(s, t, r, parts, own).stream().set_urgent();
  between(own, part.length(t.rank));
  if (root == no_rank) return;
  auto& x = new_exchange(s, t);
  if (t.rank != root) show_to_root(x, own, mine, root);
  else read_parts(x, t, parts, result);
  s.add_exchange(x);
}

void allreduce_shared(schedule& s, const team& t, const reduction& r) {
  const bool keeps = takes_place_of_input(r) && r.bytes() > s.banks_of(t)->memory().bank_bytes();
  const void* input = keeps ? kept_input(s, r) : r.input();
  auto& x = new_exchange(s, t);
  x.stream().show(input, r.bytes());
  combine_up_to(x, r, t.size - 1, input);
  s.add_exchange(x);
}

void allreduce_shared_parts(schedule& s, const team& t, const reduction& r) {
  allreduce_in_parts(s, t, r, [](std::byte*, std::int64_t) {});
}

// In place too: a rank writes its own part, which no other rank reads in the first exchange; when
// the second begins, no rank reads the others any more.
void allreduce_in_parts(schedule& s, const team& t, const reduction& r, const part_steps& between) {
  const partition part(r.count, t.size);
  const rotated_parts parts(part, r.type->size());
  auto* const result = static_cast<std::byte*>(r.receive);
  std::byte* const own = result + parts.begin(t.rank);
  combine_own_part(s, t, r, parts, own).stream().set_urgent();
  between(own, part.length(t.rank));
  auto& x = new_exchange(s, t);
  x.stream().show(own, parts.length(t.rank));
  read_parts(x, t, parts, result);
  s.add_exchange(x);
}

void reduce_scatter_shared(schedule& s, const team& t, const reduction& r,
                           const std::int64_t* counts) {
  const partition part(counts, t.size);
  const rotated_parts parts(part, r.type->size());
  const auto mine = parts.length(t.rank);
  // In place the result is due where another rank may still read the input.
  auto* result = r.in_place ? s.scratch(mine) : static_cast<std::byte*>(r.receive);
  combine_own_part(s, t, r, parts, result);
  s.copy(result, r.receive, mine);
}

void scan_shared(schedule& s, const team& t, const reduction& r, bool exclusive) {
  const void* input = takes_place_of_input(r) ? kept_input(s, r) : r.input();
  auto& x = new_exchange(s, t);
  if (t.rank + 1 < t.size) {
    x.stream().set_readers(rank_set::from_to(t.rank + 1, t.size - 1));
    x.stream().show(input, r.bytes());
  }
  const int last = exclusive ? t.rank - 1 : t.rank;
  if (last >= 0) combine_up_to(x, r, last, input);
  s.add_exchange(x);
}

void gather_shared(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    const std::byte* from = w.out(*mine);
    auto& x = new_exchange(s, t);
    show_to_root(x, from, mine->bytes(), root);
    return s.add_exchange(x);
  }
  // While the root copies its own block, blocks that are longer than the banks would wait for it.
  const bool last = mine && mine->bytes() > s.banks_of(t)->memory().bank_bytes();
  if (mine && !last) w.move(*mine, all.of(root));
  auto& x = new_exchange(s, t);
  read_blocks(x, t, w, all);
  s.add_exchange(x);
  if (last) w.move(*mine, all.of(root));
  w.settle();
}

void scatter_shared(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    const auto bytes = mine->bytes();
    auto& x = new_exchange(s, t);
    x.parts().reserve(1);
    const partition part(t.size * bytes, t.size);
    x.parts().copy(rotated_parts(part, 1).of(t, root, t.rank), w.in(*mine));
    s.add_exchange(x);
    return w.settle();
  }
  if (mine) w.move(all.of(root), *mine);
  const std::byte* whole = packed(s, w, t, all, false);
  auto& x = new_exchange(s, t);
  const auto bytes = all.of(0).bytes();
  const partition part(t.size * bytes, t.size);
  rotated_parts(part, 1).show(x, t, whole);
  s.add_exchange(x);
}

void scatterv_shared(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    auto& x = new_exchange(s, t);
    x.parts().reserve(1);
    x.parts().copy_own(root, t.rank, mine->bytes(), w.in(*mine));
    s.add_exchange(x);
    return w.settle();
  }
  if (mine) w.move(all.of(root), *mine);
  auto& x = new_exchange(s, t);
  x.stream().show_to_each(t.size);
  each_other(t, [&](int rank) {
    x.stream().show_to(rank, rank, w.out(all.of(rank)), all.of(rank).bytes());
  });
  s.add_exchange(x);
}

void allgather_shared(schedule& s, const team& t, const block* mine, const blocks& all) {
  wire_buffers w(s);
  const block own = mine ? *mine : all.of(t.rank);
  if (mine) w.move(*mine, all.of(t.rank));
  const std::byte* from = w.out(own);
  auto& x = new_exchange(s, t);
  x.stream().show(from, own.bytes());
  read_blocks(x, t, w, all);
  s.add_exchange(x);
  w.settle();
}

void alltoall_shared(schedule& s, const team& t, const blocks* from, const blocks& to) {
  wire_buffers w(s);
  if (from) w.move(from->of(t.rank), to.of(t.rank));
  const blocks& input = from ? *from : to;
  const auto bytes = input.of(0).bytes();
  const std::byte* whole = packed(s, w, t, input, from == nullptr);
  auto& x = new_exchange(s, t);
  const partition sent(t.size * bytes, t.size), due(t.size * to.of(0).bytes(), t.size);
  rotated_parts(sent, 1).show(x, t, whole);
  x.parts().reserve(t.size - 1);
  each_showing(t, [&](int rank) {
    x.parts().copy(rotated_parts(due, 1).of(t, rank, t.rank), w.in(to.of(rank)));
  });
  s.add_exchange(x);
  w.settle();
}

void alltoallv_shared(schedule& s, const team& t, const blocks* from, const blocks& to) {
  wire_buffers w(s);
  if (from) w.move(from->of(t.rank), to.of(t.rank));
  auto& x = new_exchange(s, t);
  x.stream().show_to_each(t.size);
  x.parts().reserve(t.size - 1);
  each_other(t, [&](int rank) {
    const block b = from ? from->of(rank) : to.of(rank);
    const std::byte* packed_bytes = from ? w.out(b) : nullptr;
    if (!from) {  // what arrives takes its place
      std::byte* kept = s.scratch(b.bytes());
      s.pack(*b.type, b.data, b.count, kept);
      packed_bytes = kept;
    }
    x.stream().show_to(rank, rank, packed_bytes, b.bytes());
    x.parts().copy_own(rank, t.rank, to.of(rank).bytes(), w.in(to.of(rank)));
  });
  s.add_exchange(x);
  w.settle();
}

}  // namespace headway::collectives

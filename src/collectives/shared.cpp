#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {
namespace {

shared_exchange& new_exchange(schedule& s, const team& t, int phase = 0) {
  static_assert(std::is_trivially_destructible_v<shared_exchange>);
  return *new (s.scratch(sizeof(shared_exchange))) shared_exchange(s, t, phase);
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
    x.show_parts(2);
    x.show_part(first + behind, begin(t.size) - behind);
    x.show_part(first, begin(t.rank));
  }
  /// The reader's part in the stream of `rank`.
  [[nodiscard]] shared_exchange::part of(const team& t, int rank, int reader) const noexcept {
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
void combine_own_part(schedule& s, const team& t, const reduction& r, const partition& part,
                      std::byte* result) {
  const auto element = r.type->size();
  const rotated_parts parts(part, element);
  const auto* own = static_cast<const std::byte*>(r.input()) + parts.begin(t.rank);
  s.copy(own, result, parts.length(t.rank));
  auto& x = new_exchange(s, t);
  parts.show(x, t, r.input());
  x.reads(t.size - 1);
  each_showing(t, [&](int rank) { x.apply(parts.of(t, rank, t.rank), result, element, r.op); });
  s.add_exchange(x);
}

}  // namespace

void barrier_shared(schedule& s, const team& t) {
  auto& x = new_exchange(s, t);
  x.show(nullptr, 0);
  x.reads(t.size - 1);
  each_other(t, [&](int rank) { x.copy({rank, 0, 0, 0}, nullptr); });
  s.add_exchange(x);
}

void bcast_shared(schedule& s, const team& t, const block& data, int root) {
  wire_buffers w(s);
  const auto bytes = data.bytes();
  const std::byte* from = t.rank == root ? w.out(data) : nullptr;
  auto& x = new_exchange(s, t);
  if (t.rank == root) {
    x.show(from, bytes);
  } else {
    x.reads(1);
    x.copy({root, bytes, 0, bytes}, w.in(data));
  }
  s.add_exchange(x);
  w.settle();
}

void reduce_shared(schedule& s, const team& t, const reduction& r, int root) {
  const auto bytes = r.bytes();
  auto& x = new_exchange(s, t);
  if (t.rank != root) {
    x.show(r.input(), bytes, root);
  } else {
    x.combine({.first = 0,
               .last = t.size - 1,
               .bytes = bytes,
               .own = r.input(),
               .to = r.receive,
               .element_bytes = r.type->size(),
               .op = r.op});
  }
  s.add_exchange(x);
}

void reduce_shared_parts(schedule& s, const team& t, const reduction& r, int root) {
  const auto element = r.type->size();
  const partition part(r.count, t.size);
  const auto mine = part.length(t.rank) * element;
  const auto result_at = [&](int rank) {
    return static_cast<std::byte*>(r.receive) + part.begin(rank) * element;
  };
  std::byte* own = t.rank == root ? result_at(root) : s.scratch(mine);
  combine_own_part(s, t, r, part, own);
  auto& x = new_exchange(s, t, 1);
  if (t.rank != root) {
    x.show(own, mine, root);
  } else {
    x.reads(t.size - 1);
    each_other(t, [&](int rank) {
      const auto bytes = part.length(rank) * element;
      x.copy({rank, bytes, 0, bytes}, result_at(rank));
    });
  }
  s.add_exchange(x);
}

void allreduce_shared(schedule& s, const team& t, const reduction& r) {
  const auto bytes = r.bytes();
  const void* input = r.input();
  if (r.in_place && bytes > t.memory.banks->bank_bytes()) {
    std::byte* kept = s.scratch(bytes);
    s.copy(input, kept, bytes);
    input = kept;
  }
  auto& x = new_exchange(s, t);
  x.show(input, bytes);
  x.combine({.first = 0,
             .last = t.size - 1,
             .bytes = bytes,
             .own = input,
             .to = r.receive,
             .element_bytes = r.type->size(),
             .op = r.op});
  s.add_exchange(x);
}

// In place too: a rank writes its own part, which no other rank reads in the first exchange; when
// the second begins, no rank reads the others any more.
void allreduce_shared_parts(schedule& s, const team& t, const reduction& r) {
  const auto element = r.type->size();
  const partition part(r.count, t.size);
  const auto result_at = [&](int rank) {
    return static_cast<std::byte*>(r.receive) + part.begin(rank) * element;
  };
  combine_own_part(s, t, r, part, result_at(t.rank));
  auto& x = new_exchange(s, t, 1);
  x.show(result_at(t.rank), part.length(t.rank) * element);
  x.reads(t.size - 1);
  each_other(t, [&](int rank) {
    const auto bytes = part.length(rank) * element;
    x.copy({rank, bytes, 0, bytes}, result_at(rank));
  });
  s.add_exchange(x);
}

void reduce_scatter_shared(schedule& s, const team& t, const reduction& r,
                           const std::int64_t* counts) {
  const partition part(counts, t.size);
  const auto mine = part.length(t.rank) * r.type->size();
  // In place the result is due where another rank may still read the input.
  auto* result = r.in_place ? s.scratch(mine) : static_cast<std::byte*>(r.receive);
  combine_own_part(s, t, r, part, result);
  s.copy(result, r.receive, mine);
}

void scan_shared(schedule& s, const team& t, const reduction& r, bool exclusive) {
  const auto bytes = r.bytes();
  const void* input = r.input();
  if (r.in_place) {
    std::byte* kept = s.scratch(bytes);
    s.copy(input, kept, bytes);
    input = kept;
  }
  auto& x = new_exchange(s, t);
  x.show(input, bytes);
  const int last = exclusive ? t.rank - 1 : t.rank;
  if (last >= 0)
    x.combine({.first = 0,
               .last = last,
               .bytes = bytes,
               .own = input,
               .to = r.receive,
               .element_bytes = r.type->size(),
               .op = r.op});
  s.add_exchange(x);
}

void gather_shared(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    const std::byte* from = w.out(*mine);
    auto& x = new_exchange(s, t);
    x.show(from, mine->bytes(), root);
    return s.add_exchange(x);
  }
  if (mine) w.move(*mine, all.of(root));
  auto& x = new_exchange(s, t);
  x.reads(t.size - 1);
  each_other(t, [&](int rank) {
    const block b = all.of(rank);
    x.copy({rank, b.bytes(), 0, b.bytes()}, w.in(b));
  });
  s.add_exchange(x);
  w.settle();
}

void scatter_shared(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  wire_buffers w(s);
  if (t.rank != root) {
    const auto bytes = mine->bytes();
    auto& x = new_exchange(s, t);
    x.reads(1);
    const partition part(t.size * bytes, t.size);
    x.copy(rotated_parts(part, 1).of(t, root, t.rank), w.in(*mine));
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
    x.reads(1);
    x.copy_own(root, mine->bytes(), w.in(*mine));
    s.add_exchange(x);
    return w.settle();
  }
  if (mine) w.move(all.of(root), *mine);
  auto& x = new_exchange(s, t);
  x.show_to_each();
  each_other(t, [&](int rank) { x.show_to(rank, w.out(all.of(rank)), all.of(rank).bytes()); });
  s.add_exchange(x);
}

void allgather_shared(schedule& s, const team& t, const block* mine, const blocks& all) {
  wire_buffers w(s);
  const block own = mine ? *mine : all.of(t.rank);
  if (mine) w.move(*mine, all.of(t.rank));
  const std::byte* from = w.out(own);
  auto& x = new_exchange(s, t);
  x.show(from, own.bytes());
  x.reads(t.size - 1);
  each_other(t, [&](int rank) {
    const block b = all.of(rank);
    x.copy({rank, b.bytes(), 0, b.bytes()}, w.in(b));
  });
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
  x.reads(t.size - 1);
  each_showing(
      t, [&](int rank) { x.copy(rotated_parts(due, 1).of(t, rank, t.rank), w.in(to.of(rank))); });
  s.add_exchange(x);
  w.settle();
}

void alltoallv_shared(schedule& s, const team& t, const blocks* from, const blocks& to) {
  wire_buffers w(s);
  if (from) w.move(from->of(t.rank), to.of(t.rank));
  auto& x = new_exchange(s, t);
  x.show_to_each();
  x.reads(t.size - 1);
  each_other(t, [&](int rank) {
    const block b = from ? from->of(rank) : to.of(rank);
    const std::byte* packed_bytes = from ? w.out(b) : nullptr;
    if (!from) {  // what arrives takes its place
      std::byte* kept = s.scratch(b.bytes());
      s.pack(*b.type, b.data, b.count, kept);
      packed_bytes = kept;
    }
    x.show_to(rank, packed_bytes, b.bytes());
    x.copy_own(rank, to.of(rank).bytes(), w.in(to.of(rank)));
  });
  s.add_exchange(x);
  w.settle();
}

}  // namespace headway::collectives

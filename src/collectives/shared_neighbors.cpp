#include <cstring>

#include "collectives/algorithms.hpp"
#include "collectives/looking.hpp"
#include "collectives/shared_exchange.hpp"

// A rank shows one stream, whose readers are the ranks that it sends to, and reads the streams of
// its sources. No other rank waits: shared_banks uses a line and bytes of the bank again when the
// readers of what they hold have finished, and asks no other rank. All ranks of the communicator
// count the operation, also one without neighbours.

namespace headway::collectives {
namespace {

shared_exchange& new_neighbor_exchange(schedule& s, const team& t) {
  return *new (s.scratch(sizeof(shared_exchange))) shared_exchange(s, t, 0);
}

/// Another process, which is there.
bool is_other(const team& t, int neighbor) noexcept { return neighbor >= 0 && neighbor != t.rank; }

/// The other processes among these.
rank_set others_of(const team& t, std::span<const int> neighbors) noexcept {
  rank_set found;
  for (const int each : neighbors)
    if (is_other(t, each)) found |= rank_set::only(each);
  return found;
}

/// The exchange of an operation: its readers, and room for what is read.
shared_exchange& begin(schedule& s, const team& t, const neighborhood& n) {
  auto& x = new_neighbor_exchange(s, t);
  x.stream().set_readers(others_of(t, n.destinations));
  x.parts().reserve(static_cast<int>(n.sources.size()));
  return x;
}

/// Calls `own(i, end)` for each block i that comes from this rank itself, and `other(i, source,
/// end)` for each from another one.
template <class Own, class Other>
void each_source(const team& t, const neighborhood& n, const Own& own, const Other& other) {
  const edge_ends& ends = *t.memory.edges;
  for (std::size_t i = 0; i < n.sources.size(); ++i) {
    const int source = n.sources[i];
    if (source == t.rank) own(static_cast<int>(i), ends[i]);
    else if (source >= 0) other(static_cast<int>(i), source, ends[i]);
  }
}

/// Where the equal blocks of `all` lie one behind the other as plain bytes: in the user's buffer,
/// or packed.
const std::byte* in_one_piece(schedule& s, wire_buffers& w, const team& t, const neighborhood& n,
                              const blocks& all) {
  const block first = all.of(0);
  if (all.plain()) return w.out(first);
  std::byte* made = s.scratch(static_cast<std::int64_t>(n.destinations.size()) * first.bytes());
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    const block b = all.of(static_cast<int>(i));
    if (is_other(t, n.destinations[i]))
      s.pack(*b.type, b.data, b.count, made + static_cast<std::int64_t>(i) * b.bytes());
  }
  return made;
}

/// A blocking operation in the lines of its ranks.
class in_lines {
 public:
  in_lines(const team& t, const neighborhood& n, const lines_exchanged& what) noexcept
      : team_(t), neighbors_(n), what_(what), bytes_(what.to.of(0).bytes()) {}

  [[nodiscard]] bool fit() const noexcept {
    if (std::ssize(what_.own) > shared_banks::line_bytes_max) return false;
    for (std::size_t i = 0; i < neighbors_.sources.size(); ++i)
      if (neighbors_.sources[i] >= 0 && stream_bytes(i) > shared_banks::line_bytes_max)
        return false;
    return true;
  }
  /// Copies those blocks that are there, in their order. True: all.
  [[nodiscard]] bool take(const exchange_numbers& operation) noexcept {
    for (; taken_ < neighbors_.sources.size(); ++taken_) {
      const int source = neighbors_.sources[taken_];
      if (source < 0) continue;
      const std::byte* stream = what_.own.data();
      if (source != team_.rank)
        stream = team_.memory.banks->find_in_line(source, operation, stream_bytes(taken_));
      if (!stream) return false;
      std::memcpy(to() + static_cast<std::int64_t>(taken_) * bytes_, stream + offset(taken_),
                  static_cast<std::size_t>(bytes_));
    }
    return true;
  }

 private:
  [[nodiscard]] const edge_end& end_of(std::size_t source) const noexcept {
    return (*team_.memory.edges)[source];
  }
  [[nodiscard]] std::int64_t stream_bytes(std::size_t source) const noexcept {
    return what_.is_divided ? end_of(source).blocks * bytes_ : bytes_;
  }
  [[nodiscard]] std::int64_t offset(std::size_t source) const noexcept {
    return what_.is_divided ? end_of(source).block * bytes_ : 0;
  }
  [[nodiscard]] std::byte* to() const noexcept { return static_cast<std::byte*>(what_.to.data); }

  const team& team_;
  const neighborhood& neighbors_;
  const lines_exchanged& what_;
  const std::int64_t bytes_;  // of each block that arrives
  std::size_t taken_ = 0;
};

}  // namespace

bool neighbors_in_lines(team& t, const neighborhood& n, const lines_exchanged& what) {
  in_lines all(t, n, what);
  if (!all.fit()) return false;
  auto& banks = *t.memory.banks;
  using enum collective;
  const auto before = t.log.history();
  t.log.note(call{.what = what.is_divided ? neighbor_alltoall : neighbor_allgather}.word());
  const exchange_numbers operation(t.next_operation(), t.log.history());
  if (banks.try_show_in_line(operation, what.own, others_of(t, n.destinations)) &&
      look_for_a_while(t.oversubscribed, t.via, [&] { return all.take(operation); })) {
    banks.finish_in_line(operation, others_of(t, n.sources));
    return true;
  }
  t.return_operation();
  t.log.take_back(before);
  return false;
}

void neighbor_allgather_shared(schedule& s, const team& t, const neighborhood& n, const block& mine,
                               const blocks& all) {
  wire_buffers w(s);
  auto& x = begin(s, t, n);
  if (x.stream().has_readers()) x.stream().show(w.out(mine), mine.bytes());
  each_source(
      t, n, [&](int i, const edge_end&) { w.move(mine, all.of(i)); },
      [&](int i, int source, const edge_end&) {
        const block b = all.of(i);
        x.parts().copy({source, b.bytes(), 0, b.bytes()}, w.in(b));
      });
  s.add_exchange(x);
  w.settle();
}

void neighbor_alltoall_shared(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                              const blocks& to) {
  wire_buffers w(s);
  auto& x = begin(s, t, n);
  if (x.stream().has_readers()) {
    const auto bytes = from.of(0).bytes();
    const std::byte* next = in_one_piece(s, w, t, n, from);
    x.stream().show_parts(static_cast<int>(n.destinations.size()));
    if (!shown_stream::is_worth_lending(bytes)) x.stream().keep_in_bank();
    for (const int destination : n.destinations) {
      if (is_other(t, destination)) x.stream().show_part(next, bytes, destination);
      else x.stream().skip_part(next, bytes);
      next += bytes;
    }
  }
  each_source(
      t, n, [&](int i, const edge_end& end) { w.move(from.of(end.block), to.of(i)); },
      [&](int i, int source, const edge_end& end) {
        const block b = to.of(i);
        x.parts().copy({source, end.blocks * b.bytes(), end.block * b.bytes(), b.bytes()}, w.in(b));
      });
  s.add_exchange(x);
  w.settle();
}

void neighbor_alltoallv_shared(schedule& s, const team& t, const neighborhood& n,
                               const blocks& from, const blocks& to) {
  wire_buffers w(s);
  auto& x = begin(s, t, n);
  if (x.stream().has_readers()) {
    const int count = static_cast<int>(n.destinations.size());
    x.stream().show_to_each(count);
    for (int i = 0; i < count; ++i) {
      const block b = from.of(i);
      const int destination = n.destinations[static_cast<std::size_t>(i)];
      if (is_other(t, destination)) x.stream().show_to(i, destination, w.out(b), b.bytes());
    }
  }
  each_source(
      t, n, [&](int i, const edge_end& end) { w.move(from.of(end.block), to.of(i)); },
      [&](int i, int source, const edge_end& end) {
        const block b = to.of(i);
        x.parts().copy_own(source, end.block, b.bytes(), w.in(b));
      });
  s.add_exchange(x);
  w.settle();
}

}  // namespace headway::collectives

// Recursive halving: in each round a rank gives half of what it has to a partner, and combines the
// other half with that of the partner. Each builds a schedule (algorithms.hpp).
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 2005.
#include <vector>

#include "collectives/active_ranks.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/partition.hpp"

namespace headway::collectives {
namespace {

/// The halving of one active rank. Parts of the vector belong to active ranks, by their numbers.
class halves {
 public:
  halves(schedule& s, values& v, const active_ranks& all, int rank, const partition& part)
      : schedule_(s), values_(v), all_(all), number_(all.number_of(rank)), part_(part) {}

  /// This rank's part of all active ranks' inputs, combined: in `result`, which may be its place in
  /// the input.
  void reduce(const std::byte* input, std::byte* result) {
    const std::byte* now = input;
    int first = 0, end = all_.count;  // of the parts in `now`
    for (int bit = all_.count / 2; bit > 0; bit /= 2) {
      const int middle = first + bit;
      const bool keeps_first = number_ < middle;
      const int kept = keeps_first ? first : middle, given = keeps_first ? middle : first;
      const int peer = all_.rank_of(number_ ^ bit);
      const auto length = elements(kept, kept + bit);
      // Behind the first round nothing of the input is needed.
      std::byte* const sum = bit == 1 && now != input ? result : values_.scratch(length);
      if (length > 0) values_.receive(peer, sum, length);
      if (elements(given, given + bit) > 0)
        values_.send(peer, values_.at(now, elements(first, given)), elements(given, given + bit));
      values_.settle();
      schedule_.combine(values_.at(now, elements(first, kept)), sum, length);
      now = sum;
      first = kept;
      end = kept + bit;
    }
    values_.copy(now, result, elements(first, end));
  }

  /// Of a vector in which each active rank has its own part: all parts.
  void gather(void* vector) {
    for (int bit = 1; bit < all_.count; bit *= 2) {
      const int first = number_ & ~(bit - 1), other = first ^ bit;
      const int peer = all_.rank_of(number_ ^ bit);
      move(vector, other, bit, [&](void* at, auto length) { values_.receive(peer, at, length); });
      move(vector, first, bit, [&](void* at, auto length) { values_.send(peer, at, length); });
      values_.settle();
    }
  }

 private:
  [[nodiscard]] std::int64_t elements(int first, int end) const noexcept {
    return part_.begin(end) - part_.begin(first);
  }
  template <class Act>
  void move(void* vector, int first, int parts, const Act& act) {
    const auto length = elements(first, first + parts);
    if (length > 0) act(values_.at(vector, part_.begin(first)), length);
  }

  schedule& schedule_;
  values& values_;
  const active_ranks& all_;
  const int number_;
  const partition& part_;
};

/// A passive rank gives its input to its active neighbour, and receives so many elements from it.
void leave_to_neighbour(schedule& s, values& v, const team& t, const reduction& r,
                        std::int64_t result_count) {
  v.send(t.rank + 1, r.input(), r.count);
  s.close_round();
  if (result_count > 0) v.receive(t.rank + 1, r.receive, result_count);
  v.settle();
}

/// The input of an active rank, combined with that of its passive neighbour.
const std::byte* with_neighbour(schedule& s, values& v, const team& t, const active_ranks& all,
                                const reduction& r) {
  const auto* own = static_cast<const std::byte*>(r.input());
  if (!all.has_passive_neighbour(t.rank)) return own;
  std::byte* const both = v.scratch(r.count);
  v.receive(t.rank - 1, both, r.count);
  v.settle();
  s.combine(own, both, r.count);
  return both;
}

}  // namespace

void reduce_scatter_halving(schedule& s, const team& t, const reduction& r,
                            const std::int64_t* counts) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  const active_ranks all(t.size);
  if (all.is_passive(t.rank)) return leave_to_neighbour(s, v, t, r, counts[t.rank]);
  std::vector<std::int64_t> of_active(static_cast<std::size_t>(all.count));
  for (int rank = 0; rank < t.size; ++rank)
    of_active[static_cast<std::size_t>(all.number_of(rank))] += counts[rank];
  const partition part(of_active.data(), all.count);
  const bool serves = all.has_passive_neighbour(t.rank);
  const auto its = serves ? counts[t.rank - 1] : 0;
  auto* const result =
      serves ? v.scratch(its + counts[t.rank]) : static_cast<std::byte*>(r.receive);
  halves(s, v, all, t.rank, part).reduce(with_neighbour(s, v, t, all, r), result);
  if (!serves) return;
  if (its > 0) v.send(t.rank - 1, result, its);
  s.close_round();
  v.copy(v.at(result, its), r.receive, counts[t.rank]);
}

void allreduce_halving(schedule& s, const team& t, const reduction& r) {
  if (r.count == 0 || r.type->size() == 0) return;
  s.set_reducer(r.op);
  values v(s, *r.type);
  const active_ranks all(t.size);
  if (all.is_passive(t.rank)) return leave_to_neighbour(s, v, t, r, r.count);
  const partition part(r.count, all.count);
  halves own(s, v, all, t.rank, part);
  own.reduce(with_neighbour(s, v, t, all, r), v.at(r.receive, part.begin(all.number_of(t.rank))));
  own.gather(r.receive);
  if (!all.has_passive_neighbour(t.rank)) return;
  v.send(t.rank - 1, r.receive, r.count);
  s.close_round();
}

}  // namespace headway::collectives

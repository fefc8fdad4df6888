#include "collectives/neighbors.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/choice.hpp"

namespace headway::collectives {
namespace {

// Messages between two ranks match in the order in which they are posted: receives are posted in
// the order in which the source sends.

void receive_all(schedule& s, const neighborhood& n, const blocks& to, wire_buffers& w) {
  for (std::size_t k = 0; k < n.sources.size(); ++k) {
    const auto i = n.matched(k);
    const int source = n.sources[i];
    const block b = to.of(static_cast<int>(i));
    if (source >= 0 && b.bytes() > 0) s.receive(source, w.in(b), b.bytes());
  }
}

std::span<const std::byte> bytes_of(const block& plain) noexcept {
  return {static_cast<const std::byte*>(plain.data), static_cast<std::size_t>(plain.bytes())};
}

bool is_shared(const team& t, collective what, bool has_exchanges) noexcept {
  return choose({.what = what,
                 .ranks = t.size,
                 .oversubscribed = t.oversubscribed,
                 .has = has_exchanges && t.memory.edges ? known_edges : no_needs},
                t.chosen_by_user, t.measured) == algorithm::shared;
}

bool uses_exchange(const schedule& s, const team& t, collective what) noexcept {
  return is_shared(t, what, s.banks_of(t) != nullptr);
}

}  // namespace

// The choice may not depend on sizes, which differ between ranks that are not neighbours, nor on
// what the arrays of counts hold, because a rank without neighbours has none.

void neighbor_allgather(schedule& s, const team& t, const neighborhood& n, const block& mine,
                        const blocks& all) {
  const bool exchanged = uses_exchange(s, t, collective::neighbor_allgather);
  (exchanged ? neighbor_allgather_shared : neighbor_allgather_linear)(s, t, n, mine, all);
}

void neighbor_allgatherv(schedule& s, const team& t, const neighborhood& n, const block& mine,
                         const blocks& all) {
  const bool exchanged = uses_exchange(s, t, collective::neighbor_allgatherv);
  (exchanged ? neighbor_allgather_shared : neighbor_allgather_linear)(s, t, n, mine, all);
}

void neighbor_alltoall(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                       const blocks& to) {
  const bool exchanged = uses_exchange(s, t, collective::neighbor_alltoall);
  (exchanged ? neighbor_alltoall_shared : neighbor_alltoall_linear)(s, t, n, from, to);
}

void neighbor_alltoallv(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                        const blocks& to) {
  const bool exchanged = uses_exchange(s, t, collective::neighbor_alltoallv);
  (exchanged ? neighbor_alltoallv_shared : neighbor_alltoall_linear)(s, t, n, from, to);
}

bool neighbor_allgather_in_lines(team& t, const neighborhood& n, const block& mine,
                                 const blocks& all) {
  return is_shared(t, collective::neighbor_allgather, true) &&
         neighbors_in_lines(t, n, {.own = bytes_of(mine), .to = all, .is_divided = false});
}

bool neighbor_alltoall_in_lines(team& t, const neighborhood& n, const blocks& from,
                                const blocks& to) {
  block own = from.of(0);
  own.count *= static_cast<std::int64_t>(n.destinations.size());
  return is_shared(t, collective::neighbor_alltoall, true) &&
         neighbors_in_lines(t, n, {.own = bytes_of(own), .to = to, .is_divided = true});
}

void neighbor_allgather_linear(schedule& s, const team&, const neighborhood& n, const block& mine,
                               const blocks& all) {
  wire_buffers in(s), out(s);
  receive_all(s, n, all, in);
  const std::byte* leaving = nullptr;
  for (const int destination : n.destinations) {
    if (destination < 0 || mine.bytes() == 0) continue;
    if (!leaving) leaving = out.out(mine);
    s.send(destination, leaving, mine.bytes());
  }
  s.close_round();
  in.settle();
}

void neighbor_alltoall_linear(schedule& s, const team&, const neighborhood& n, const blocks& from,
                              const blocks& to) {
  wire_buffers in(s), out(s);
  receive_all(s, n, to, in);
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    const block b = from.of(static_cast<int>(i));
    if (n.destinations[i] >= 0 && b.bytes() > 0) s.send(n.destinations[i], out.out(b), b.bytes());
  }
  s.close_round();
  in.settle();
}

}  // namespace headway::collectives

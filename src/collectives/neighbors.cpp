#include "collectives/neighbors.hpp"

namespace headway::collectives {
namespace {

// Messages between two ranks match in the order in which they are posted: receives are posted in
// the order in which the source sends.

void receive_all(schedule& s, const neighborhood& n, const blocks& to, wire_buffers& w) {
  const int count = static_cast<int>(n.sources.size());
  for (int k = 0; k < count; ++k) {
    const int i = n.opposite_pairs ? k ^ 1 : k;
    const int source = n.sources[static_cast<std::size_t>(i)];
    const block b = to.of(i);
    if (source >= 0 && b.bytes() > 0) s.receive(source, w.in(b), b.bytes());
  }
}

}  // namespace

void neighbor_allgather(schedule& s, const neighborhood& n, const block& mine, const blocks& all) {
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

void neighbor_alltoall(schedule& s, const neighborhood& n, const blocks& from, const blocks& to) {
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

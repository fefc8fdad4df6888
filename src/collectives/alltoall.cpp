// The algorithms of alltoall, in messages: each builds a schedule (algorithms.hpp).
#include <algorithm>

#include "base/assert.hpp"
#include "collectives/algorithms.hpp"

namespace headway::collectives {
namespace {

/// One partner at a time: the block for it is packed into scratch memory, and its block received in
/// that place.
void exchange_in_place(schedule& s, const team& t, const blocks& all) {
  std::int64_t longest = 0;
  for (int i = 0; i < t.size; ++i) longest = std::max(longest, all.of(i).bytes());
  if (longest == 0) return;
  std::byte* leaving = s.scratch(longest);
  for (int i = 0; i < t.size; ++i) {
    const int partner = (i - t.rank + t.size) % t.size;  // its partner in round i is this rank
    const block b = all.of(partner);
    if (partner == t.rank || b.bytes() == 0) continue;
    wire_buffers w(s);
    s.pack(*b.type, b.data, b.count, leaving);
    s.receive(partner, w.in(b), b.bytes());
    s.send(partner, leaving, b.bytes());
    s.close_round();
    w.settle();
  }
}

}  // namespace

void alltoall_linear(schedule& s, const team& t, const blocks* from, const blocks& to) {
  HEADWAY_ASSERT(from != nullptr);
  wire_buffers in(s), out(s);
  for (int i = 1; i < t.size; ++i) {
    const int peer = (t.rank - i + t.size) % t.size;
    const block b = to.of(peer);
    if (b.bytes() > 0) s.receive(peer, in.in(b), b.bytes());
  }
  for (int i = 1; i < t.size; ++i) {
    const int peer = (t.rank + i) % t.size;
    const block b = from->of(peer);
    if (b.bytes() > 0) s.send(peer, out.out(b), b.bytes());
  }
  out.move(from->of(t.rank), to.of(t.rank));
  s.close_round();
  in.settle();
}

void alltoall_pairwise(schedule& s, const team& t, const blocks* from, const blocks& to) {
  if (!from) return exchange_in_place(s, t, to);
  wire_buffers w(s);
  w.move(from->of(t.rank), to.of(t.rank));
  for (int i = 1; i < t.size; ++i) {
    const int source = (t.rank - i + t.size) % t.size, target = (t.rank + i) % t.size;
    const block in = to.of(source), out = from->of(target);
    if (in.bytes() > 0) s.receive(source, w.in(in), in.bytes());
    if (out.bytes() > 0) s.send(target, w.out(out), out.bytes());
    s.close_round();
    w.settle();
  }
}

void alltoall_bruck(schedule& s, const team& t, const blocks* from, const blocks& to) {
  const blocks& source = from ? *from : to;
  const auto bytes = to.of(0).bytes();
  if (bytes == 0) return;
  std::byte* held = s.scratch(t.size * bytes);  // block i is on its way to the rank i after me
  std::byte* out = s.scratch(t.size * bytes);
  std::byte* in = s.scratch(t.size * bytes);
  for (int i = 0; i < t.size; ++i) {
    const block b = source.of((t.rank + i) % t.size);
    s.pack(*b.type, b.data, b.count, held + i * bytes);
  }
  for (int distance = 1; distance < t.size; distance <<= 1) {
    std::int64_t some = 0;
    for (int i = distance; i < t.size; ++i) {
      if ((i & distance) == 0) continue;
      s.copy(held + i * bytes, out + some, bytes);
      some += bytes;
    }
    s.receive((t.rank - distance + t.size) % t.size, in, some);
    s.send((t.rank + distance) % t.size, out, some);
    s.close_round();
    some = 0;
    for (int i = distance; i < t.size; ++i) {
      if ((i & distance) == 0) continue;
      s.copy(in + some, held + i * bytes, bytes);
      some += bytes;
    }
  }
  for (int i = 0; i < t.size; ++i) {
    const block b = to.of((t.rank - i + t.size) % t.size);
    s.unpack(*b.type, held + i * bytes, b.data, b.count);
  }
}

}  // namespace headway::collectives

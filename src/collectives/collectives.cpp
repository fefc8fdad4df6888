#include "collectives/collectives.hpp"

#include "collectives/choice.hpp"
#include "collectives/shm_collective.hpp"

namespace headway::collectives {
namespace {

/// A segment of a pipelined broadcast: large against the cost of a message, small against the time
/// that the last rank waits for the first.
constexpr std::int64_t segment_bytes = 128 * 1024;

algorithm chosen(const team& t, collective what, std::int64_t bytes,
                 unsigned features = no_needs) noexcept {
  return choose({.what = what,
                 .bytes = bytes,
                 .ranks = t.size,
                 .oversubscribed = t.oversubscribed,
                 .has = features},
                t.chosen_by_user);
}

/// The types for a user's operator may have other gaps on other ranks.
bool same_bytes_on_all_ranks(const reduction& r) noexcept {
  return r.type->is_contiguous() && r.op.type == nullptr;
}

unsigned features_of(const reduction& r) noexcept {
  return r.op.commutative ? any_order : no_needs;
}

tree shape_of(algorithm a) noexcept {
  switch (a) {
    case algorithm::flat:
      return tree::flat;
    case algorithm::chain:
      return tree::chain;
    default:
      return tree::binomial;
  }
}

}  // namespace

bool barrier_uses_slots(const team& t) noexcept {
  return t.memory.slots && chosen(t, collective::barrier, 0, shared_slots) == algorithm::slots;
}

bool allreduce_uses_slots(const team& t, const reduction& r) noexcept {
  constexpr auto bytes_max = static_cast<std::int64_t>(shm_collective::value_bytes_max);
  return t.memory.slots && r.bytes() <= bytes_max && same_bytes_on_all_ranks(r) &&
         chosen(t, collective::allreduce, r.bytes(), features_of(r) | shared_slots) ==
             algorithm::slots;
}

void barrier(schedule& s, const team& t) {
  const auto use = chosen(t, collective::barrier, 0);
  if (use == algorithm::dissemination) return barrier_dissemination(s, t);
  barrier_tree(s, t, shape_of(use));
}

void bcast(schedule& s, const team& t, const block& data, int root) {
  switch (const auto use = chosen(t, collective::bcast, data.bytes())) {
    case algorithm::pipeline:
      return bcast_pipeline(s, t, data, root, segment_bytes);
    case algorithm::scatter_ring:
      return bcast_scatter_ring(s, t, data, root);
    default:
      return bcast_tree(s, t, data, root, shape_of(use));
  }
}

void reduce(schedule& s, const team& t, const reduction& r, int root) {
  const auto use = chosen(t, collective::reduce, r.bytes(), features_of(r));
  if (use == algorithm::ring) return reduce_scatter_gather(s, t, r, root);
  reduce_tree(s, t, r, root, shape_of(use));
}

void allreduce(schedule& s, const team& t, const reduction& r) {
  auto features = features_of(r);
  if (t.memory.copies && same_bytes_on_all_ranks(r)) features |= peer_memory;
  switch (const auto use = chosen(t, collective::allreduce, r.bytes(), features)) {
    case algorithm::direct:
      return allreduce_direct(s, t, r);
    case algorithm::doubling:
      return allreduce_doubling(s, t, r);
    case algorithm::ring:
      return allreduce_ring(s, t, r);
    default:
      return allreduce_tree(s, t, r, shape_of(use));
  }
}

void gather(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  const auto bytes = t.rank == root ? all.of(root).bytes() : mine->bytes();
  if (chosen(t, collective::gather, bytes) == algorithm::binomial) {
    return gather_binomial(s, t, mine, all, root);
  }
  gather_linear(s, t, mine, all, root);
}

void gatherv(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  gather_linear(s, t, mine, all, root);
}

void scatter(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  const auto bytes = t.rank == root ? all.of(root).bytes() : mine->bytes();
  if (chosen(t, collective::scatter, bytes) == algorithm::binomial) {
    return scatter_binomial(s, t, all, mine, root);
  }
  scatter_linear(s, t, all, mine, root);
}

void scatterv(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  scatter_linear(s, t, all, mine, root);
}

void allgather(schedule& s, const team& t, const block* mine, const blocks& all) {
  const auto what = all.counts ? collective::allgatherv : collective::allgather;
  switch (chosen(t, what, all.counts ? 0 : all.of(0).bytes())) {
    case algorithm::flat:
      return allgather_tree(s, t, mine, all);
    case algorithm::bruck:
      return allgather_bruck(s, t, mine, all);
    default:
      return allgather_ring(s, t, mine, all);
  }
}

void alltoall(schedule& s, const team& t, const blocks* from, const blocks& to) {
  const auto what = to.counts || to.types ? collective::alltoallv : collective::alltoall;
  const auto bytes = what == collective::alltoallv ? 0 : to.of(0).bytes();
  switch (chosen(t, what, bytes, from ? two_buffers : no_needs)) {
    case algorithm::bruck:
      return alltoall_bruck(s, t, from, to);
    case algorithm::linear:
      return alltoall_linear(s, t, from, to);
    default:
      return alltoall_pairwise(s, t, from, to);
  }
}

void scan(schedule& s, const team& t, const reduction& r) {
  const auto use = chosen(t, collective::scan, r.bytes());
  (use == algorithm::chain ? scan_chain : scan_doubling)(s, t, r, false);
}

void exscan(schedule& s, const team& t, const reduction& r) {
  const auto use = chosen(t, collective::exscan, r.bytes());
  (use == algorithm::chain ? scan_chain : scan_doubling)(s, t, r, true);
}

void reduce_scatter(schedule& s, const team& t, const reduction& r, const std::int64_t* counts) {
  const auto use = chosen(t, collective::reduce_scatter, r.bytes(), features_of(r));
  if (use == algorithm::ordered) return reduce_scatter_ordered(s, t, r, counts);
  reduce_scatter_pairwise(s, t, r, counts);
}

}  // namespace headway::collectives

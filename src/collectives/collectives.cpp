#include "collectives/collectives.hpp"

#include <bit>

#include "collectives/choice.hpp"
#include "collectives/node_levels.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/shm_collective.hpp"

namespace headway::collectives {
namespace {

/// A segment of a pipelined broadcast: large against the cost of a message, small against the time
/// that the last rank waits for the first.
constexpr std::int64_t segment_bytes = 128 * 1024;

algorithm chosen(const team& t, collective what, std::int64_t bytes,
                 unsigned features = no_needs) noexcept {
  return choose(
      {.what = what,
       .bytes = bytes,
       .ranks = t.size,
       .oversubscribed = t.oversubscribed,
       .has = features |
              (std::has_single_bit(static_cast<unsigned>(t.size)) ? power_of_two : no_needs)},
      t.chosen_by_user, t.measured);
}

/// What the call can use of the memory of nodes. A persistent operation needs banks of its own.
unsigned memory_for(const schedule& s, const team& t) noexcept {
  if (s.banks_of(t)) return node_banks;
  auto* const levels = t.memory.levels;
  if (!levels || (s.is_persistent() && !s.banks_of(levels->local()))) return no_needs;
  return several_nodes | (levels->even() ? equal_nodes : no_needs);
}
/// The same for operations that combine the values of a node before those of others.
unsigned ordered_memory_for(const schedule& s, const team& t) noexcept {
  auto* const levels = t.memory.levels;
  return levels && !levels->in_order() ? no_needs : memory_for(s, t);
}

/// The types for a user's operator may have other gaps on other ranks.
bool same_bytes_on_all_ranks(const reduction& r) noexcept {
  return r.type->is_contiguous() && r.op.type == nullptr;
}

unsigned features_of(const reduction& r) noexcept {
  return r.op.commutative ? any_order : no_needs;
}
unsigned features_of(const schedule& s, const team& t, const reduction& r) noexcept {
  if (!same_bytes_on_all_ranks(r) || r.type->size() == 0) return features_of(r);
  return features_of(r) | (r.op.commutative ? memory_for(s, t) : ordered_memory_for(s, t));
}
/// Of operations in which each rank has another result.
unsigned ordered_features_of(const schedule& s, const team& t, const reduction& r) noexcept {
  if (!same_bytes_on_all_ranks(r) || r.type->size() == 0) return features_of(r);
  return features_of(r) | ordered_memory_for(s, t);
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
  const auto use = chosen(t, collective::barrier, 0, memory_for(s, t));
  if (use == algorithm::shared) return barrier_shared(s, t);
  if (use == algorithm::two_levels) return barrier_two_levels(s, t);
  if (use == algorithm::dissemination) return barrier_dissemination(s, t);
  barrier_tree(s, t, shape_of(use));
}

void bcast(schedule& s, const team& t, const block& data, int root) {
  const auto bytes = data.bytes();
  switch (const auto use = chosen(t, collective::bcast, bytes, memory_for(s, t))) {
    case algorithm::shared:
      return bcast_shared(s, t, data, root);
    case algorithm::two_levels:
      return bcast_two_levels(s, t, data, root);
    case algorithm::pipeline:
      return bcast_pipeline(s, t, data, root, segment_bytes);
    case algorithm::scatter_ring:
      return bcast_scatter_ring(s, t, data, root);
    default:
      return bcast_tree(s, t, data, root, shape_of(use));
  }
}

void reduce(schedule& s, const team& t, const reduction& r, int root) {
  const auto use = chosen(t, collective::reduce, r.bytes(), features_of(s, t, r));
  if (use == algorithm::shared) return reduce_shared(s, t, r, root);
  if (use == algorithm::shared_parts) return reduce_shared_parts(s, t, r, root);
  if (use == algorithm::two_levels) return reduce_two_levels(s, t, r, root);
  if (use == algorithm::two_level_parts) return reduce_two_level_parts(s, t, r, root);
  if (use == algorithm::ring) return reduce_scatter_gather(s, t, r, root);
  reduce_tree(s, t, r, root, shape_of(use));
}

void allreduce(schedule& s, const team& t, const reduction& r) {
  switch (const auto use = chosen(t, collective::allreduce, r.bytes(), features_of(s, t, r))) {
    case algorithm::shared:
      return allreduce_shared(s, t, r);
    case algorithm::shared_parts:
      return allreduce_shared_parts(s, t, r);
    case algorithm::two_levels:
      return allreduce_two_levels(s, t, r);
    case algorithm::two_level_parts:
      return allreduce_two_level_parts(s, t, r);
    case algorithm::doubling:
      return allreduce_doubling(s, t, r);
    case algorithm::halving:
      return allreduce_halving(s, t, r);
    case algorithm::ring:
      return allreduce_ring(s, t, r);
    default:
      return allreduce_tree(s, t, r, shape_of(use));
  }
}

void gather(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  const auto bytes = t.rank == root ? all.of(root).bytes() : mine->bytes();
  switch (chosen(t, collective::gather, bytes, memory_for(s, t))) {
    case algorithm::shared:
      return gather_shared(s, t, mine, all, root);
    case algorithm::two_levels:
      return gather_two_levels(s, t, mine, all, root);
    case algorithm::binomial:
      return gather_binomial(s, t, mine, all, root);
    default:
      return gather_linear(s, t, mine, all, root);
  }
}

void gatherv(schedule& s, const team& t, const block* mine, const blocks& all, int root) {
  const auto use = chosen(t, collective::gatherv, 0, memory_for(s, t));
  (use == algorithm::shared ? gather_shared : gather_linear)(s, t, mine, all, root);
}

void scatter(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  const auto bytes = t.rank == root ? all.of(root).bytes() : mine->bytes();
  switch (chosen(t, collective::scatter, bytes, memory_for(s, t))) {
    case algorithm::shared:
      return scatter_shared(s, t, all, mine, root);
    case algorithm::two_levels:
      return scatter_two_levels(s, t, all, mine, root);
    case algorithm::binomial:
      return scatter_binomial(s, t, all, mine, root);
    default:
      return scatter_linear(s, t, all, mine, root);
  }
}

void scatterv(schedule& s, const team& t, const blocks& all, const block* mine, int root) {
  const auto use = chosen(t, collective::scatterv, 0, memory_for(s, t));
  (use == algorithm::shared ? scatterv_shared : scatter_linear)(s, t, all, mine, root);
}

void allgather(schedule& s, const team& t, const block* mine, const blocks& all) {
  const auto what = all.counts ? collective::allgatherv : collective::allgather;
  const auto bytes = all.counts ? 0 : all.of(0).bytes();
  switch (chosen(t, what, bytes, memory_for(s, t))) {
    case algorithm::shared:
      return allgather_shared(s, t, mine, all);
    case algorithm::two_levels:
      return allgather_two_levels(s, t, mine, all);
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
  const bool varying = what == collective::alltoallv;
  const auto bytes = varying ? 0 : to.of(0).bytes();
  const auto features = memory_for(s, t);
  switch (chosen(t, what, bytes, features | (from ? two_buffers : no_needs))) {
    case algorithm::shared:
      return (varying ? alltoallv_shared : alltoall_shared)(s, t, from, to);
    case algorithm::two_levels:
      return alltoall_two_levels(s, t, from, to);
    case algorithm::bruck:
      return alltoall_bruck(s, t, from, to);
    case algorithm::linear:
      return alltoall_linear(s, t, from, to);
    default:
      return alltoall_pairwise(s, t, from, to);
  }
}

void scan(schedule& s, const team& t, const reduction& r) {
  const auto use = chosen(t, collective::scan, r.bytes(), ordered_features_of(s, t, r));
  if (use == algorithm::shared) return scan_shared(s, t, r, false);
  if (use == algorithm::two_levels) return scan_two_levels(s, t, r, false);
  (use == algorithm::chain ? scan_chain : scan_doubling)(s, t, r, false);
}

void exscan(schedule& s, const team& t, const reduction& r) {
  const auto use = chosen(t, collective::exscan, r.bytes(), ordered_features_of(s, t, r));
  if (use == algorithm::shared) return scan_shared(s, t, r, true);
  if (use == algorithm::two_levels) return scan_two_levels(s, t, r, true);
  (use == algorithm::chain ? scan_chain : scan_doubling)(s, t, r, true);
}

void reduce_scatter(schedule& s, const team& t, const reduction& r, const std::int64_t* counts) {
  const auto use = chosen(t, collective::reduce_scatter, r.bytes(), ordered_features_of(s, t, r));
  if (use == algorithm::shared) return reduce_scatter_shared(s, t, r, counts);
  if (use == algorithm::two_levels) return reduce_scatter_two_levels(s, t, r, counts);
  if (use == algorithm::halving) return reduce_scatter_halving(s, t, r, counts);
  if (use == algorithm::ordered) return reduce_scatter_ordered(s, t, r, counts);
  reduce_scatter_pairwise(s, t, r, counts);
}

}  // namespace headway::collectives

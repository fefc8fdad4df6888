#pragma once

#include <cstdint>

#include "collectives/algorithms.hpp"

namespace headway::collectives {

// The collective operations of MPI-5.0 chapter 6, each with the algorithm that `choose` answers.
// Each appends the steps of `t.rank`; `bind`, then `run` or `start` the schedule. Buffers, types
// and what the operator needs must live until it is complete; arrays of counts and places need not.
// Null in place of `mine`, `from` (and `in_place` in a reduction) is MPI_IN_PLACE.

/// Ask this before the schedule is built: a blocking call needs no schedule if `algorithm::slots`
/// is chosen, because t.memory.slots does all of it.
[[nodiscard]] bool barrier_uses_slots(const team& t) noexcept;
[[nodiscard]] bool allreduce_uses_slots(const team& t, const reduction& r) noexcept;

void barrier(schedule& s, const team& t);
void bcast(schedule& s, const team& t, const block& data, int root);
/// `r.receive` is used at the root only.
void reduce(schedule& s, const team& t, const reduction& r, int root);
void allreduce(schedule& s, const team& t, const reduction& r);
/// `all` is used at the root only.
void gather(schedule& s, const team& t, const block* mine, const blocks& all, int root);
void gatherv(schedule& s, const team& t, const block* mine, const blocks& all, int root);
void scatter(schedule& s, const team& t, const blocks& all, const block* mine, int root);
void scatterv(schedule& s, const team& t, const blocks& all, const block* mine, int root);
/// Also the v form, if `all.counts` is not null; `alltoall` likewise, and w if `to.types` is not.
void allgather(schedule& s, const team& t, const block* mine, const blocks& all);
void alltoall(schedule& s, const team& t, const blocks* from, const blocks& to);
void scan(schedule& s, const team& t, const reduction& r);
void exscan(schedule& s, const team& t, const reduction& r);
/// `counts[i]` elements go to rank i; `r.count` is their sum.
void reduce_scatter(schedule& s, const team& t, const reduction& r, const std::int64_t* counts);

}  // namespace headway::collectives

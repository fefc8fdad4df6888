#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "collectives/buffers.hpp"
#include "collectives/reducer.hpp"
#include "collectives/schedule.hpp"
#include "collectives/team.hpp"
#include "collectives/trees.hpp"

namespace headway::collectives {

/// The operands of a reduction. `in_place`: the input is in `receive`.
struct reduction {
  const void* send = nullptr;
  void* receive = nullptr;
  std::int64_t count = 0;
  const datatypes::layout* type = nullptr;
  reducer op = {};
  bool in_place = false;

  [[nodiscard]] const void* input() const noexcept { return in_place ? receive : send; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return count * type->size(); }
};

// Each function appends its steps for `t.rank` to `s`. Which one is used when: choice.cpp. All
// ranks call the same one with matching arguments, or they wait for messages that never come.

void barrier_dissemination(schedule& s, const team& t);
/// Each rank reports to rank 0, which releases it: two messages a rank, not log2 n rounds.
void barrier_tree(schedule& s, const team& t, tree shape);

void bcast_tree(schedule& s, const team& t, const block& data, int root, tree shape);
/// In segments down a chain; each rank passes on one while it receives the next.
void bcast_pipeline(schedule& s, const team& t, const block& data, int root,
                    std::int64_t segment_bytes);
/// Each rank gets a part, then the parts go round a ring (van de Geijn).
void bcast_scatter_ring(schedule& s, const team& t, const block& data, int root);

void reduce_tree(schedule& s, const team& t, const reduction& r, int root, tree shape);
/// Each rank reduces a part, then the root collects them. Commutative operators only.
void reduce_scatter_gather(schedule& s, const team& t, const reduction& r, int root);

void allreduce_doubling(schedule& s, const team& t, const reduction& r);
void allreduce_tree(schedule& s, const team& t, const reduction& r, tree shape);
/// Each rank reduces a part, then the parts go round a ring. Commutative operators only.
void allreduce_ring(schedule& s, const team& t, const reduction& r);
/// The same in 2 log2 n rounds (Rabenseifner). Commutative operators only.
void allreduce_halving(schedule& s, const team& t, const reduction& r);

// From here on `mine` or `from` is null for the standard's "in place".

void gather_linear(schedule& s, const team& t, const block* mine, const blocks& all, int root);
/// Equal blocks only.
void gather_binomial(schedule& s, const team& t, const block* mine, const blocks& all, int root);
void scatter_linear(schedule& s, const team& t, const blocks& all, const block* mine, int root);
/// Equal blocks only.
void scatter_binomial(schedule& s, const team& t, const blocks& all, const block* mine, int root);

void allgather_ring(schedule& s, const team& t, const block* mine, const blocks& all);
/// Equal blocks only; log2 n rounds (Bruck and others, IEEE TPDS 1997).
void allgather_bruck(schedule& s, const team& t, const block* mine, const blocks& all);
/// Equal blocks only: rank 0 gathers and scatters.
void allgather_tree(schedule& s, const team& t, const block* mine, const blocks& all);

/// All messages at once; not in place.
void alltoall_linear(schedule& s, const team& t, const blocks* from, const blocks& to);
/// One partner at a time.
void alltoall_pairwise(schedule& s, const team& t, const blocks* from, const blocks& to);
/// Equal blocks only; log2 n rounds (Bruck and others, IEEE TPDS 1997).
void alltoall_bruck(schedule& s, const team& t, const blocks* from, const blocks& to);

void scan_doubling(schedule& s, const team& t, const reduction& r, bool exclusive);
/// One message per rank.
void scan_chain(schedule& s, const team& t, const reduction& r, bool exclusive);

/// `counts[i]` elements of the result go to rank i; `r.count` is their sum. In place, the input is
/// in `r.receive` and the result at its beginning.
void reduce_scatter_pairwise(schedule& s, const team& t, const reduction& r,
                             const std::int64_t* counts);
/// In log2 n rounds, and two more where n is no power of two. Commutative operators only.
void reduce_scatter_halving(schedule& s, const team& t, const reduction& r,
                            const std::int64_t* counts);
/// Keeps the order of ranks: each rank receives all contributions to its part.
void reduce_scatter_ordered(schedule& s, const team& t, const reduction& r,
                            const std::int64_t* counts);

// By exchanges in shared memory (shared_exchange.hpp), which need team::memory.banks. Reductions
// need a type whose elements are the same bytes on all ranks, without gaps.

void barrier_shared(schedule& s, const team& t);
void bcast_shared(schedule& s, const team& t, const block& data, int root);
/// The root reads all inputs, and combines them in the order of ranks.
void reduce_shared(schedule& s, const team& t, const reduction& r, int root);
/// Each rank combines a part of all inputs, and the root reads the parts. Commutative operators
/// only.
void reduce_shared_parts(schedule& s, const team& t, const reduction& r, int root);
/// Each rank reads all inputs, and combines them in the order of ranks.
void allreduce_shared(schedule& s, const team& t, const reduction& r);
/// Each rank combines a part of all inputs, and reads the other parts. Commutative operators
/// only.
void allreduce_shared_parts(schedule& s, const team& t, const reduction& r);
/// Appends what a rank does with its part, of `count` elements, before others read it.
using part_steps = std::function<void(std::byte* part, std::int64_t count)>;
inline constexpr int no_rank = -1;
/// The two with such steps. `no_rank` as root: the parts stay where they are.
void reduce_in_parts(schedule& s, const team& t, const reduction& r, int root,
                     const part_steps& between);
void allreduce_in_parts(schedule& s, const team& t, const reduction& r, const part_steps& between);
/// Commutative operators only.
void reduce_scatter_shared(schedule& s, const team& t, const reduction& r,
                           const std::int64_t* counts);
void scan_shared(schedule& s, const team& t, const reduction& r, bool exclusive);
void gather_shared(schedule& s, const team& t, const block* mine, const blocks& all, int root);
/// Equal blocks only.
void scatter_shared(schedule& s, const team& t, const blocks& all, const block* mine, int root);
void scatterv_shared(schedule& s, const team& t, const blocks& all, const block* mine, int root);
void allgather_shared(schedule& s, const team& t, const block* mine, const blocks& all);
/// Equal blocks only.
void alltoall_shared(schedule& s, const team& t, const blocks* from, const blocks& to);
void alltoallv_shared(schedule& s, const team& t, const blocks* from, const blocks& to);

// Of ranks on several nodes, in two levels: exchanges inside each node, and messages of one rank a
// node, or of each rank with those of the same place on the other nodes. They need
// team::memory.levels. Reductions have the same restrictions as above; their operator commutes, or
// the ranks of each node follow each other (node_levels::in_order).

void barrier_two_levels(schedule& s, const team& t);
void bcast_two_levels(schedule& s, const team& t, const block& data, int root);
void reduce_two_levels(schedule& s, const team& t, const reduction& r, int root);
/// Each rank of a node combines a part, and reduces it with the ranks of the same place.
/// Commutative operators and nodes of equally many ranks only.
void reduce_two_level_parts(schedule& s, const team& t, const reduction& r, int root);
void allreduce_two_levels(schedule& s, const team& t, const reduction& r);
/// As reduce_two_level_parts.
void allreduce_two_level_parts(schedule& s, const team& t, const reduction& r);
/// Equal blocks only, and so scatter.
void gather_two_levels(schedule& s, const team& t, const block* mine, const blocks& all, int root);
void scatter_two_levels(schedule& s, const team& t, const blocks& all, const block* mine, int root);
void allgather_two_levels(schedule& s, const team& t, const block* mine, const blocks& all);
/// Each rank sends one message to each other node: what all ranks of its own node have for the rank
/// of the same place there. Equal blocks, and nodes of equally many ranks, only.
void alltoall_two_levels(schedule& s, const team& t, const blocks* from, const blocks& to);
/// Only where the ranks of each node follow each other, and so reduce_scatter.
void scan_two_levels(schedule& s, const team& t, const reduction& r, bool exclusive);
void reduce_scatter_two_levels(schedule& s, const team& t, const reduction& r,
                               const std::int64_t* counts);

// Between neighbours: all messages at once, or an exchange, which needs team::memory.edges too.

void neighbor_allgather_linear(schedule& s, const team& t, const neighborhood& n, const block& mine,
                               const blocks& all);
void neighbor_allgather_shared(schedule& s, const team& t, const neighborhood& n, const block& mine,
                               const blocks& all);
void neighbor_alltoall_linear(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                              const blocks& to);
/// Equal blocks only.
void neighbor_alltoall_shared(schedule& s, const team& t, const neighborhood& n, const blocks& from,
                              const blocks& to);
void neighbor_alltoallv_shared(schedule& s, const team& t, const neighborhood& n,
                               const blocks& from, const blocks& to);

/// Plain blocks of a blocking call: the stream of this rank, and where those of its sources go.
struct lines_exchanged {
  std::span<const std::byte> own;
  blocks to;
  bool is_divided;  ///< a stream has a block for each destination, else one for all
};
/// Without a schedule: see neighbors.hpp.
[[nodiscard]] bool neighbors_in_lines(team& t, const neighborhood& n, const lines_exchanged& what);

}  // namespace headway::collectives

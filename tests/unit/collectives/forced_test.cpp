// Goal:   the algorithm that the user names for a collective, or that `headway tune` has found
//         the quickest, is the one whose steps are built.
// Method: for each algorithm that builds a schedule, the steps of a forced call are compared with
//         those of the algorithm's own function, on each of six ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "collectives/choice.hpp"
#include "collectives/collectives.hpp"
#include "collectives/neighbors.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test::forced_tests {
namespace {

using enum algorithm;
using datatypes::layout;
using datatypes::number;
constexpr int ranks = 6, root = 2;

/// The operands of any collective on one rank, of `count` elements to or from each rank.
struct operands {
  explicit operands(std::int64_t elements)
      : count(elements),
        send(static_cast<std::size_t>(ranks * count)),
        receive(send.size()),
        counts(ranks, count) {
    for (int i = 0; i < ranks; ++i) places.push_back(i * count);
  }
  [[nodiscard]] reduction sum(std::int64_t elements) {
    return {.send = send.data(),
            .receive = receive.data(),
            .count = elements,
            .type = &layout::of(number::int64),
            .op = predefined(collectives::operation::sum, number::int64).value()};
  }
  [[nodiscard]] block one(std::vector<std::int64_t>& v) const {
    return {v.data(), count, &layout::of(number::int64)};
  }
  [[nodiscard]] blocks row(std::vector<std::int64_t>& v, bool varying) const {
    return {.data = v.data(),
            .type = &layout::of(number::int64),
            .count = varying ? 0 : count,
            .counts = varying ? counts.data() : nullptr,
            .places = varying ? places.data() : nullptr};
  }

  std::int64_t count;
  std::vector<std::int64_t> send, receive, counts, places;
};

using steps = void (*)(schedule& s, team& t, operands& o);

template <void (*call)(schedule&, const team&, const block&, int)>
void bcast_by(schedule& s, team& t, operands& o) {
  call(s, t, o.one(o.send), root);
}
template <void (*call)(schedule&, const team&, const reduction&, int)>
void reduce_by(schedule& s, team& t, operands& o) {
  call(s, t, o.sum(o.count), root);
}
template <void (*call)(schedule&, const team&, const reduction&)>
void reduce_by(schedule& s, team& t, operands& o) {
  call(s, t, o.sum(o.count));
}
template <auto call, bool varying>
void gather_by(schedule& s, team& t, operands& o) {
  const auto mine = o.one(o.send);
  call(s, t, &mine, o.row(o.receive, varying), root);
}
template <auto call, bool varying>
void scatter_by(schedule& s, team& t, operands& o) {
  const auto mine = o.one(o.receive);
  call(s, t, o.row(o.send, varying), &mine, root);
}
template <auto call, bool varying>
void allgather_by(schedule& s, team& t, operands& o) {
  const auto mine = o.one(o.send);
  call(s, t, &mine, o.row(o.receive, varying));
}
template <auto call, bool varying>
void alltoall_by(schedule& s, team& t, operands& o) {
  const auto from = o.row(o.send, varying);
  call(s, t, &from, o.row(o.receive, varying));
}
template <auto call, bool exclusive>
void scan_by(schedule& s, team& t, operands& o) {
  call(s, t, o.sum(o.count), exclusive);
}
template <auto call>
void reduce_scatter_by(schedule& s, team& t, operands& o) {
  call(s, t, o.sum(o.count * ranks), o.counts.data());
}
/// Every rank is every rank's neighbour.
constexpr std::array<int, ranks> everyone = {0, 1, 2, 3, 4, 5};
constexpr neighborhood all_neighbors{.sources = everyone, .destinations = everyone};
void know_edges(team& t) {
  static edge_ends ends[ranks];
  auto& own = ends[t.rank];
  own.assign(ranks, {.block = t.rank, .blocks = ranks});
  t.memory.edges = &own;
}
template <auto call, bool varying>
void neighbor_allgather_by(schedule& s, team& t, operands& o) {
  know_edges(t);
  call(s, t, all_neighbors, o.one(o.send), o.row(o.receive, varying));
}
template <auto call, bool varying>
void neighbor_alltoall_by(schedule& s, team& t, operands& o) {
  know_edges(t);
  call(s, t, all_neighbors, o.row(o.send, varying), o.row(o.receive, varying));
}
template <tree shape>
void bcast_shape(schedule& s, team& t, operands& o) {
  bcast_tree(s, t, o.one(o.send), root, shape);
}
template <tree shape>
void reduce_shape(schedule& s, team& t, operands& o) {
  reduce_tree(s, t, o.sum(o.count), root, shape);
}
template <tree shape>
void allreduce_shape(schedule& s, team& t, operands& o) {
  allreduce_tree(s, t, o.sum(o.count), shape);
}
template <tree shape>
void barrier_shape(schedule& s, team& t, operands&) {
  barrier_tree(s, t, shape);
}

struct call {
  collective what;
  steps any;
};
const call calls[] = {
    {collective::barrier, [](schedule& s, team& t, operands&) { barrier(s, t); }},
    {collective::bcast, bcast_by<bcast>},
    {collective::reduce, reduce_by<reduce>},
    {collective::allreduce, reduce_by<allreduce>},
    {collective::gather, gather_by<gather, false>},
    {collective::gatherv, gather_by<gatherv, true>},
    {collective::scatter, scatter_by<scatter, false>},
    {collective::scatterv, scatter_by<scatterv, true>},
    {collective::allgather, allgather_by<allgather, false>},
    {collective::allgatherv, allgather_by<allgather, true>},
    {collective::alltoall, alltoall_by<alltoall, false>},
    {collective::alltoallv, alltoall_by<alltoall, true>},
    {collective::scan, [](schedule& s, team& t, operands& o) { scan(s, t, o.sum(o.count)); }},
    {collective::exscan, [](schedule& s, team& t, operands& o) { exscan(s, t, o.sum(o.count)); }},
    {collective::reduce_scatter, reduce_scatter_by<reduce_scatter>},
    {collective::neighbor_allgather, neighbor_allgather_by<neighbor_allgather, false>},
    {collective::neighbor_allgatherv, neighbor_allgather_by<neighbor_allgatherv, true>},
    {collective::neighbor_alltoall, neighbor_alltoall_by<neighbor_alltoall, false>},
    {collective::neighbor_alltoallv, neighbor_alltoall_by<neighbor_alltoallv, true>},
};

struct own_steps {
  collective what;
  algorithm use;
  steps own;
};
const own_steps algorithms[] = {
    {collective::barrier, shared, [](schedule& s, team& t, operands&) { barrier_shared(s, t); }},
    {collective::barrier, flat, barrier_shape<tree::flat>},
    {collective::barrier, binomial, barrier_shape<tree::binomial>},
    {collective::barrier, chain, barrier_shape<tree::chain>},
    {collective::barrier, dissemination,
     [](schedule& s, team& t, operands&) { barrier_dissemination(s, t); }},
    {collective::bcast, shared, bcast_by<bcast_shared>},
    {collective::bcast, flat, bcast_shape<tree::flat>},
    {collective::bcast, binomial, bcast_shape<tree::binomial>},
    {collective::bcast, chain, bcast_shape<tree::chain>},
    {collective::bcast, pipeline,
     [](schedule& s, team& t, operands& o) {
       bcast_pipeline(s, t, o.one(o.send), root, 128 * 1024);
     }},
    {collective::bcast, scatter_ring, bcast_by<bcast_scatter_ring>},
    {collective::reduce, shared, reduce_by<reduce_shared>},
    {collective::reduce, shared_parts, reduce_by<reduce_shared_parts>},
    {collective::reduce, flat, reduce_shape<tree::flat>},
    {collective::reduce, binomial, reduce_shape<tree::binomial>},
    {collective::reduce, chain, reduce_shape<tree::chain>},
    {collective::reduce, ring, reduce_by<reduce_scatter_gather>},
    {collective::allreduce, shared, reduce_by<allreduce_shared>},
    {collective::allreduce, shared_parts, reduce_by<allreduce_shared_parts>},
    {collective::allreduce, flat, allreduce_shape<tree::flat>},
    {collective::allreduce, binomial, allreduce_shape<tree::binomial>},
    {collective::allreduce, chain, allreduce_shape<tree::chain>},
    {collective::allreduce, doubling, reduce_by<allreduce_doubling>},
    {collective::allreduce, halving, reduce_by<allreduce_halving>},
    {collective::allreduce, ring, reduce_by<allreduce_ring>},
    {collective::gather, shared, gather_by<gather_shared, false>},
    {collective::gather, linear, gather_by<gather_linear, false>},
    {collective::gather, binomial, gather_by<gather_binomial, false>},
    {collective::gatherv, shared, gather_by<gather_shared, true>},
    {collective::gatherv, linear, gather_by<gather_linear, true>},
    {collective::scatter, shared, scatter_by<scatter_shared, false>},
    {collective::scatter, linear, scatter_by<scatter_linear, false>},
    {collective::scatter, binomial, scatter_by<scatter_binomial, false>},
    {collective::scatterv, shared, scatter_by<scatterv_shared, true>},
    {collective::scatterv, linear, scatter_by<scatter_linear, true>},
    {collective::allgather, shared, allgather_by<allgather_shared, false>},
    {collective::allgather, flat, allgather_by<allgather_tree, false>},
    {collective::allgather, bruck, allgather_by<allgather_bruck, false>},
    {collective::allgather, ring, allgather_by<allgather_ring, false>},
    {collective::allgatherv, shared, allgather_by<allgather_shared, true>},
    {collective::allgatherv, ring, allgather_by<allgather_ring, true>},
    {collective::alltoall, shared, alltoall_by<alltoall_shared, false>},
    {collective::alltoall, linear, alltoall_by<alltoall_linear, false>},
    {collective::alltoall, bruck, alltoall_by<alltoall_bruck, false>},
    {collective::alltoall, pairwise, alltoall_by<alltoall_pairwise, false>},
    {collective::alltoallv, shared, alltoall_by<alltoallv_shared, true>},
    {collective::alltoallv, linear, alltoall_by<alltoall_linear, true>},
    {collective::alltoallv, pairwise, alltoall_by<alltoall_pairwise, true>},
    {collective::scan, shared, scan_by<scan_shared, false>},
    {collective::scan, chain, scan_by<scan_chain, false>},
    {collective::scan, doubling, scan_by<scan_doubling, false>},
    {collective::exscan, shared, scan_by<scan_shared, true>},
    {collective::exscan, chain, scan_by<scan_chain, true>},
    {collective::exscan, doubling, scan_by<scan_doubling, true>},
    {collective::reduce_scatter, shared, reduce_scatter_by<reduce_scatter_shared>},
    {collective::reduce_scatter, pairwise, reduce_scatter_by<reduce_scatter_pairwise>},
    {collective::reduce_scatter, halving, reduce_scatter_by<reduce_scatter_halving>},
    {collective::reduce_scatter, ordered, reduce_scatter_by<reduce_scatter_ordered>},
    {collective::neighbor_allgather, shared,
     neighbor_allgather_by<neighbor_allgather_shared, false>},
    {collective::neighbor_allgather, linear,
     neighbor_allgather_by<neighbor_allgather_linear, false>},
    {collective::neighbor_allgatherv, shared,
     neighbor_allgather_by<neighbor_allgather_shared, true>},
    {collective::neighbor_allgatherv, linear,
     neighbor_allgather_by<neighbor_allgather_linear, true>},
    {collective::neighbor_alltoall, shared, neighbor_alltoall_by<neighbor_alltoall_shared, false>},
    {collective::neighbor_alltoall, linear, neighbor_alltoall_by<neighbor_alltoall_linear, false>},
    {collective::neighbor_alltoallv, shared, neighbor_alltoall_by<neighbor_alltoallv_shared, true>},
    {collective::neighbor_alltoallv, linear, neighbor_alltoall_by<neighbor_alltoall_linear, true>},
    {collective::barrier, two_levels,
     [](schedule& s, team& t, operands&) { barrier_two_levels(s, t); }},
    {collective::bcast, two_levels, bcast_by<bcast_two_levels>},
    {collective::reduce, two_levels, reduce_by<reduce_two_levels>},
    {collective::allreduce, two_levels, reduce_by<allreduce_two_levels>},
    {collective::gather, two_levels, gather_by<gather_two_levels, false>},
    {collective::scatter, two_levels, scatter_by<scatter_two_levels, false>},
    {collective::alltoall, two_levels, alltoall_by<alltoall_two_levels, false>},
    {collective::allgather, two_levels, allgather_by<allgather_two_levels, false>},
    {collective::allgatherv, two_levels, allgather_by<allgather_two_levels, true>},
    {collective::scan, two_levels, scan_by<scan_two_levels, false>},
    {collective::exscan, two_levels, scan_by<scan_two_levels, true>},
    {collective::reduce_scatter, two_levels, reduce_scatter_by<reduce_scatter_two_levels>},
    {collective::reduce, two_level_parts, reduce_by<reduce_two_level_parts>},
    {collective::allreduce, two_level_parts, reduce_by<allreduce_two_level_parts>},
};

bool same(const schedule::step& a, const schedule::step& b) {
  return a.what == b.what && a.number == b.number && a.amount == b.amount;
}

TEST(forced, is_tested_for_every_algorithm_of_the_table_that_has_a_schedule) {
  for (std::size_t c = 0; c < collective_count; ++c)
    for (const rule& r : rules(static_cast<collective>(c)))
      EXPECT_TRUE(r.use == slots || std::ranges::any_of(algorithms,
                                                        [&](const own_steps& a) {
                                                          return a.what == r.what && a.use == r.use;
                                                        }))
          << name_of(r.what) << ":" << name_of(r.use);
}

TEST(forced, is_what_runs_and_so_is_what_was_measured) {
  for (const auto& [what, use, own] : algorithms) {
    const auto& any = std::ranges::find(calls, what, &call::what)->any;
    settings user;
    user.forced[static_cast<std::size_t>(what)] = use;
    tuned_row row{.what = what, .bytes_max = std::numeric_limits<std::int64_t>::max()};
    row.order[0] = use;
    const tuned_shape measured{.ranks = ranks, .processors = ranks, .rows = {row}};
    for (const std::int64_t count : {1, 700, 50000})
      for (const bool oversubscribed : {false, true}) {
        SCOPED_TRACE(::testing::Message() << name_of(what) << ":" << name_of(use) << ", " << count);
        const bool spread = use == two_levels || use == two_level_parts;
        model_world world(ranks, 1, spread ? std::vector{0, 0, 1, 1, 2, 2} : std::vector<int>{});
        world.everyone([&](int rank, team& t) {
          team forced(t.via, rank, ranks, oversubscribed, user);
          forced.memory = t.memory;
          operands o(count);
          const auto expected = new_schedule(), built = new_schedule();
          own(*expected, forced, o);
          any(*built, forced, o);
          EXPECT_TRUE(std::ranges::equal(built->steps(), expected->steps(), same));
          team tuned(t.via, rank, ranks, oversubscribed, {}, &measured);
          tuned.memory = t.memory;
          const auto quickest = new_schedule();
          any(*quickest, tuned, o);
          EXPECT_TRUE(std::ranges::equal(quickest->steps(), expected->steps(), same));
        });
      }
  }
}

}  // namespace
}  // namespace headway::collectives::test::forced_tests

// Goal:   reductions combine every rank's contribution exactly once and in the order of ranks where
//         the operator demands it, with any algorithm, number of ranks, root, length and layout.
// Method: operands are functions x -> a*x + b modulo 2^32, whose composition does not commute; for
//         algorithms that ask for a commuting operator, sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "collectives/collectives.hpp"
#include "harness.hpp"

namespace headway::collectives::test::reductions_tests {
namespace {

void read(const datatypes::layout& type, const void* at, std::int64_t count, words& w) {
  w.resize(static_cast<std::size_t>(2 * count));
  type.pack(at, count, reinterpret_cast<std::byte*>(w.data()));
}

/// Applies `pairwise` to elements in the layout that `state` points to.
template <void (*pairwise)(const std::uint32_t*, std::uint32_t*)>
void apply(const reducer& self, const void* left, void* right, std::int64_t count) noexcept {
  const auto& type = *static_cast<const datatypes::layout*>(self.state);
  words l, r;
  read(type, left, count, l);
  read(type, right, count, r);
  for (std::size_t i = 0; i < l.size(); i += 2) pairwise(&l[i], &r[i]);
  type.unpack(reinterpret_cast<const std::byte*>(r.data()), right, count);
}

void add(const std::uint32_t* left, std::uint32_t* right) {
  right[0] += left[0];
  right[1] += left[1];
}

struct operand_kind {
  bool commutative;
  [[nodiscard]] reducer on(const datatypes::layout& type) const {
    return {.apply = commutative ? apply<add> : apply<compose>,
            .state = const_cast<datatypes::layout*>(&type),
            .commutative = commutative};
  }
  /// Ranks [first, last] combined, element by element.
  [[nodiscard]] words of(int first, int last, std::int64_t count) const {
    words sum = contribution(first, count);
    for (int i = first + 1; i <= last; ++i) {
      words next = contribution(i, count);
      for (std::size_t w = 0; w < sum.size(); w += 2) {
        (commutative ? add : compose)(&sum[w], &next[w]);
      }
      sum = next;
    }
    return sum;
  }
};

struct setting {
  int ranks;
  std::int64_t count;
  pair_type type;
  operand_kind op;
  bool in_place;
  std::uint64_t seed;
  std::vector<int> nodes = {};  ///< of each rank; empty: all on one
};

template <class Check>
void for_all_settings(bool commutative_only, const Check& check) {
  std::uint64_t seed = 1;
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    for (const std::int64_t count : {0, 1, 2, 21}) {
      for (const auto& type : pair_types()) {
        for (const int mode : {0, 1, 2, 3}) {
          const operand_kind op{commutative_only || mode < 2};
          const setting x{ranks, count, type, op, mode % 2 == 1, seed++};
          SCOPED_TRACE(::testing::Message()
                       << ranks << " ranks, " << count << " pairs, " << type.name << ", "
                       << (op.commutative ? "sum" : "composition")
                       << (x.in_place ? ", in place" : "") << ", seed " << x.seed);
          check(x);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// The buffers of a reduction on all ranks, with each rank's contribution in its place.
struct operands {
  explicit operands(const setting& setting)
      : x(setting),
        send(*x.type.layout, x.ranks, [&](int) { return x.count; }),
        receive(*x.type.layout, x.ranks, [&](int) { return x.count; }) {}

  reduction of(int rank, bool in_place) {
    (in_place ? receive : send)[rank].set(contribution(rank, x.count));
    return {.send = in_place ? nullptr : send[rank].data(),
            .receive = receive[rank].data(),
            .count = x.count,
            .type = x.type.layout.get(),
            .op = x.op.on(*x.type.layout),
            .in_place = in_place};
  }

  const setting& x;
  buffers_of_all send, receive;
};

using reduce_steps = std::function<void(schedule&, const team&, const reduction&, int root)>;

void check_reduce(const setting& x, const reduce_steps& steps) {
  const int root = static_cast<int>(x.seed % x.ranks);
  model_world world(x.ranks, x.seed, x.nodes);
  operands all(x);
  perform(world, [&](schedule& s, team& t) {
    auto r = all.of(t.rank, x.in_place && t.rank == root);
    if (t.rank != root) r.receive = nullptr;
    steps(s, t, r, root);
  });
  if (x.count == 0) return;
  EXPECT_EQ(all.receive[root].get(), x.op.of(0, x.ranks - 1, x.count));
  EXPECT_TRUE(all.receive[root].rest_untouched());
  if (!x.in_place) {
    EXPECT_EQ(all.send[root].get(), contribution(root, x.count));
  }
}

TEST(reduce, combines_in_the_order_of_ranks_by_each_tree) {
  for_all_settings(false, [](const setting& x) {
    for (const tree shape : {tree::binomial, tree::flat, tree::chain}) {
      check_reduce(x, [shape](schedule& s, const team& t, const reduction& r, int root) {
        reduce_tree(s, t, r, root, shape);
      });
    }
    check_reduce(x, reduce);
  });
}

TEST(reduce, combines_large_values_child_by_child) {
  for (const int mode : {0, 1, 2, 3}) {
    const setting x{7,          2000,          pair_types()[static_cast<std::size_t>(mode) % 3],
                    {mode < 2}, mode % 2 == 1, 3};
    for (const tree shape : {tree::binomial, tree::flat, tree::chain}) {
      check_reduce(x, [shape](schedule& s, const team& t, const reduction& r, int root) {
        reduce_tree(s, t, r, root, shape);
      });
    }
  }
}

TEST(reduce, combines_in_parts_what_commutes) {
  for_all_settings(true, [](const setting& x) { check_reduce(x, reduce_scatter_gather); });
}

using allreduce_steps = std::function<void(schedule&, const team&, const reduction&)>;

void check_allreduce(const setting& x, const allreduce_steps& steps) {
  model_world world(x.ranks, x.seed, x.nodes);
  operands all(x);
  perform(world, [&](schedule& s, team& t) { steps(s, t, all.of(t.rank, x.in_place)); });
  if (x.count == 0) return;
  for (int i = 0; i < x.ranks; ++i) {
    EXPECT_EQ(all.receive[i].get(), x.op.of(0, x.ranks - 1, x.count)) << "on rank " << i;
    EXPECT_TRUE(all.receive[i].rest_untouched());
    if (!x.in_place) {
      EXPECT_EQ(all.send[i].get(), contribution(i, x.count));
    }
  }
}

TEST(allreduce, gives_everyone_the_value_in_the_order_of_ranks) {
  for_all_settings(false, [](const setting& x) {
    check_allreduce(x, allreduce_doubling);
    check_allreduce(x, allreduce);
    for (const tree shape : {tree::binomial, tree::flat, tree::chain}) {
      check_allreduce(x, [shape](schedule& s, const team& t, const reduction& r) {
        allreduce_tree(s, t, r, shape);
      });
    }
  });
}

TEST(allreduce, goes_round_a_ring_or_in_halves_where_the_operator_commutes) {
  for_all_settings(true, [](const setting& x) {
    check_allreduce(x, allreduce_ring);
    check_allreduce(x, allreduce_halving);
  });
}

/// Reductions through shared memory, of elements without gaps.
TEST(allreduce, combines_shared_streams_in_the_order_of_ranks) {
  for_all_settings(false, [](const setting& x) {
    if (!x.type.layout->is_contiguous()) return;
    check_allreduce(x, allreduce_shared);
    check_reduce(x, reduce_shared);
  });
  for_all_settings(true, [](const setting& x) {
    if (!x.type.layout->is_contiguous()) return;
    check_allreduce(x, allreduce_shared_parts);
    check_reduce(x, reduce_shared_parts);
  });
}

TEST(allreduce, combines_shared_streams_that_are_longer_than_banks) {
  const auto types = pair_types();
  const auto& plain =
      *std::ranges::find_if(types, [](const auto& t) { return t.layout->is_contiguous(); });
  for (const std::uint64_t seed : {2, 3, 4, 5, 6, 7})
    for (const bool in_place : {false, true}) {
      const setting x{3, 12345, plain, {true}, in_place, seed};
      check_allreduce(x, allreduce_shared);
      check_allreduce(x, allreduce_shared_parts);
      check_reduce(x, reduce_shared);
      check_reduce(x, reduce_shared_parts);
    }
}

void check_scan(const setting& x, bool exclusive,
                void (*steps)(schedule&, const team&, const reduction&, bool)) {
  model_world world(x.ranks, x.seed, x.nodes);
  operands all(x);
  perform(world, [&](schedule& s, team& t) { steps(s, t, all.of(t.rank, x.in_place), exclusive); });
  if (x.count == 0) return;
  for (int i = exclusive ? 1 : 0; i < x.ranks; ++i) {
    EXPECT_EQ(all.receive[i].get(), x.op.of(0, exclusive ? i - 1 : i, x.count)) << "on rank " << i;
    EXPECT_TRUE(all.receive[i].rest_untouched());
  }
}

TEST(scan, combines_the_ranks_up_to_mine) {
  for_all_settings(false, [](const setting& x) {
    for (const auto steps : {scan_doubling, scan_chain}) {
      check_scan(x, false, steps);
      check_scan(x, true, steps);
    }
    if (!x.type.layout->is_contiguous()) return;
    check_scan(x, false, scan_shared);
    check_scan(x, true, scan_shared);
  });
}

using reduce_scatter_steps = void (*)(schedule&, const team&, const reduction&,
                                      const std::int64_t*);

void check_reduce_scatter(const setting& x, reduce_scatter_steps steps) {
  std::vector<std::int64_t> counts;  // irregular, some of them 0
  for (int i = 0; i < x.ranks; ++i) counts.push_back(x.count * (i % 3));
  setting whole = x;
  whole.count = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  model_world world(x.ranks, x.seed, x.nodes);
  operands all(whole);
  perform(world,
          [&](schedule& s, team& t) { steps(s, t, all.of(t.rank, x.in_place), counts.data()); });
  const words sum = x.op.of(0, x.ranks - 1, whole.count);
  std::ptrdiff_t begin = 0;
  for (int i = 0; i < x.ranks; ++i) {
    const auto length = static_cast<std::ptrdiff_t>(2 * counts[static_cast<std::size_t>(i)]);
    const words expected(sum.begin() + begin, sum.begin() + begin + length);
    words got = all.receive[i].get();
    got.resize(static_cast<std::size_t>(length));
    EXPECT_EQ(got, expected) << "on rank " << i;
    EXPECT_TRUE(all.receive[i].rest_untouched());
    begin += length;
  }
}

TEST(reduce_scatter, leaves_each_rank_its_part) {
  for_all_settings(false, [](const setting& x) {
    check_reduce_scatter(x, reduce_scatter_ordered);
    check_reduce_scatter(x, reduce_scatter);
  });
  for_all_settings(true, [](const setting& x) {
    check_reduce_scatter(x, reduce_scatter_pairwise);
    check_reduce_scatter(x, reduce_scatter_halving);
    if (x.type.layout->is_contiguous()) check_reduce_scatter(x, reduce_scatter_shared);
  });
}

/// Calls `check` for the settings and several ways to spread the ranks over nodes.
template <class Check>
void for_all_nodes(bool commutative_only, bool in_order, const Check& check) {
  for_all_settings(commutative_only, [&](setting x) {
    if (!x.type.layout->is_contiguous()) return;
    for (const auto& nodes : node_maps(x.ranks, x.seed, in_order)) {
      x.nodes = nodes;
      SCOPED_TRACE(::testing::Message() << "nodes " << ::testing::PrintToString(nodes));
      check(x);
    }
  });
}

TEST(two_levels, combine_in_the_order_of_ranks) {
  for_all_nodes(false, true, [](const setting& x) {
    check_reduce(x, reduce_two_levels);
    check_allreduce(x, allreduce_two_levels);
    check_scan(x, false, scan_two_levels);
    check_scan(x, true, scan_two_levels);
    check_reduce_scatter(x, reduce_scatter_two_levels);
  });
}

TEST(two_levels, combine_what_commutes_whatever_node_a_rank_is_on) {
  for_all_nodes(true, false, [](const setting& x) {
    check_reduce(x, reduce_two_levels);
    check_allreduce(x, allreduce_two_levels);
  });
}

TEST(two_levels, combine_in_parts_on_nodes_of_equally_many_ranks) {
  for_all_settings(true, [](setting x) {
    if (!x.type.layout->is_contiguous()) return;
    for (const int nodes : {1, 2, 3, 4})
      for (const auto& map : equal_nodes(x.ranks, nodes)) {
        x.nodes = map;
        check_reduce(x, reduce_two_level_parts);
        check_allreduce(x, allreduce_two_level_parts);
      }
  });
}

TEST(two_levels, and_what_is_chosen_combine_in_the_order_of_ranks) {
  for_all_settings(false, [](setting x) {
    for (const auto& nodes : node_maps(x.ranks, x.seed, false)) {
      x.nodes = nodes;
      SCOPED_TRACE(::testing::Message() << "nodes " << ::testing::PrintToString(nodes));
      check_reduce(x, reduce);
      check_allreduce(x, allreduce);
      check_scan(x, false,
                 [](schedule& s, const team& t, const reduction& r, bool) { scan(s, t, r); });
      check_scan(x, true,
                 [](schedule& s, const team& t, const reduction& r, bool) { exscan(s, t, r); });
      check_reduce_scatter(x, reduce_scatter);
    }
  });
}

TEST(two_levels, combine_streams_that_are_longer_than_banks) {
  const auto types = pair_types();
  const auto& plain =
      *std::ranges::find_if(types, [](const auto& t) { return t.layout->is_contiguous(); });
  for (const std::uint64_t seed : {2, 3, 4, 5, 6, 7})
    for (const bool in_place : {false, true}) {
      const setting x{6, 12345, plain, {true}, in_place, seed, {0, 0, 0, 1, 1, 1}};
      check_allreduce(x, allreduce_two_levels);
      check_allreduce(x, allreduce_two_level_parts);
      check_reduce(x, reduce_two_levels);
      check_reduce(x, reduce_two_level_parts);
      check_scan(x, false, scan_two_levels);
      check_reduce_scatter(x, reduce_scatter_two_levels);
    }
}

}  // namespace
}  // namespace headway::collectives::test::reductions_tests

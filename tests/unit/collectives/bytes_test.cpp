// Goal:   collectives that move data put every block where the standard says, with any algorithm,
//         number of ranks, root, length, layout, and order of arrival.
// Method: all ranks in one thread (model_world); each rank's data is different everywhere.
#include <gtest/gtest.h>

#include "collectives/collectives.hpp"
#include "harness.hpp"

namespace headway::collectives::test::bytes_tests {
namespace {

struct setting {
  int ranks;
  int root;
  std::int64_t count;
  pair_type type;
  std::uint64_t seed;
  std::vector<int> nodes = {};  ///< of each rank; empty: all on one
};

/// Calls `check` for every mixture of sizes, roots, lengths and layouts.
template <class Check>
void for_all_settings(const Check& check) {
  std::uint64_t seed = 1;
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16}) {
    for (const std::int64_t count : {0, 1, 3, 40}) {
      for (const auto& type : pair_types()) {
        const setting s{ranks, static_cast<int>(seed * 7 % ranks), count, type, seed++};
        SCOPED_TRACE(::testing::Message() << ranks << " ranks, root " << s.root << ", " << count
                                          << " pairs, " << type.name << ", seed " << s.seed);
        check(s);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

using bcast_steps = void (*)(schedule&, const team&, const block&, int root);

void check_bcast(const setting& x, bcast_steps steps) {
  model_world world(x.ranks, x.seed, x.nodes);
  buffers_of_all data(*x.type.layout, x.ranks, [&](int) { return x.count; });
  const auto sent = contribution(x.root, x.count);
  data[x.root].set(sent);
  perform(world, [&](schedule& s, team& t) {
    steps(s, t, {data[t.rank].data(), x.count, x.type.layout.get()}, x.root);
  });
  for (int i = 0; i < x.ranks; ++i) {
    EXPECT_EQ(data[i].get(), x.count == 0 ? words{} : sent);
    EXPECT_TRUE(data[i].rest_untouched());
  }
}

TEST(bcast, reaches_everyone_by_each_tree) {
  for_all_settings([](const setting& x) {
    for (const bcast_steps steps : {+[](schedule& s, const team& t, const block& b, int root) {
                                      bcast_tree(s, t, b, root, tree::binomial);
                                    },
                                    +[](schedule& s, const team& t, const block& b, int root) {
                                      bcast_tree(s, t, b, root, tree::flat);
                                    },
                                    +[](schedule& s, const team& t, const block& b, int root) {
                                      bcast_tree(s, t, b, root, tree::chain);
                                    }}) {
      check_bcast(x, steps);
    }
  });
}

TEST(bcast, reaches_everyone_in_segments_and_in_parts) {
  for_all_settings([](const setting& x) {
    check_bcast(x, [](schedule& s, const team& t, const block& b, int root) {
      bcast_pipeline(s, t, b, root, 20);
    });
    check_bcast(x, bcast_scatter_ring);
    check_bcast(x, bcast);
  });
}

TEST(bcast, reaches_everyone_through_shared_memory) {
  for_all_settings([](const setting& x) { check_bcast(x, bcast_shared); });
}

using gather_steps = void (*)(schedule&, const team&, const block*, const blocks&, int root);

void check_gather(const setting& x, gather_steps steps, bool in_place) {
  model_world world(x.ranks, x.seed, x.nodes);
  const auto types = pair_types();
  const auto* from = types[x.seed % 3].layout.get();  // another layout than the root's
  buffers_of_all mine(*from, x.ranks, [&](int) { return x.count; });
  typed_buffer all(*x.type.layout, x.count * x.ranks);
  const blocks at_root{.data = all.data(), .type = x.type.layout.get(), .count = x.count};
  std::vector<words> expected;
  for (int i = 0; i < x.ranks; ++i) {
    expected.push_back(contribution(i, x.count));
    mine[i].set(expected.back());
  }
  if (in_place) {
    const block own = at_root.of(x.root);
    own.type->unpack(reinterpret_cast<const std::byte*>(expected[x.root].data()), own.data,
                     x.count);
  }
  perform(world, [&](schedule& s, team& t) {
    const block own{mine[t.rank].data(), x.count, from};
    steps(s, t, in_place && t.rank == x.root ? nullptr : &own,
          t.rank == x.root ? at_root : blocks{}, x.root);
  });
  EXPECT_EQ(all.get(), joined(expected));
  EXPECT_TRUE(all.rest_untouched());
}

TEST(gather, collects_the_blocks_in_the_order_of_ranks) {
  for_all_settings([](const setting& x) {
    for (const auto steps : {gather_linear, gather_binomial, gather_shared}) {
      check_gather(x, steps, false);
      check_gather(x, steps, true);
    }
  });
}

using scatter_steps = void (*)(schedule&, const team&, const blocks&, const block*, int root);

void check_scatter(const setting& x, scatter_steps steps, bool in_place) {
  model_world world(x.ranks, x.seed, x.nodes);
  const auto types = pair_types();
  const auto* to = types[x.seed % 3].layout.get();
  buffers_of_all mine(*to, x.ranks, [&](int) { return x.count; });
  typed_buffer all(*x.type.layout, x.count * x.ranks);
  std::vector<words> sent;
  for (int i = 0; i < x.ranks; ++i) sent.push_back(contribution(i, x.count));
  all.set(joined(sent));
  perform(world, [&](schedule& s, team& t) {
    const block own{mine[t.rank].data(), x.count, to};
    const blocks at_root{.data = all.data(), .type = x.type.layout.get(), .count = x.count};
    steps(s, t, t.rank == x.root ? at_root : blocks{},
          in_place && t.rank == x.root ? nullptr : &own, x.root);
  });
  for (int i = 0; i < x.ranks; ++i) {
    if (in_place && i == x.root) continue;
    EXPECT_EQ(mine[i].get(), sent[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(mine[i].rest_untouched());
  }
}

TEST(scatter, deals_the_blocks_out_in_the_order_of_ranks) {
  for_all_settings([](const setting& x) {
    for (const auto steps : {scatter_linear, scatter_binomial, scatter_shared, scatterv_shared}) {
      check_scatter(x, steps, false);
      check_scatter(x, steps, true);
    }
  });
}

using allgather_steps = void (*)(schedule&, const team&, const block*, const blocks&);

void check_allgather(const setting& x, allgather_steps steps, bool in_place) {
  model_world world(x.ranks, x.seed, x.nodes);
  const auto types = pair_types();
  const auto* from = types[x.seed % 3].layout.get();
  buffers_of_all mine(*from, x.ranks, [&](int) { return x.count; });
  buffers_of_all all(*x.type.layout, x.ranks, [&](int) { return x.count * x.ranks; });
  std::vector<words> expected;
  for (int i = 0; i < x.ranks; ++i) expected.push_back(contribution(i, x.count));
  perform(world, [&](schedule& s, team& t) {
    const blocks to{.data = all[t.rank].data(), .type = x.type.layout.get(), .count = x.count};
    const auto& own_words = expected[static_cast<std::size_t>(t.rank)];
    mine[t.rank].set(own_words);
    const block own{mine[t.rank].data(), x.count, from};
    if (in_place) {
      const block b = to.of(t.rank);
      b.type->unpack(reinterpret_cast<const std::byte*>(own_words.data()), b.data, x.count);
    }
    steps(s, t, in_place ? nullptr : &own, to);
  });
  for (int i = 0; i < x.ranks; ++i) {
    EXPECT_EQ(all[i].get(), joined(expected));
    EXPECT_TRUE(all[i].rest_untouched());
  }
}

TEST(allgather, gives_everyone_all_blocks) {
  for_all_settings([](const setting& x) {
    for (const auto steps : {allgather_ring, allgather_bruck, allgather_tree, allgather_shared}) {
      check_allgather(x, steps, false);
      check_allgather(x, steps, true);
    }
  });
}

using alltoall_steps = void (*)(schedule&, const team&, const blocks*, const blocks&);

/// What `from` has for `to`.
words parcel(int from, int to, std::int64_t pairs) {
  return contribution(from, pairs, static_cast<std::uint32_t>(to + 1));
}

void check_alltoall(const setting& x, alltoall_steps steps, bool in_place) {
  model_world world(x.ranks, x.seed, x.nodes);
  const auto types = pair_types();
  const auto* out_type = types[x.seed % 3].layout.get();
  buffers_of_all from(*out_type, x.ranks, [&](int) { return x.count * x.ranks; });
  buffers_of_all to(*x.type.layout, x.ranks, [&](int) { return x.count * x.ranks; });
  perform(world, [&](schedule& s, team& t) {
    std::vector<words> parcels;
    for (int i = 0; i < x.ranks; ++i) parcels.push_back(parcel(t.rank, i, x.count));
    (in_place ? to : from)[t.rank].set(joined(parcels));
    const blocks out{.data = from[t.rank].data(), .type = out_type, .count = x.count};
    const blocks in{.data = to[t.rank].data(), .type = x.type.layout.get(), .count = x.count};
    steps(s, t, in_place ? nullptr : &out, in);
  });
  for (int i = 0; i < x.ranks; ++i) {
    std::vector<words> expected;
    for (int source = 0; source < x.ranks; ++source) expected.push_back(parcel(source, i, x.count));
    EXPECT_EQ(to[i].get(), joined(expected));
    EXPECT_TRUE(to[i].rest_untouched());
  }
}

TEST(alltoall, exchanges_every_pair_of_blocks) {
  for_all_settings([](const setting& x) {
    for (const auto steps :
         {alltoall_linear, alltoall_pairwise, alltoall_bruck, alltoall_shared, alltoallv_shared})
      check_alltoall(x, steps, false);
    for (const auto steps : {alltoall_pairwise, alltoall_bruck, alltoall_shared, alltoallv_shared})
      check_alltoall(x, steps, true);
  });
}

TEST(shared, streams_go_round_in_banks_and_are_lent) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const auto& type : pair_types()) {
      const setting x{1 + static_cast<int>(seed % 5), 0, 3000, type, seed};
      SCOPED_TRACE(::testing::Message() << x.ranks << " ranks, " << type.name << ", seed " << seed);
      check_bcast(x, bcast_shared);
      for (const bool in_place : {false, true}) {
        check_gather(x, gather_shared, in_place);
        check_scatter(x, scatter_shared, in_place);
        check_scatter(x, scatterv_shared, in_place);
        check_allgather(x, allgather_shared, in_place);
        check_alltoall(x, alltoall_shared, in_place);
        check_alltoall(x, alltoallv_shared, in_place);
      }
    }
}

/// Blocks longer than the banks, and all together more than `exchange_run::cached_bytes_max`.
TEST(shared, streams_that_leave_the_caches_are_copied_past_them) {
  const setting x{3, 1, 600'000, pair_types().front(), 7};
  for (const bool in_place : {false, true}) {
    check_gather(x, gather_shared, in_place);
    check_allgather(x, allgather_shared, in_place);
    check_alltoall(x, alltoall_shared, in_place);
  }
}

/// Calls `check` for the settings and several ways to spread the ranks over nodes.
template <class Check>
void for_all_nodes(const Check& check) {
  for_all_settings([&](setting x) {
    for (const auto& nodes : node_maps(x.ranks, x.seed, false)) {
      x.nodes = nodes;
      SCOPED_TRACE(::testing::Message() << "nodes " << ::testing::PrintToString(nodes));
      check(x);
    }
  });
}

TEST(two_levels, move_every_block_to_its_place) {
  for_all_nodes([](const setting& x) {
    check_bcast(x, bcast_two_levels);
    for (const bool in_place : {false, true}) {
      check_gather(x, gather_two_levels, in_place);
      check_scatter(x, scatter_two_levels, in_place);
      check_allgather(x, allgather_two_levels, in_place);
    }
  });
}

TEST(two_levels, and_what_is_chosen_move_every_block_to_its_place) {
  for_all_nodes([](const setting& x) {
    check_bcast(x, bcast);
    check_gather(x, gather, true);
    check_scatter(x, scatter, true);
    check_allgather(x, allgather, false);
    check_alltoall(x, alltoall, false);
  });
}

TEST(two_levels, exchange_every_pair_of_blocks_between_nodes_of_equally_many_ranks) {
  for_all_settings([](setting x) {
    for (const int nodes : {1, 2, 3, 4})
      for (const auto& map : equal_nodes(x.ranks, nodes)) {
        x.nodes = map;
        check_alltoall(x, alltoall_two_levels, false);
        check_alltoall(x, alltoall_two_levels, true);
      }
  });
}

TEST(two_levels, move_streams_that_are_longer_than_banks) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const auto& type : pair_types()) {
      const setting x{5, 3, 3000, type, seed, {0, 0, 1, 1, 0}};
      SCOPED_TRACE(::testing::Message() << type.name << ", seed " << seed);
      check_bcast(x, bcast_two_levels);
      for (const bool in_place : {false, true}) {
        check_gather(x, gather_two_levels, in_place);
        check_scatter(x, scatter_two_levels, in_place);
        check_allgather(x, allgather_two_levels, in_place);
      }
    }
}

}  // namespace
}  // namespace headway::collectives::test::bytes_tests

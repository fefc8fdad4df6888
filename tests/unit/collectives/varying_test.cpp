// Goal:   the v and w forms respect each rank's own length, place and type; empty blocks included.
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/collectives.hpp"
#include "harness.hpp"

namespace headway::collectives::test::varying_tests {
namespace {

/// A length for each pair of ranks: many are 0.
std::int64_t length(int from, int to) { return (from * 3 + to * 5) % 4; }

/// Places that leave a gap of one element between blocks, from the last rank to the first.
std::vector<std::int64_t> places_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> places(counts.size());
  std::int64_t at = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    places[i] = at;
    at += counts[i] + 1;
  }
  return places;
}

std::int64_t room_for(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), static_cast<std::int64_t>(counts.size()));
}

words read(const block& b) {
  words w(static_cast<std::size_t>(2 * b.count));
  b.type->pack(b.data, b.count, reinterpret_cast<std::byte*>(w.data()));
  return w;
}

void write(const block& b, const words& w) {
  b.type->unpack(reinterpret_cast<const std::byte*>(w.data()), b.data, b.count);
}

/// One rank's side of an operation with a block per rank.
struct varying {
  varying(const datatypes::layout& type, std::vector<std::int64_t> lengths)
      : counts(std::move(lengths)), places(places_of(counts)), buffer(type, room_for(counts)) {
    all = {.data = buffer.data(), .type = &type, .counts = counts.data(), .places = places.data()};
  }
  std::vector<std::int64_t> counts, places;
  typed_buffer buffer;
  blocks all;
};

std::vector<std::int64_t> lengths_to(int rank, int ranks) {
  std::vector<std::int64_t> made;
  for (int i = 0; i < ranks; ++i) made.push_back(length(i, rank));
  return made;
}

std::vector<std::int64_t> lengths_from(int rank, int ranks) {
  std::vector<std::int64_t> made;
  for (int i = 0; i < ranks; ++i) made.push_back(length(rank, i));
  return made;
}

class varying_blocks : public ::testing::TestWithParam<int> {};

TEST_P(varying_blocks, are_gathered_and_scattered) {
  const int ranks = GetParam();
  for (const auto& type : pair_types()) {
    for (int turn = 0; turn < 2 * ranks; ++turn) {
      const int root = turn / 2;
      const auto gather = turn % 2 == 0 ? gather_linear : gather_shared;
      const auto scatter = turn % 2 == 0 ? scatter_linear : scatterv_shared;
      model_world world(ranks, static_cast<std::uint64_t>(root) + 11);
      varying gathered(*type.layout, lengths_to(root, ranks));
      buffers_of_all mine(*type.layout, ranks, [&](int i) { return length(i, root); });
      buffers_of_all back(*type.layout, ranks, [&](int i) { return length(i, root); });
      const auto own = [&](buffers_of_all& b, int rank) {
        return block{b[rank].data(), length(rank, root), type.layout.get()};
      };
      perform(world, [&](schedule& s, team& t) {
        mine[t.rank].set(contribution(t.rank, length(t.rank, root)));
        const block b = own(mine, t.rank);
        gather(s, t, &b, t.rank == root ? gathered.all : blocks{}, root);
      });
      for (int i = 0; i < ranks; ++i) {
        EXPECT_EQ(read(gathered.all.of(i)), contribution(i, length(i, root)));
      }
      perform(world, [&](schedule& s, team& t) {
        const block b = own(back, t.rank);
        scatter(s, t, t.rank == root ? gathered.all : blocks{}, &b, root);
      });
      for (int i = 0; i < ranks; ++i) EXPECT_EQ(back[i].get(), mine[i].get());
    }
  }
}

TEST_P(varying_blocks, are_gathered_by_everyone) {
  const int ranks = GetParam();
  for (const auto& type : pair_types()) {
    for (const int mode : {0, 1, 2, 3}) {
      const bool in_place = mode % 2 == 1;
      const auto steps = mode < 2 ? allgather_ring : allgather_shared;
      model_world world(ranks, 5);
      std::vector<std::unique_ptr<varying>> all;
      buffers_of_all mine(*type.layout, ranks, [&](int i) { return length(i, 1); });
      perform(world, [&](schedule& s, team& t) {
        all.push_back(std::make_unique<varying>(*type.layout, lengths_to(1, ranks)));
        const auto w = contribution(t.rank, length(t.rank, 1));
        mine[t.rank].set(w);
        if (in_place) write(all.back()->all.of(t.rank), w);
        const block b{mine[t.rank].data(), length(t.rank, 1), type.layout.get()};
        steps(s, t, in_place ? nullptr : &b, all.back()->all);
      });
      for (auto& rank : all) {
        for (int i = 0; i < ranks; ++i) {
          EXPECT_EQ(read(rank->all.of(i)), contribution(i, length(i, 1)));
        }
      }
    }
  }
}

TEST_P(varying_blocks, are_exchanged_between_all_pairs) {
  const int ranks = GetParam();
  for (const auto steps : {alltoall_linear, alltoall_pairwise, alltoallv_shared}) {
    for (const auto& type : pair_types()) {
      model_world world(ranks, 17);
      std::vector<std::unique_ptr<varying>> from, to;
      perform(world, [&](schedule& s, team& t) {
        from.push_back(std::make_unique<varying>(*type.layout, lengths_from(t.rank, ranks)));
        to.push_back(std::make_unique<varying>(*type.layout, lengths_to(t.rank, ranks)));
        for (int i = 0; i < ranks; ++i) {
          write(from.back()->all.of(i),
                contribution(t.rank, length(t.rank, i), static_cast<std::uint32_t>(i)));
        }
        steps(s, t, &from.back()->all, to.back()->all);
      });
      for (int rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < ranks; ++i) {
          EXPECT_EQ(read(to[static_cast<std::size_t>(rank)]->all.of(i)),
                    contribution(i, length(i, rank), static_cast<std::uint32_t>(rank)));
        }
      }
    }
  }
}

TEST_P(varying_blocks, may_each_have_their_own_type) {
  const int ranks = GetParam();
  const auto types = pair_types();
  const auto n = static_cast<std::size_t>(ranks);
  model_world world(ranks, 23);
  std::vector<const datatypes::layout*> out_types, in_types;
  for (std::size_t i = 0; i < n; ++i) {
    out_types.push_back(types[i % 3].layout.get());
    in_types.push_back(types[(i + 1) % 3].layout.get());
  }
  constexpr std::int64_t stride = 512;  // bytes between blocks, more than any needs
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < n; ++i) places.push_back(static_cast<std::int64_t>(i + 1) * stride);
  struct side {
    std::vector<std::byte> bytes;
    std::vector<std::int64_t> counts;
    blocks all;
  };
  std::vector<std::unique_ptr<side>> from, to;
  const auto make = [&](std::vector<std::int64_t> counts, const auto& its_types) {
    auto made = std::make_unique<side>();
    made->bytes.resize((n + 2) * stride);
    made->counts = std::move(counts);
    made->all = {.data = made->bytes.data(),
                 .counts = made->counts.data(),
                 .places = places.data(),
                 .types = its_types.data()};
    return made;
  };
  perform(world, [&](schedule& s, team& t) {
    from.push_back(make(lengths_from(t.rank, ranks), out_types));
    to.push_back(make(lengths_to(t.rank, ranks), in_types));
    for (int i = 0; i < ranks; ++i) {
      write(from.back()->all.of(i), contribution(t.rank, length(t.rank, i)));
    }
    alltoall(s, t, &from.back()->all, to.back()->all);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < ranks; ++i) {
      EXPECT_EQ(read(to[static_cast<std::size_t>(rank)]->all.of(i)),
                contribution(i, length(i, rank)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ranks, varying_blocks, ::testing::Values(1, 2, 3, 4, 5, 8, 11));

}  // namespace
}  // namespace headway::collectives::test::varying_tests

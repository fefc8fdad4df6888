#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "collectives/schedule_cache.hpp"
#include "model_world.hpp"
#include "typed_buffer.hpp"

namespace headway::collectives::test {

/// One collective operation on all ranks of a world: built and started on each, and checked to end.
class operation {
 public:
  using build = std::function<void(schedule& s, team& t)>;

  void start(model_world& world, const build& steps) {
    world.everyone([&](int, team& t) {
      schedules_.push_back(new_schedule());
      steps(*schedules_.back(), t);
      schedules_.back()->bind(t);
      schedules_.back()->start();
    });
  }
  [[nodiscard]] bool ended_well() const {
    for (const auto& s : schedules_) {
      if (!s->test() || s->how() != messages::outcome::ok) return false;
    }
    return true;
  }
  [[nodiscard]] schedule_run& of(int rank) { return *schedules_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<schedule_ptr> schedules_;
};

/// Starts it on all ranks, runs all events, and checks that it has ended on all without an error.
inline void perform(model_world& world, const operation::build& steps) {
  operation op;
  op.start(world, steps);
  world.settle();
  ASSERT_TRUE(op.ended_well());
  ASSERT_EQ(world.pending(), 0);
}

/// A typed buffer per rank.
class buffers_of_all {
 public:
  buffers_of_all(const datatypes::layout& type, int ranks,
                 const std::function<std::int64_t(int rank)>& count) {
    for (int i = 0; i < ranks; ++i) all_.push_back(std::make_unique<typed_buffer>(type, count(i)));
  }
  typed_buffer& operator[](int rank) { return *all_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::unique_ptr<typed_buffer>> all_;
};

/// Nodes for so many ranks: equal ones one behind the other, unequal ones, ranks dealt out in
/// turns, and at random. With `in_order` only those whose ranks follow each other.
inline std::vector<std::vector<int>> node_maps(int ranks, std::uint64_t seed, bool in_order) {
  std::vector<std::vector<int>> made(in_order ? 3 : 5, std::vector<int>());
  for (int rank = 0; rank < ranks; ++rank) {
    made[0].push_back(rank * 2 / ranks);
    made[1].push_back(rank / 3);
    made[2].push_back(rank / (1 + static_cast<int>(seed % 5)));
    if (in_order) continue;
    made[3].push_back(7 - rank % 3);
    made[4].push_back(static_cast<int>(std::minstd_rand(seed * 100 + rank)() % 4));
  }
  return made;
}

/// So many nodes of equally many ranks: one behind the other, and dealt out in turns. Nothing, if
/// that is not possible.
inline std::vector<std::vector<int>> equal_nodes(int ranks, int nodes) {
  if (ranks % nodes != 0) return {};
  std::vector<std::vector<int>> made(2);
  for (int rank = 0; rank < ranks; ++rank) {
    made[0].push_back(rank * nodes / ranks);
    made[1].push_back(rank % nodes);
  }
  return made;
}

inline words joined(const std::vector<words>& parts) {
  words all;
  for (const auto& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

}  // namespace headway::collectives::test

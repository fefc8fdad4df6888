// Goal:   operations under way together on one communicator do not mix.
// Method: random operations are started on every rank in the same order; between the starts of a
//         rank a random share of the messages arrives, so that ranks are many operations apart.
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "harness.hpp"

namespace headway::collectives::test::many_tests {
namespace {

using datatypes::layout;
using datatypes::number;
using vector64 = std::vector<std::int64_t>;

/// One rank's call, with its buffers.
struct call {
  schedule_ptr steps = new_schedule();
  vector64 send, receive, expected;
};

reduction sum_of(call& c, std::size_t count) {
  return {.send = c.send.data(),
          .receive = c.receive.data(),
          .count = static_cast<std::int64_t>(count),
          .type = &layout::of(number::int64),
          .op = predefined(collectives::operation::sum, number::int64).value()};
}

std::int64_t value(int operation, int rank, std::size_t i) {
  return operation * 1000003 + rank * 10007 + static_cast<std::int64_t>(i);
}

std::unique_ptr<call> make(int number_of_call, int kind, team& t) {
  auto c = std::make_unique<call>();
  const std::size_t count = 1 + static_cast<std::size_t>(number_of_call) % 9;
  const auto n = static_cast<std::size_t>(t.size);
  const auto sum = [&](std::size_t i) {
    std::int64_t total = 0;
    for (int rank = 0; rank < t.size; ++rank) total += value(number_of_call, rank, i);
    return total;
  };
  c->send.resize(count);
  for (std::size_t i = 0; i < count; ++i) c->send[i] = value(number_of_call, t.rank, i);
  if (kind == 0) {
    c->receive.resize(count);
    allreduce(*c->steps, t, sum_of(*c, count));
    for (std::size_t i = 0; i < count; ++i) c->expected.push_back(sum(i));
  } else if (kind == 1) {
    const int root = number_of_call % t.size;
    c->receive = c->send;
    bcast(*c->steps, t,
          {c->receive.data(), static_cast<std::int64_t>(count), &layout::of(number::int64)}, root);
    for (std::size_t i = 0; i < count; ++i) {
      c->expected.push_back(value(number_of_call, root, i));
    }
  } else {
    c->receive.resize(count * n);
    const block mine{c->send.data(), static_cast<std::int64_t>(count), &layout::of(number::int64)};
    allgather(*c->steps, t, &mine,
              {.data = c->receive.data(), .type = mine.type, .count = mine.count});
    for (int rank = 0; rank < t.size; ++rank) {
      for (std::size_t i = 0; i < count; ++i) {
        c->expected.push_back(value(number_of_call, rank, i));
      }
    }
  }
  c->steps->bind(t);
  return c;
}

TEST(many, operations_at_once_on_one_communicator_do_not_mix) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 dice(seed);
    const int ranks = 1 + static_cast<int>(dice() % 7);
    constexpr int calls = 25;
    const auto nodes = node_maps(ranks, seed, false);
    model_world world(ranks, seed, seed % 3 == 1 ? nodes[seed % nodes.size()] : std::vector<int>());
    if (seed % 3 == 0) world.everyone([](int, team& t) { t.memory = {}; });
    std::vector<std::vector<std::unique_ptr<call>>> all(static_cast<std::size_t>(ranks));
    std::vector<int> kinds;
    for (int i = 0; i < calls; ++i) kinds.push_back(static_cast<int>(dice() % 3));
    for (int left = ranks * calls; left > 0;) {
      const auto rank = static_cast<int>(dice() % static_cast<std::uint64_t>(ranks));
      auto& mine = all[static_cast<std::size_t>(rank)];
      if (mine.size() == calls) continue;
      const int next = static_cast<int>(mine.size());
      mine.push_back(make(next, kinds[static_cast<std::size_t>(next)], world.ranks(rank)));
      mine.back()->steps->start();
      world.settle(static_cast<int>(dice() % 12));
      --left;
    }
    world.settle();
    for (const auto& rank : all) {
      for (const auto& c : rank) {
        ASSERT_TRUE(c->steps->test());
        ASSERT_EQ(c->steps->how(), messages::outcome::ok);
        ASSERT_EQ(c->receive, c->expected);
      }
    }
    ASSERT_EQ(world.pending(), 0);
  }
}

}  // namespace
}  // namespace headway::collectives::test::many_tests

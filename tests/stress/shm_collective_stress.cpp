// Goal:   shared slots show every rank all values of each exchange, whichever thread looks for
//         them: the one that shares its value, or any poller. They are used unless the user names
//         another algorithm.
// Method: three ranks in one process, each with an engine of its own, and slots in plain memory;
//         ranks pause at random, so that others stop polling and wait. Also run under
//         ThreadSanitizer (preset tsan).

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <span>
#include <thread>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "collectives/shm_collective.hpp"
#include "tests/stress/plain_slots.hpp"
#include "tests/stress/thread_ranks.hpp"

namespace headway::collectives {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr int exchanges = 600;

void exchange_all(shm_collective& slots, std::uint64_t rank) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  for (int i = 0; i < exchanges; ++i) {
    if (random() % 200 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    const std::uint64_t mine = static_cast<std::uint64_t>(i) * ranks + rank;
    ASSERT_EQ(slots.share(std::as_bytes(std::span(&mine, 1))), messages::outcome::ok);
    for (std::uint32_t other = 0; other < ranks; ++other) {
      std::uint64_t value = 0;
      std::memcpy(&value, slots.value_of(static_cast<int>(other)), sizeof value);
      ASSERT_EQ(value, static_cast<std::uint64_t>(i) * ranks + other) << "of rank " << other;
    }
  }
}

reduction product_of(const std::int64_t& mine, std::int64_t& all, datatypes::number kind) {
  return {.send = &mine,
          .receive = &all,
          .count = 1,
          .type = &datatypes::layout::of(kind),
          .op = predefined(operation::prod, kind).value()};
}

void reduce_all(shm_collective& slots, int rank) {
  for (int i = 0; i < exchanges; ++i) {
    const std::int64_t mine = rank + i;
    std::int64_t all = 0;
    ASSERT_EQ(slots.allreduce(product_of(mine, all, datatypes::number::int64)),
              messages::outcome::ok);
    ASSERT_EQ(all, std::int64_t{i} * (i + 1) * (i + 2));
  }
}

void check_choice(team& all, shm_collective& slots) {
  std::int64_t value = 1;
  auto r = product_of(value, value, datatypes::number::int64);
  EXPECT_FALSE(barrier_uses_slots(all) || allreduce_uses_slots(all, r)) << "there are none";
  all.memory.slots = &slots;
  EXPECT_TRUE(barrier_uses_slots(all) && allreduce_uses_slots(all, r));
  constexpr auto words_max = shm_collective::value_bytes_max / sizeof value;
  r.count = words_max + 1;
  EXPECT_FALSE(allreduce_uses_slots(all, r)) << "too large";
  r.count = words_max;
  EXPECT_TRUE(allreduce_uses_slots(all, r));
  team forced(all.via, all.rank, all.size, all.oversubscribed,
              settings::from_text("barrier:flat,allreduce:doubling"));
  forced.memory = all.memory;
  EXPECT_FALSE(barrier_uses_slots(forced) || allreduce_uses_slots(forced, r));
}

TEST(shm_collective_stress, every_rank_sees_all_values_of_each_exchange) {
  alignas(rails::shm_slots::line_bytes) static std::array<plain_slots::lines_memory, ranks> memory;
  for_each_thread_rank(
      [] { memory = {}; },
      [](team& all, std::span<const rails::peer_id> processes, progress::engine& engine) {
        plain_slots lines(memory, {});
        const auto slots = shm_collective::open(all, &lines, engine, processes);
        ASSERT_NE(slots, nullptr);
        exchange_all(*slots, static_cast<std::uint64_t>(all.rank));
        reduce_all(*slots, all.rank);
        check_choice(all, *slots);
      });
}

}  // namespace
}  // namespace headway::collectives

#include "messages/kept_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace headway::messages {
namespace {

constexpr std::size_t head_bytes = 200;

struct kept_memories : ::testing::Test {
  ~kept_memories() override { memory.clear(); }
  /// Takes memory and writes all of it.
  void* filled(std::size_t bytes) {
    void* const taken = memory.take(bytes);
    std::memset(taken, 0x5a, head_bytes + bytes);
    return taken;
  }
  kept_memory memory{head_bytes};
};

TEST_F(kept_memories, of_a_large_message_serves_the_next_of_about_its_size) {
  void* const first = filled(60'000);
  memory.give_back(first, 60'000);
  void* const larger = filled(65'537);
  EXPECT_NE(larger, first) << "it has no more than 65536 bytes";
  void* const second = filled(65'536);
  EXPECT_EQ(second, first);
  memory.give_back(second, 65'536);
  memory.give_back(larger, 65'537);
}

TEST_F(kept_memories, are_limited) {
  constexpr std::size_t bytes = 256 << 10;
  constexpr auto limit = kept_memory::bytes_max / bytes;
  std::vector<void*> taken;
  for (std::size_t i = 0; i < limit + 10; ++i) taken.push_back(filled(bytes));
  for (void* one : taken) memory.give_back(one, bytes);  // the last ten are freed
  // As many as are kept have one of these addresses; malloc may give the others again, too.
  const std::set<void*> kept(taken.begin(), taken.end() - 10);
  for (std::size_t i = 0; i < limit; ++i) {
    taken[i] = filled(bytes);
    EXPECT_TRUE(kept.contains(taken[i]));
  }
  for (std::size_t i = 0; i < limit; ++i) memory.give_back(taken[i], bytes);
}

TEST_F(kept_memories, are_of_every_size_that_a_message_may_have) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, kept_memory::smallest - 1, kept_memory::smallest,
        kept_memory::smallest + 1, kept_memory::largest, kept_memory::largest + 1})
    for (int i = 0; i < 2; ++i) memory.give_back(filled(bytes), bytes);
}

TEST_F(kept_memories, are_given_to_one_thread_each) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = std::size_t{4096} << (i % 3);
        auto* const taken = static_cast<unsigned char*>(memory.take(bytes));
        std::memset(taken, t, head_bytes + bytes);
        EXPECT_EQ(taken[0], t);
        EXPECT_EQ(taken[head_bytes + bytes - 1], t);
        memory.give_back(taken, bytes);
      }
    });
  for (auto& each : threads) each.join();
}

}  // namespace
}  // namespace headway::messages

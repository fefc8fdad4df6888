// Goal:   a notice board shows every rank all values of each exchange, whoever looks for them: the
//         thread that exchanges, or any poller on its behalf.
// Method: three ranks in one process, each with an engine of its own and one board in plain memory;
//         ranks pause at random, so that others give up looking and wait. ThreadSanitizer looks on
//         in preset tsan.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "collectives/exchange_carrier.hpp"
#include "collectives/notice_board.hpp"
#include "tests/unit/messages/mesh.hpp"

namespace headway::collectives {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr int exchanges = 600;

/// Nobody sleeps on this one: engines without an event source look again by themselves.
class plain_board final : public rails::board {
 public:
  using memory = std::array<std::byte, rails::board::total_bytes>;
  explicit plain_board(std::array<memory, ranks>& all) : all_(all) {}
  std::byte* lines_of(rails::peer_id peer, std::uint32_t slot) noexcept override {
    return all_[static_cast<std::uint32_t>(peer)].data() + slot * slot_bytes;
  }
  void wake(rails::peer_id) noexcept override {}
  void watch(watcher& w) override { EXPECT_FALSE(w.ready()) << "nobody waits yet"; }
  void unwatch(watcher&) noexcept override {}

 private:
  std::array<memory, ranks>& all_;
};

void exchange_all(notice_board& board, std::uint64_t rank) {
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  for (int i = 0; i < exchanges; ++i) {
    if (random() % 200 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    const std::uint64_t mine = static_cast<std::uint64_t>(i) * ranks + rank;
    ASSERT_EQ(board.meet(std::as_bytes(std::span(&mine, 1))), messages::outcome::ok);
    for (std::uint32_t other = 0; other < ranks; ++other) {
      std::uint64_t value = 0;
      std::memcpy(&value, board.value_of(static_cast<int>(other)), sizeof value);
      ASSERT_EQ(value, static_cast<std::uint64_t>(i) * ranks + other) << "of rank " << other;
    }
  }
}

TEST(notice_stress, every_rank_sees_all_values_of_each_exchange) {
  for (const bool crowded : {false, true}) {
    messages::testing::processes job(ranks, 1, progress::polling::automatic);
    alignas(64) static std::array<plain_board::memory, ranks> memory;
    memory = {};
    std::array<messages::context*, ranks> contexts;
    for (std::uint32_t i = 0; i < ranks; ++i) contexts[i] = job.open(i, 0);
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 0; i < ranks; ++i) {
        threads.emplace_back([&, i] {
          exchange_carrier carrier(job.at(i), *contexts[i], nullptr, {});
          team all(carrier, static_cast<int>(i), ranks, crowded);
          plain_board lines(memory);
          const std::array<std::uint32_t, ranks> processes{0, 1, 2};
          const auto board = notice_board::open(all, &lines, job.at(i).engine(), processes);
          ASSERT_NE(board, nullptr);
          exchange_all(*board, i);
        });
      }
    }
    for (std::uint32_t i = 0; i < ranks; ++i) job.at(i).close_context(contexts[i]);
  }
}

}  // namespace
}  // namespace headway::collectives

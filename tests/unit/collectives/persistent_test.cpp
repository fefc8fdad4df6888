// Goal:   persistent operations in banks of their own give every rank its result at each start, in
//         whatever order each rank starts them, also while the ring that they share is full.
// Method: all ranks in one thread (model_world), whose seed also decides the order of starts.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "collectives/persistent_banks.hpp"
#include "harness.hpp"
#include "tests/length.hpp"

namespace headway::collectives::test::persistent_tests {
namespace {

constexpr int operations = 7;

/// A persistent operation of one rank, one of several kinds.
class started_again {
 public:
  started_again(model_world& world, team& t, int number, std::int64_t count)
      : rank_(t.rank), ranks_(t.size), number_(number), count_(count) {
    const auto all = static_cast<std::size_t>(count * t.size);
    send_.resize(all);
    receive_.resize(all);
    banks_ = world.own_banks(t.rank, number);
    steps_->set_persistent(banks_.get(), 100);
    build(t, count);
    steps_->bind(t);
  }

  void start(int round) {
    round_ = round;
    for (int to = 0; to < ranks_; ++to)
      for (std::int64_t i = 0; i < count_; ++i) send_[at(to, i)] = value(rank_, to, i);
    std::ranges::fill(receive_, -1);
    steps_->start();
  }
  void check() const {
    ASSERT_TRUE(steps_->test());
    ASSERT_EQ(steps_->how(), messages::outcome::ok);
    const bool rooted = number_ % operations >= 5;
    if (rooted && rank_ != root()) return;
    const bool all = number_ % operations != 2 || rank_ != root();
    for (int from = 0; all && from < ranks_; ++from)
      for (std::int64_t i = 0; i < count_; ++i)
        ASSERT_EQ(receive_[at(from, i)], due(from, i)) << "operation " << number_;
  }

 private:
  void build(team& t, std::int64_t count) {
    const auto& type = datatypes::layout::of(datatypes::number::int64);
    const reduction r{.send = send_.data(),
                      .receive = receive_.data(),
                      .count = count,
                      .type = &type,
                      .op = *predefined(collectives::operation::sum, datatypes::number::int64)};
    const block mine{send_.data(), count, &type};
    const blocks from{.data = send_.data(), .type = &type, .count = count};
    const blocks to{.data = receive_.data(), .type = &type, .count = count};
    switch (number_ % operations) {
      case 0:
        return append(t, allreduce_shared, r);
      case 1:
        return append(t, allreduce_shared_parts, r);
      case 2:
        return append(t, bcast_shared, t.rank == root() ? mine : to.of(0), root());
      case 3:
        return append(t, allgather_shared, &mine, to);
      case 4:
        return append(t, alltoall_shared, &from, to);
      case 5:
        return append(t, reduce_shared_parts, r, root());
      default:
        return append(t, gather_shared, &mine, to, root());
    }
  }

  template <class Steps, class... Arguments>
  void append(team& t, Steps&& steps, const Arguments&... arguments) {
    steps(*steps_, t, arguments...);
    ASSERT_TRUE(steps_->stream_bytes_max());
  }
  [[nodiscard]] int root() const { return number_ % ranks_; }
  [[nodiscard]] std::size_t at(int block, std::int64_t i) const {
    return static_cast<std::size_t>(block * count_ + i);
  }
  [[nodiscard]] std::int64_t value(int from, int to, std::int64_t i) const {
    return ((round_ * 100LL + number_) * 100 + from) * 100 + to + i * 100'000'000;
  }
  [[nodiscard]] std::int64_t due(int from, std::int64_t i) const {
    switch (number_ % operations) {
      case 2:
        return from == 0 ? value(root(), 0, i) : -1;
      case 3:
      case 6:
        return value(from, 0, i);
      case 4:
        return value(from, rank_, i);
      default: {
        std::int64_t sum = 0;
        for (int rank = 0; rank < ranks_; ++rank) sum += value(rank, 0, i);
        return from == 0 ? sum : -1;
      }
    }
  }

  const int rank_, ranks_, number_;
  const std::int64_t count_;
  int round_ = 0;
  std::vector<std::int64_t> send_, receive_;
  std::unique_ptr<shared_banks> banks_;
  schedule_ptr steps_ = new_schedule();
};

TEST(persistent, operations_started_in_another_order_on_each_rank_do_not_mix) {
  std::uint64_t seed = 1;
  const int step = headway::testing::whole_or_sanitized(1, 3);
  for (int ranks = 2; ranks <= 17; ranks += step) {
    for (const std::int64_t count : {0, 1, 4, 5, 31, 200}) {
      SCOPED_TRACE(::testing::Message() << ranks << " ranks, " << count << " words, seed " << seed);
      model_world world(ranks, ++seed);
      std::mt19937_64 order(seed);
      std::vector<std::vector<std::unique_ptr<started_again>>> all;
      world.everyone([&](int, team& t) {
        all.emplace_back();
        for (int number = 0; number < 2 * operations; ++number)
          all.back().push_back(std::make_unique<started_again>(world, t, number, count));
      });
      std::vector<int> numbers(2 * operations);
      std::iota(numbers.begin(), numbers.end(), 0);
      for (int round = 0; round < 5; ++round) {
        for (auto& of_rank : all) {
          std::ranges::shuffle(numbers, order);
          for (const int number : numbers) {
            of_rank[static_cast<std::size_t>(number)]->start(round);
            if (order() % 4 == 0) world.settle(static_cast<int>(order() % 20));
          }
        }
        world.settle();
        for (auto& of_rank : all)
          for (auto& each : of_rank) ASSERT_NO_FATAL_FAILURE(each->check());
      }
      ASSERT_EQ(world.messages_sent(), 0);
      ASSERT_EQ(world.pending(), 0);
    }
  }
}

/// Slots whose only bank is plain memory, the same for every process.
class one_area final : public rails::shm_slots {
 public:
  std::byte* lines_of(rails::peer_id, std::uint32_t) noexcept override { return nullptr; }
  std::byte* bank_of(rails::peer_id, std::uint32_t) noexcept override { return memory.get(); }
  bool reserve_bank(std::uint32_t) noexcept override { return true; }
  bool reserve_passed(std::uint32_t, std::size_t) noexcept override { return true; }
  void wake(rails::peer_id, bool) noexcept override {}
  void watch(watcher&) override {}
  void unwatch(watcher&) noexcept override {}
  std::unique_ptr<std::byte[]> memory = std::make_unique<std::byte[]>(banked_bytes);
};

/// A ring whose streams one rank reads.
struct ring_of_one {
  ring_of_one(std::int64_t bytes, int ranks, bool oversubscribed)
      : ring(slots, std::vector(static_cast<std::size_t>(ranks), rails::peer_id{0}), 0,
             {.at = 8192, .bytes = bytes}, oversubscribed) {}
  [[nodiscard]] std::optional<std::int64_t> take(std::uint64_t exchange, std::int64_t bytes) {
    return ring.take({.page_at = 0, .exchange = exchange, .readers = rank_set::only(0)}, bytes);
  }
  void finish(std::uint64_t exchange) {
    bank_memory::reading_in(slots.memory.get())->finish(exchange);
  }

  one_area slots;
  byte_ring ring;
};

/// Of random streams, some of which are read after a while.
void take_at_random(std::int64_t bytes, std::int64_t longest) {
  SCOPED_TRACE(bytes);
  ring_of_one of(bytes, 1, false);
  struct held {
    std::uint64_t exchange;
    std::int64_t begin, end;
  };
  std::deque<held> all;
  std::mt19937_64 dice(3);
  int given = 0, refused = 0;
  for (std::uint64_t exchange = 2; exchange < 20'000; ++exchange) {
    const auto length = static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(longest)) + 1;
    if (const auto begin = of.take(exchange, length)) {
      ++given;
      ASSERT_GE(*begin, 0);
      ASSERT_LE(*begin + length, bytes);
      for (const held& other : all)
        ASSERT_TRUE(*begin + length <= other.begin || other.end <= *begin);
      all.push_back({exchange, *begin, *begin + length});
    } else {
      ++refused;
      ASSERT_FALSE(all.empty());
    }
    while (!all.empty() && dice() % 3 == 0) {
      of.finish(all.front().exchange);
      all.pop_front();
    }
  }
  EXPECT_GT(given, 1000);
  EXPECT_GT(refused, 1000);
  of.finish(20'000);
  EXPECT_TRUE(of.take(20'001, bytes / 2));
  EXPECT_FALSE(of.take(20'002, bytes / 2 + 1));
}

TEST(byte_ring, gives_no_byte_again_that_may_still_be_read) {
  take_at_random(1024, 512);
  take_at_random(256 * 1024, 64 * 1024);  // of which it first uses a part
}

constexpr std::int64_t kib = 1024;

TEST(byte_ring, goes_round_in_few_bytes_as_long_as_those_are_read) {
  ring_of_one of(1024 * kib, 1, false);
  std::uint64_t exchange = 2;
  for (int i = 0; i < 7 * 64; ++i, ++exchange) {
    EXPECT_LE(of.take(exchange, kib).value() + kib, 64 * kib);
    of.finish(exchange);
  }
  // No more are read.
  for (int i = 0; i < 17; ++i) EXPECT_TRUE(of.take(exchange++, 60 * kib)) << i;
  EXPECT_FALSE(of.take(exchange, 60 * kib));
}

TEST(byte_ring, goes_round_in_what_the_caches_hold_that_the_ranks_use_together) {
  for (const bool oversubscribed : {false, true}) {
    ring_of_one of(1024 * kib, 8, oversubscribed);
    std::int64_t end = 0;
    for (std::uint64_t exchange = 2; exchange < 50'000; ++exchange) {
      end = std::max(end, of.take(exchange, kib).value() + kib);
      of.finish(exchange);
    }
    EXPECT_EQ(end, (oversubscribed ? 128 : 512) * kib);
  }
}

}  // namespace
}  // namespace headway::collectives::test::persistent_tests

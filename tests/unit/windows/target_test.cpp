#include "windows/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/numbers.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "windows/wire.hpp"

namespace headway::windows {
namespace {

constexpr std::int32_t answer_tag = messages::window_answer_tags.first;

/// A process whose window has two origins, which are the test itself.
class window_target : public ::testing::Test {
 protected:
  explicit window_target(bool starts = true) {
    peers_.add_rail(ends_.make_rail(), packets::rail_use::from_start);
    exchange_.emplace(peers_, *engine_);
    context_ = exchange_->open_context(0, 0, processes::consecutive(3), true);
    served_.emplace(*exchange_, *context_, memory_, target::own_line{line_, own_holder()}, counts_);
    if (starts) served_->start();
    for (const auto origin : {1u, 2u}) EXPECT_TRUE(peers_.use(rails::peer_id{origin}));
  }
  ~window_target() override {
    served_.reset();
    exchange_->close_context(context_);
  }

  void deliver(std::uint32_t origin, const request_head& head,
               std::span<const element_run> runs = {}) {
    deliver(origin, request(head, runs));
  }
  void deliver(std::uint32_t origin, std::span<const std::byte> message,
               std::int32_t tag = messages::window_request_tag) {
    deliver_as(origin, origin, message, tag);
  }
  void deliver_as(std::uint32_t source, std::uint32_t origin, std::span<const std::byte> message,
                  std::int32_t tag = messages::window_request_tag) {
    const messages::envelope around{.source = source, .tag = tag};
    std::vector<std::byte> packet(sizeof around + message.size());
    std::memcpy(packet.data(), &around, sizeof around);
    std::ranges::copy(message, packet.begin() + sizeof around);
    ends_.send(origin, packet);
    poll();
  }
  [[nodiscard]] static std::vector<std::byte> request(const request_head& head,
                                                      std::span<const element_run> runs = {}) {
    std::vector<std::byte> made(sizeof head + runs.size_bytes());
    std::memcpy(made.data(), &head, sizeof head);
    std::ranges::copy(std::as_bytes(runs), made.begin() + sizeof head);
    return made;
  }
  /// A whole epoch in one message: the exclusive lock, a byte at `offset`, the release.
  [[nodiscard]] static std::vector<std::byte> short_epoch(std::int64_t offset, std::byte value) {
    const element_run at{.offset = offset, .count = 1};
    auto all = request({.what = action::lock_rest, .lock = lock_type::exclusive});
    const auto put = request({.what = action::put, .runs = 1, .payload_bytes = 1}, {&at, 1});
    all.insert(all.end(), put.begin(), put.end());
    all.push_back(value);
    all.resize(padded(all.size()));
    const auto unlock =
        request({.what = action::unlock, .lock = lock_type::exclusive, .tag = answer_tag});
    all.insert(all.end(), unlock.begin(), unlock.end());
    return all;
  }
  void lose(std::uint32_t origin) {
    ends_.net.kill(origin, 0);
    poll();
  }

  /// Whether the lock of the window is free.
  [[nodiscard]] bool is_unlocked() {
    if (!line_.lock.try_lock(lock_type::exclusive)) return false;
    static_cast<void>(line_.lock.unlock(lock_type::exclusive));
    return true;
  }
  [[nodiscard]] std::byte at(std::size_t offset) const { return window_[offset]; }

  control_line line_;
  std::optional<target> served_;

 private:
  void poll() {
    while (ends_.due()) engine_->poll();
  }

  simulation::bare_ends ends_{2};
  std::unique_ptr<topology::machine> machine_ = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine_ =
      progress::engine::start(*machine_, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes_;
  packets::peers peers_{*engine_, rails::peer_id{0}, routes_, {.processes = 3}};
  std::vector<std::byte> window_ = std::vector<std::byte>(64);
  exposed_memory memory_{window_.data(), 64};
  statistics::row counts_;
  std::optional<messages::exchange> exchange_;
  messages::context* context_ = nullptr;
};

/// Its messages arrive before it receives any.
class late_window_target : public window_target {
 protected:
  late_window_target() : window_target(false) {}
};

// Each of them is received while the loop that serves the one before is posting its receive.
TEST_F(late_window_target, serves_what_has_arrived_before_in_its_order) {
  const auto put = [&](std::uint32_t origin, std::int64_t offset, int value) {
    const element_run one{.offset = offset, .count = 1};
    auto message = request({.what = action::put, .runs = 1, .payload_bytes = 1}, {&one, 1});
    message.push_back(static_cast<std::byte>(value));
    message.resize(padded(message.size()));
    deliver(origin, message);
  };
  put(1, 0, 1);
  put(1, 1, 2);
  put(2, 0, 3);
  served_->start();
  EXPECT_EQ(at(0), std::byte{3});
  EXPECT_EQ(at(1), std::byte{2});
  served_->stop();
}

constexpr request_head lock_request{
    .what = action::lock, .lock = lock_type::exclusive, .tag = answer_tag};

TEST_F(window_target, stops_although_an_origin_that_is_lost_queues_for_its_lock) {
  ASSERT_TRUE(line_.lock.try_lock(lock_type::exclusive));
  deliver(1, lock_request);
  lose(1);
  EXPECT_TRUE(served_->has_lost());
  served_->stop();
}

/// The origin has noticed the loss of another process, and waits no longer; the target has not.
TEST_F(window_target, stops_although_an_origin_has_given_up_queueing_for_its_lock) {
  ASSERT_TRUE(line_.lock.try_lock(lock_type::exclusive));
  deliver(1, lock_request);
  deliver(2, lock_request);
  EXPECT_FALSE(served_->has_lost());
  served_->stop();
}

TEST_F(window_target, stops_although_an_origin_is_lost_before_the_bytes_of_its_put_have_come) {
  const element_run all{.offset = 0, .count = 64};
  deliver(1, {.what = action::put_message, .runs = 1, .tag = answer_tag}, {&all, 1});
  deliver(1, {.what = action::flush, .tag = answer_tag + 1});  // waits for them
  lose(1);
  served_->stop();
}

TEST_F(window_target, refuses_a_request_that_names_a_rank_that_the_window_does_not_have) {
  deliver_as(3, 1, request(lock_request));
  EXPECT_TRUE(is_unlocked());
  deliver_as(messages::ranks_max - 1, 1, short_epoch(8, std::byte{7}));
  EXPECT_NE(at(8), std::byte{7});
  deliver(1, lock_request);
  EXPECT_FALSE(is_unlocked());
}

TEST_F(window_target, serves_a_whole_epoch_in_one_message) {
  deliver(1, short_epoch(8, std::byte{7}));
  EXPECT_EQ(at(8), std::byte{7});
  EXPECT_TRUE(is_unlocked());
}

TEST_F(window_target, serves_what_is_behind_a_lock_when_it_is_granted_and_not_before) {
  ASSERT_TRUE(line_.lock.try_lock(lock_type::exclusive));
  deliver(1, short_epoch(8, std::byte{1}));
  deliver(2, short_epoch(9, std::byte{2}));
  deliver(1, short_epoch(10, std::byte{3}));
  for (const std::size_t offset : {8, 9, 10}) EXPECT_EQ(at(offset), std::byte{0});
  EXPECT_TRUE(line_.lock.unlock(lock_type::exclusive));
  deliver(2, {.what = action::released});
  EXPECT_EQ(at(8), std::byte{1});
  EXPECT_EQ(at(9), std::byte{2});
  EXPECT_EQ(at(10), std::byte{3});
  EXPECT_TRUE(is_unlocked());
}

TEST_F(window_target, stops_although_an_epoch_waits_for_its_lock) {
  ASSERT_TRUE(line_.lock.try_lock(lock_type::exclusive));
  deliver(1, short_epoch(8, std::byte{1}));
  lose(2);
  served_->stop();
  EXPECT_EQ(at(8), std::byte{0});
}

TEST_F(window_target, counts_the_ends_of_accesses_of_each_origin) {
  auto& ends = served_->ends();
  deliver(1, {.what = action::complete});  // before it is expected
  ends.expect(1);
  EXPECT_TRUE(ends.has_all());
  ends.expect(1);
  ends.expect(2);
  deliver(2, {.what = action::complete});
  EXPECT_FALSE(ends.has_all());
  deliver(2, {.what = action::complete});  // of its next accesses
  EXPECT_FALSE(ends.has_all());
  deliver(1, {.what = action::complete});
  EXPECT_TRUE(ends.has_all());
  EXPECT_EQ(ends.await(), status::ok);
}

TEST_F(window_target, counts_an_end_of_accesses_when_the_bytes_of_large_puts_have_come) {
  auto& ends = served_->ends();
  ends.expect(1);
  const element_run all{.offset = 0, .count = 64};
  deliver(1, {.what = action::put_message, .runs = 1, .tag = answer_tag}, {&all, 1});
  deliver(1, {.what = action::complete});
  EXPECT_FALSE(ends.has_all());
  deliver(1, std::vector<std::byte>(64, std::byte{5}), answer_tag);
  EXPECT_EQ(at(63), std::byte{5});
  EXPECT_TRUE(ends.has_all());
}

TEST_F(window_target, misses_no_end_of_accesses_after_a_loss) {
  auto& ends = served_->ends();
  ends.expect(1);
  lose(2);
  EXPECT_TRUE(ends.has_all());
  EXPECT_EQ(ends.await(), status::lost);
}

}  // namespace
}  // namespace headway::windows

#include "windows/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/numbers.hpp"
#include "messages/wire.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "windows/wire.hpp"

namespace headway::windows {
namespace {

constexpr std::int32_t answer_tag = messages::window_answer_tags.first;

/// A process whose window has two origins, which the test plays.
class window_target : public ::testing::Test {
 protected:
  window_target() {
    auto made = std::make_unique<rails::testing::silent_driver>();
    rail_ = made.get();
    peers_.add_rail(std::move(made), packets::rail_use::from_start);
    exchange_.emplace(peers_, *engine_);
    context_ = exchange_->open_context(0, 0, processes::consecutive(3), true);
    served_.emplace(*exchange_, *context_, memory_, target::own_line{line_, own_holder()}, counts_);
    served_->start();
  }
  ~window_target() override {
    served_.reset();
    exchange_->close_context(context_);
  }

  void deliver(std::uint32_t origin, const request_head& head,
               std::span<const element_run> runs = {}) {
    const messages::envelope around{.source = origin, .tag = messages::window_request_tag};
    auto& packet = packets_.emplace_back(sizeof around + sizeof head + runs.size_bytes());
    std::memcpy(packet.data(), &around, sizeof around);
    std::memcpy(packet.data() + sizeof around, &head, sizeof head);
    std::ranges::copy(std::as_bytes(runs), packet.begin() + sizeof around + sizeof head);
    rail_->events.push_back({.peer = rails::peer_id{origin}, .bytes = packet});
    poll();
  }
  void lose(std::uint32_t origin) {
    rail_->events.push_back({.kind = rails::event_kind::lost, .peer = rails::peer_id{origin}});
    poll();
  }

  control_line line_;
  std::optional<target> served_;

 private:
  void poll() {
    while (!rail_->events.empty()) engine_->poll();
  }

  std::unique_ptr<topology::machine> machine_ = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine_ =
      progress::engine::start(*machine_, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes_;
  packets::peers peers_{*engine_, rails::peer_id{0}, routes_, {.processes = 3}};
  std::vector<std::byte> window_ = std::vector<std::byte>(64);
  exposed_memory memory_{window_.data(), 64};
  statistics::row counts_;
  std::deque<std::vector<std::byte>> packets_;
  rails::testing::silent_driver* rail_ = nullptr;
  std::optional<messages::exchange> exchange_;
  messages::context* context_ = nullptr;
};

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

}  // namespace
}  // namespace headway::windows

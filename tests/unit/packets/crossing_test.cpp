// Goal:   large messages that cross others on their way go by the way that takes less processor
//         time of both ends; what arrives alone, and what is larger than a get may be, does not.
// Method: a rail whose memory counts gets and says what copies cost.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "packets/control.hpp"
#include "packets/peers.hpp"
#include "packets/transfer/cheaper_way.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"

namespace headway::packets::crossing_tests {
namespace {

constexpr std::size_t large = 256 * 1024;

class counting_rail final : public rails::testing::silent_driver {
 public:
  rails::memory_limits limits_to(rails::peer_id) const noexcept override {
    return {.put = true,
            .get = true,
            .notifies = true,
            .direct = true,
            .large = rails::sooner_by::measured};
  }
  rails::copy_costs costs_with(rails::peer_id) const noexcept override { return costs; }
  rails::post get(rails::peer_id, const rails::remote_place&, std::span<std::byte>,
                  std::uint64_t) noexcept override {
    ++gets;
    return rails::post::done;
  }
  rails::copy_costs costs;
  int gets = 0;
};

struct deaf final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { FAIL() << "the peer is there"; }
};

struct message final : transfer {
  explicit message(std::size_t size) : bytes(size) {
    memory = bytes;
    ended = [](transfer&, bool) noexcept {};
  }
  std::vector<std::byte> bytes;
  std::uint32_t number = 0;
};

class crossing : public ::testing::Test {
 protected:
  crossing() {
    auto made = std::make_unique<counting_rail>();
    rail = made.get();
    all.add_rail(std::move(made));
    all.start(above);
  }
  ~crossing() override { all.stop(); }

  void send(message& m) {
    all.rendezvous().post_rts(all.at(1), m, [&](const announced& as) {
      m.number = as.number;
      write_head(m, stream_head{.kind = 1});
    });
  }
  void is_received(const message& m) {
    const control c{.what = control_kind::received, .send_id = m.number};
    std::memcpy(given.data(), &c, sizeof c);
    rail->events.push_back({.peer = rails::peer_id{1}, .bytes = given});
    constexpr int rounds = 100;
    for (int i = 0; i < rounds; ++i) engine->poll();
  }
  /// So many messages of the peer. How many of them were got.
  int receive(int count, std::size_t bytes = large) {
    const int before = rail->gets;
    for (int i = 0; i < count; ++i) {
      auto& one = received.emplace_back(std::make_unique<message>(bytes));
      all.rendezvous().fetch(all.at(1), {.number = ++last_number, .address = 4096}, *one);
    }
    return rail->gets - before;
  }

  std::vector<std::unique_ptr<message>> received;
  std::uint32_t last_number = 0;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  deaf above;
  testing::reaches_all routes;
  peers all{*engine, rails::peer_id{0}, routes};
  counting_rail* rail = nullptr;
  alignas(8) std::array<std::byte, sizeof(control)> given{};
};

TEST_F(crossing, messages_are_got_where_that_takes_less_of_both_ends) {
  message sent(large);
  send(sent);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(50), 50);
}

TEST_F(crossing, messages_are_put_where_a_get_does_not_take_clearly_less) {
  message sent(large);
  send(sent);
  rail->costs = {.put = 200, .get = 150};
  EXPECT_EQ(receive(50), 0);
}

TEST_F(crossing, the_first_ones_try_both_ways) {
  message sent(large);
  send(sent);
  rail->costs = {};
  EXPECT_EQ(receive(1), 0) << "a put, whose cost is not known";
  rail->costs = {.put = 200, .get = 0};
  EXPECT_EQ(receive(1), 1) << "a get, whose cost is not known";
}

TEST_F(crossing, one_message_in_256_goes_the_other_way) {
  message sent(large);
  send(sent);
  rail->costs = {.put = 200, .get = 250};
  EXPECT_EQ(receive(256 * 4), 4);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(256 * 4), 255 * 4);
}

TEST_F(crossing, a_message_that_meets_none_goes_the_way_that_is_sooner) {
  message sent(large);
  send(sent);
  is_received(sent);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(2), 0) << "the first ones of a size are put, see get_choice";
}

TEST_F(crossing, a_message_that_would_occupy_a_thread_for_long_is_put) {
  message sent(large);
  send(sent);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(10, get_choice::get_bytes_max + 1), 0);
}

}  // namespace
}  // namespace headway::packets::crossing_tests

// Goal:   large messages that cross others on their way go by the way that takes less processor
//         time of both ends; what arrives alone, and what is larger than a get may be, does not.
// Method: a rail that counts gets and says what copies cost. The peer is the test itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "one_peer.hpp"
#include "packets/transfer/cheaper_way.hpp"

namespace headway::packets::crossing_tests {
namespace {

constexpr std::size_t large = 256 * 1024;

class counting_rail final : public simulation::driver {
 public:
  using driver::driver;
  rails::copy_costs costs_with(rails::peer_id) const noexcept override { return costs; }
  rails::post get(rails::peer_id from, const rails::remote_place& at, std::span<std::byte> to,
                  std::uint64_t cookie) noexcept override {
    ++gets;
    return driver::get(from, at, to, cookie);
  }
  rails::copy_costs costs;
  int gets = 0;
};

struct message final : transfer {
  explicit message(std::size_t size) : bytes(size) {
    memory = bytes;
    ended = [](transfer&, bool) noexcept {};
  }
  std::vector<std::byte> bytes;
  std::uint32_t number = 0;
};

class crossing : public testing::one_peer<counting_rail> {
 protected:
  crossing()
      : one_peer({.rail = simulation::bare_ends::immediate_but(
                      [](auto& plan) { plan.readable = true; })}) {}

  /// So many messages of the peer. How many of them were got.
  int receive(int count, std::size_t bytes = large) {
    const int before = rail->gets;
    memory_of_peer.resize(std::max(memory_of_peer.size(), bytes));
    const auto address = reinterpret_cast<std::uintptr_t>(memory_of_peer.data());
    for (int i = 0; i < count; ++i) {
      auto& one = received.emplace_back(std::make_unique<message>(bytes));
      all.rendezvous().fetch(all.at(1), {.number = ++last_number, .address = address}, *one);
    }
    return rail->gets - before;
  }

  std::vector<std::byte> memory_of_peer;
  std::vector<std::unique_ptr<message>> received;
  std::uint32_t last_number = 0;
};

TEST_F(crossing, messages_are_got_where_that_takes_less_of_both_ends) {
  message sent(large);
  announce(sent);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(50), 50);
}

TEST_F(crossing, messages_are_put_where_a_get_does_not_take_clearly_less) {
  message sent(large);
  announce(sent);
  rail->costs = {.put = 200, .get = 150};
  EXPECT_EQ(receive(50), 0);
}

TEST_F(crossing, the_first_ones_try_both_ways) {
  message sent(large);
  announce(sent);
  rail->costs = {};
  EXPECT_EQ(receive(1), 0) << "a put, whose cost is not known";
  rail->costs = {.put = 200, .get = 0};
  EXPECT_EQ(receive(1), 1) << "a get, whose cost is not known";
}

TEST_F(crossing, one_message_in_256_goes_the_other_way) {
  message sent(large);
  announce(sent);
  rail->costs = {.put = 200, .get = 250};
  EXPECT_EQ(receive(256 * 4), 4);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(256 * 4), 255 * 4);
}

TEST_F(crossing, a_message_that_meets_none_goes_the_way_that_is_sooner) {
  message sent(large);
  announce(sent);
  answer({.what = control_kind::received, .send_id = sent.number});
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(2), 0) << "the first ones of a size are put, see get_choice";
}

TEST_F(crossing, a_message_that_would_occupy_a_thread_for_long_is_put) {
  message sent(large);
  announce(sent);
  rail->costs = {.put = 200, .get = 100};
  EXPECT_EQ(receive(10, get_choice::get_bytes_max + 1), 0);
}

}  // namespace
}  // namespace headway::packets::crossing_tests

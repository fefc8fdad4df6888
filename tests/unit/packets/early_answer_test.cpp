// Goal:   a peer that answers a packet which has not left changes nothing: the packet is still the
//         scheduler's. The same answer counts once the packet has left.
// Method: a rail that takes nothing until the test opens it, and delivers the answers of a peer
//         that guesses the numbers of our messages.
#include <gtest/gtest.h>

#include <vector>

#include "one_peer.hpp"
#include "tests/silent_driver.hpp"

namespace headway::packets::early_answer_tests {
namespace {

class gate final : public rails::testing::silent_driver {
 public:
  rails::limits query() const noexcept override {
    return {.name = "gate", .header_bytes_max = 64, .eager_bytes_max = 4096};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    if (!open) return rails::post::retry;
    ++sent;
    return rails::post::done;
  }
  /// The bytes of the only exposure have come.
  void land() {
    const auto& one = shown_.begin()->second;
    events.push_back({.kind = rails::event_kind::landed,
                      .peer = rails::peer_id{1},
                      .count = one.bytes.size(),
                      .cookie = one.token});
  }
  bool open = false;
  int sent = 0;
};

struct message final : transfer {
  message() {
    memory = bytes;
    ended = [](transfer& self, bool well) noexcept {
      ++static_cast<message&>(self).ends;
      EXPECT_TRUE(well);
    };
  }
  std::vector<std::byte> bytes = std::vector<std::byte>(1000);
  std::uint32_t number = 0;
  int ends = 0;
};

class early_answer : public testing::one_peer<gate> {
 protected:
  void answer(control_kind what, std::uint32_t number) {
    one_peer::answer(
        {.what = what, .send_id = number, .target = {.id = 1, .bytes = given.size() * 1000}});
  }
};

class early_answer_of : public early_answer, public ::testing::WithParamInterface<control_kind> {};

TEST_P(early_answer_of, a_request_to_send_is_ignored) {
  message m;
  announce(m);
  answer(GetParam(), m.number);
  EXPECT_EQ(m.ends, 0);
  EXPECT_EQ(rail->sent, 0);
  rail->open = true;
  poll();
  EXPECT_EQ(m.ends, 0);
  EXPECT_EQ(rail->sent, 1) << "the request to send";
  answer(GetParam(), m.number);
  EXPECT_EQ(m.ends, 1);
}

INSTANTIATE_TEST_SUITE_P(kinds, early_answer_of,
                         ::testing::Values(control_kind::cts, control_kind::pieces,
                                           control_kind::received));

TEST_F(early_answer, by_bytes_that_were_not_asked_for_is_ignored) {
  message m;
  all.rendezvous().fetch(all.at(1), {.number = 1, .address = 1}, m);
  rail->land();
  poll();
  EXPECT_EQ(m.ends, 0);
  rail->open = true;
  poll();
  EXPECT_EQ(rail->sent, 1) << "the clear to send";
  rail->land();
  poll();
  EXPECT_EQ(m.ends, 1);
}

}  // namespace
}  // namespace headway::packets::early_answer_tests

// Goal:   a peer that answers a packet which has not left changes nothing: the packet is still the
//         scheduler's. The same answer counts once the packet has left.
// Method: a rail that takes nothing until the test opens it. The peer is the test itself, which
//         guesses the numbers of our messages.
#include <gtest/gtest.h>

#include <vector>

#include "one_peer.hpp"

namespace headway::packets::early_answer_tests {
namespace {

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

class early_answer : public testing::one_peer<> {
 protected:
  early_answer() { shut(); }
  void answer(control_kind what, std::uint32_t number) {
    one_peer::answer({.what = what, .send_id = number, .target = {.id = 1, .bytes = 64'000}});
  }
  /// The bytes of the only exposure come.
  void put(std::span<const std::byte> bytes) {
    ends.put(1, {.id = 1, .bytes = bytes.size()}, bytes);
    poll();
  }
  [[nodiscard]] std::size_t packets_sent() { return ends.take(1).size(); }
};

class early_answer_of : public early_answer, public ::testing::WithParamInterface<control_kind> {};

TEST_P(early_answer_of, a_request_to_send_is_ignored) {
  message m;
  announce(m);
  answer(GetParam(), m.number);
  EXPECT_EQ(m.ends, 0);
  EXPECT_EQ(packets_sent(), 0u);
  open();
  poll();
  EXPECT_EQ(m.ends, 0);
  EXPECT_EQ(packets_sent(), 1u) << "the request to send";
  answer(GetParam(), m.number);
  EXPECT_EQ(m.ends, 1);
}

INSTANTIATE_TEST_SUITE_P(kinds, early_answer_of,
                         ::testing::Values(control_kind::cts, control_kind::pieces,
                                           control_kind::received));

TEST_F(early_answer, by_bytes_that_were_not_asked_for_is_ignored) {
  message m;
  const std::vector<std::byte> bytes(1000);
  all.rendezvous().fetch(to(), {.number = 1, .address = 1}, m);
  put(bytes);
  EXPECT_EQ(m.ends, 0);
  open();
  poll();
  EXPECT_EQ(packets_sent(), 1u) << "the clear to send";
  put(bytes);
  EXPECT_EQ(m.ends, 1);
}

}  // namespace
}  // namespace headway::packets::early_answer_tests

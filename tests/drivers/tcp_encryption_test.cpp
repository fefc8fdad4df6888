// Two processes agree on whether their TCP connections are encrypted, or have none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tcp_pair.hpp"

namespace headway::rails::testing {
namespace {

TEST(tcp_encryption, a_peer_that_has_chosen_otherwise_is_lost_at_both_ends_whoever_calls) {
  for (const bool first : {false, true})
    for (const int callers : {1, 2, 3}) {
      ::testing::internal::CaptureStderr();
      {
        tcp_pair both({.encryption = first}, {.encryption = !first});
        if ((callers & 1) != 0) {
          EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of("hello")}), post::done);
        }
        if ((callers & 2) != 0) {
          EXPECT_EQ(both.b->send(peer_id{0}, {.header = bytes_of("hello")}), post::done);
        }
        EXPECT_TRUE(both.run_until([&] { return both.a.lost.size() + both.b.lost.size() == 2; }));
        EXPECT_EQ(both.a.lost, std::vector{peer_id{1}});
        EXPECT_EQ(both.b.lost, std::vector{peer_id{0}});
        EXPECT_TRUE(both.a.received.empty() && both.b.received.empty());
      }
      const auto said = ::testing::internal::GetCapturedStderr();
      const auto line = [](int peer, bool here) {
        return fmt::format(
            "no connection to peer {}: HEADWAY_TCP_ENCRYPTION is {} here and {} "
            "there",
            peer, here ? "on" : "off", here ? "off" : "on");
      };
      EXPECT_NE(said.find(line(1, first)), std::string::npos) << said;
      EXPECT_NE(said.find(line(0, !first)), std::string::npos) << said;
    }
}

TEST(tcp_encryption, two_that_have_chosen_the_same_reach_each_other) {
  for (const bool on : {false, true}) {
    tcp_pair both({.encryption = on}, {.encryption = on});
    EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of("hello")}), post::done);
    EXPECT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
    EXPECT_TRUE(both.a.lost.empty() && both.b.lost.empty());
  }
}

}  // namespace
}  // namespace headway::rails::testing

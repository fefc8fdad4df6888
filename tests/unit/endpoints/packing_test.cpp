#include <cstddef>
#include <vector>

#include "two_processes.hpp"

namespace headway::endpoints::packing_tests {
namespace {

using testing::two_processes;

using kinds = std::vector<wire_kind>;

TEST(packing, without_a_background_poller_each_message_leaves_at_once) {
  two_processes p;
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  EXPECT_EQ(p.sent(), kinds(20, wire_kind::data));
  for (std::uint32_t i = 0; i < 20; ++i) p.expect(i, 64);
}

TEST(packing, messages_that_gather_leave_in_one_packet_with_the_next_poll) {
  two_processes p({.packs = true});
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(p.send(i, 64 + i), outcome::ok);
  EXPECT_TRUE(p.sent().empty());
  p.poll(0);
  EXPECT_EQ(p.sent(), kinds{wire_kind::packed});
  for (std::uint32_t i = 0; i < 20; ++i) p.expect(i, 64 + i);
  p.expect_nothing();
}

TEST(packing, a_full_packet_leaves_without_a_poll) {
  two_processes p({.packs = true});
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(p.send(i, 1000), outcome::ok);
  EXPECT_EQ(p.sent(), kinds{wire_kind::packed});
  for (std::uint32_t i = 0; i < 4; ++i) p.expect(i, 1000);
  p.expect_nothing();
  p.poll(0);
  p.expect(4, 1000);
}

TEST(packing, a_message_too_large_to_be_packed_overtakes_none) {
  two_processes p({.packs = true});
  ASSERT_EQ(p.send(0, 64), outcome::ok);
  ASSERT_EQ(p.send(1, 64), outcome::ok);
  ASSERT_EQ(p.send(2, 4000), outcome::ok);
  EXPECT_EQ(p.sent(), (kinds{wire_kind::packed, wire_kind::data}));
  ASSERT_EQ(p.send(3, 64), outcome::ok);
  p.poll(0);
  for (std::uint32_t i = 0; i < 4; ++i) p.expect(i, i == 2 ? 4000 : 64);
}

TEST(packing, each_packet_is_sent_by_a_round_of_its_own) {
  two_processes p({.packs = true});
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(p.send(i, 64), outcome::ok);
    p.poll(0);
    EXPECT_EQ(p.sent(), kinds(i + 1, wire_kind::packed));
    p.expect(i, 64);
  }
}

TEST(packing, memory_of_messages_packed_for_a_lost_process_is_used_again) {
  two_processes p({.packs = true});
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.job().kill(1);
  p.settle();
  const auto before = p.at(0).bytes_taken();
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(p.send(i, 64), outcome::gone);
  EXPECT_EQ(p.at(0).bytes_taken(), before);
}

TEST(packing, messages_that_have_gathered_leave_before_the_leaving_packet) {
  two_processes p({.packs = true});
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.at(0).stop();
  EXPECT_EQ(p.sent(), (kinds{wire_kind::packed, wire_kind::leaving}));
  for (std::uint32_t i = 0; i < 3; ++i) p.expect(i, 64);
}

}  // namespace
}  // namespace headway::endpoints::packing_tests

// When `reap` of a TCP rail leaves out the system calls that look for data.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/thread_role.hpp"
#include "tcp_pair.hpp"

namespace headway::rails::testing {
namespace {

constexpr int pairs = 32;

/// Packets that come two by two, the second one after the first was reaped. Returns how often the
/// `reap` after that did not report the second one.
int left_out(tcp_pair& both) {
  const auto come = [&](const std::string& text) {
    EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of(text)}), post::done);
    EXPECT_TRUE(readable(both.b->descriptor(), 10'000));
  };
  int count = 0;
  for (int i = 0; i < pairs; ++i) {
    EXPECT_EQ(both.b.step(), 0u);  // all has been reported
    come("first");
    EXPECT_EQ(both.b.step(), 1u);
    come("second");
    if (both.b.step() == 1) continue;
    ++count;
    EXPECT_TRUE(readable(both.b->descriptor(), 0));  // a sleep would end at once
    EXPECT_EQ(both.b.step(), 1u);
  }
  return count;
}

void connect(tcp_pair& both) {
  EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of("hello")}), post::done);
  EXPECT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
}

TEST(tcp_reading, of_a_background_thread_is_left_out_once_after_it_has_read_everything) {
  tcp_pair both({}, {});
  connect(both);
  int count = 0;
  std::thread([&] {
    base::enter_background();
    count = left_out(both);
  }).join();
  EXPECT_GE(count, pairs / 2);  // now and then it looks at all connections instead
  EXPECT_EQ(both.b.received.size(), 1u + 2 * pairs);
}

TEST(tcp_reading, of_a_background_thread_is_not_left_out_after_a_sleep) {
  tcp_pair both({}, {});
  connect(both);
  std::thread([&] {
    base::enter_background();
    for (int i = 0; i < pairs; ++i) {
      EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of("next")}), post::done);
      EXPECT_TRUE(both.b->arm(true));
      EXPECT_TRUE(readable(both.b->descriptor(), 10'000));
      static_cast<void>(both.b->arm(false));
      EXPECT_EQ(both.b.step(), 1u);
    }
  }).join();
}

TEST(tcp_reading, of_a_waiting_thread_is_never_left_out) {
  tcp_pair both({}, {});
  connect(both);
  EXPECT_EQ(left_out(both), 0);
  EXPECT_EQ(both.b.received.size(), 1u + 2 * pairs);
}

}  // namespace
}  // namespace headway::rails::testing

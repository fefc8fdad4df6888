// Two processes agree on whether their TCP connections are encrypted, or have none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"
#include "tests/loopback.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

std::unique_ptr<driver> make(std::uint32_t rank, const std::string& job, bool encrypts) {
  return std::make_unique<tcp::tcp_driver>(tcp::config{.known = &headway::testing::table_of(job, 2),
                                                       .me = peer_id{rank},
                                                       .secret = {},
                                                       .interfaces = headway::testing::loopback(),
                                                       .how = {.encryption = encrypts}});
}

/// Ranks 0 and 1, which know each other's address.
struct pair {
  pair(bool first_encrypts, bool second_encrypts)
      : a(make(0, job, first_encrypts)), b(make(1, job, second_encrypts)) {
    const auto address_a = a->open(), address_b = b->open();
    EXPECT_TRUE(address_a && address_b);
    EXPECT_TRUE(a->connect(peer_id{1}, *address_b));
    EXPECT_TRUE(b->connect(peer_id{0}, *address_a));
  }
  ~pair() {
    std::thread other([&] { b->close(); });
    a->close();
    other.join();
  }
  [[nodiscard]] bool run_until(const std::function<bool()>& enough) {
    const auto deadline = base::machine_now_ns() + 20'000'000'000u;
    while (!enough()) {
      a.step();
      b.step();
      if (base::machine_now_ns() > deadline) return false;
    }
    return true;
  }
  std::string job = fresh_job();
  station a, b;
};

TEST(tcp_encryption, a_peer_that_has_chosen_otherwise_is_lost_at_both_ends_whoever_calls) {
  for (const bool first : {false, true})
    for (const int callers : {1, 2, 3}) {
      ::testing::internal::CaptureStderr();
      {
        pair both(first, !first);
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
    pair both(on, on);
    EXPECT_EQ(both.a->send(peer_id{1}, {.header = bytes_of("hello")}), post::done);
    EXPECT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
    EXPECT_TRUE(both.a.lost.empty() && both.b.lost.empty());
  }
}

}  // namespace
}  // namespace headway::rails::testing

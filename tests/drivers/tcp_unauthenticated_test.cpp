// Connections from outside the job cannot harm a TCP rail.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"
#include "tests/loopback.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

using tcp::tcp_driver;

std::unique_ptr<driver> make(int rank, const std::string& job, int secret = 1) {
  std::array<std::byte, 32> bytes;
  bytes.fill(static_cast<std::byte>(secret));
  tcp::settings how;
  how.refused_ns = 300'000'000;
  how.connect_ns = 300'000'000;
  return std::make_unique<tcp_driver>(tcp::config{.known = &headway::testing::table_of(job, 2),
                                                  .me = peer_id{static_cast<std::uint32_t>(rank)},
                                                  .secret = bytes,
                                                  .interfaces = headway::testing::loopback(),
                                                  .how = how});
}

/// A socket connected to the first endpoint of a published address.
int call(const std::vector<std::byte>& published) {
  const auto a = tcp::address::decode(published);
  if (!a) return -1;
  for (const auto& e : a->endpoints) {
    if (e.ip.family != ip_family::v4) continue;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(e.port);
    std::memcpy(&to.sin_addr, e.ip.bytes.data(), 4);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return fd;
    ::close(fd);
  }
  return -1;
}

/// Two ranks, not yet connected to each other.
class tcp_unauthenticated : public ::testing::Test {
 protected:
  void SetUp() override {
    auto first = a->open();
    auto second = b->open();
    ASSERT_TRUE(first && second);
    address_a = *first;
    address_b = *second;
    ASSERT_TRUE(a->connect(peer_id{1}, address_b));
    ASSERT_TRUE(b->connect(peer_id{0}, address_a));
  }
  void TearDown() override {
    for (const int fd : open_calls) ::close(fd);
    std::thread other([&] { b->close(); });
    a->close();
    other.join();
  }
  [[nodiscard]] bool run_until(const std::function<bool()>& enough, int seconds = 10) {
    const auto deadline =
        base::machine_now_ns() + static_cast<std::uint64_t>(seconds) * 1'000'000'000u;
    while (!enough()) {
      a.step();
      b.step();
      if (base::machine_now_ns() > deadline) return false;
    }
    return true;
  }
  void expect_the_job_unharmed() {
    const auto before = b.received.size();
    post said = post::retry;
    ASSERT_TRUE(run_until([&] {
      said = a->send(peer_id{1}, {.header = bytes_of("still here")});
      return said != post::retry;
    }));
    ASSERT_NE(said, post::down);
    EXPECT_TRUE(run_until([&] { return b.received.size() == before + 1; }));
    EXPECT_TRUE(a.lost.empty());
    EXPECT_TRUE(b.lost.empty());
  }
  int connect_without_secret() {
    const int fd = call(address_b);
    EXPECT_GE(fd, 0);
    open_calls.push_back(fd);
    return fd;
  }
  /// Whether the driver has closed this connection.
  static bool hung_up(int fd) {
    char byte;
    const auto got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

  std::string job = fresh_job();
  station a{make(0, job)};
  station b{make(1, job)};
  std::vector<std::byte> address_a, address_b;
  std::vector<int> open_calls;
};

TEST_F(tcp_unauthenticated, a_hundred_that_connect_and_go_change_nothing) {
  for (int i = 0; i < 100; ++i) {
    const int fd = call(address_b);
    ASSERT_GE(fd, 0);
    ::close(fd);
    b.step();
  }
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, garbage_of_any_length_is_refused_and_logged_once) {
  std::mt19937 random(3);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) {
    const int fd = connect_without_secret();
    const auto junk = pattern(1 + random() % 5000, static_cast<unsigned>(i));
    (void)send(fd, junk.data(), junk.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(run_until([&] { return junk.size() < 80 || hung_up(fd); }));
  }
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, a_web_browser_is_hung_up_on) {
  const int fd = connect_without_secret();
  const std::string_view get =
      "GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: somebody who means no harm at "
      "all\r\n\r\n";
  ASSERT_EQ(send(fd, get.data(), get.size(), MSG_NOSIGNAL), static_cast<ssize_t>(get.size()));
  EXPECT_TRUE(run_until([&] { return hung_up(fd); }));
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, a_rank_with_the_wrong_secret_loses_its_peers_and_disturbs_no_other) {
  station liar{make(0, job, 2)};
  ASSERT_TRUE(liar->open());
  ASSERT_TRUE(liar->connect(peer_id{1}, address_b));
  ASSERT_NE(liar->send(peer_id{1}, {.header = bytes_of("let me in")}), post::down);
  EXPECT_TRUE(run_until([&] {
    liar.step();
    return !liar.lost.empty();
  }));
  EXPECT_TRUE(b.received.empty());
  liar->close();
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, half_open_connections_do_not_keep_the_job_out) {
  // More than may wait at once, all silent, before the job's own connection is made.
  for (int i = 0; i < 100; ++i) connect_without_secret();
  for (int i = 0; i < 10; ++i) b.step();
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, one_that_stops_in_the_middle_of_the_handshake_is_hung_up_on_in_time) {
  const int fd = connect_without_secret();
  ASSERT_EQ(send(fd, "HEADWAY\n", 8, MSG_NOSIGNAL), 8);
  const auto begin = base::machine_now_ns();
  EXPECT_TRUE(run_until([&] { return hung_up(fd); }));
  EXPECT_LT(base::machine_now_ns() - begin, 8'000'000'000u);
  expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, do_nothing_to_a_connection_that_is_in_use) {
  expect_the_job_unharmed();
  for (int i = 0; i < 30; ++i) {
    const int fd = connect_without_secret();
    (void)send(fd, "\1\0\0\0\0\0\0\0", 8, MSG_NOSIGNAL);
    b.step();
  }
  for (int i = 0; i < 20; ++i) expect_the_job_unharmed();
}

TEST_F(tcp_unauthenticated, no_socket_listens_at_the_port_after_close) {
  station alone{make(1, fresh_job())};
  const auto published = alone->open();
  ASSERT_TRUE(published);
  alone->close();
  EXPECT_LT(call(*published), 0);
}

TEST(tcp_peers, one_that_was_never_there_is_lost_and_its_posted_packets_fail) {
  const auto job = fresh_job();
  station a{make(0, job)};
  std::vector<std::byte> nobody;
  {
    station b{make(1, job)};
    auto published = b->open();
    ASSERT_TRUE(published);
    nobody = *published;
    b->close();
  }
  ASSERT_TRUE(a->open());
  ASSERT_TRUE(a->connect(peer_id{1}, nobody));
  const auto payload = pattern(60'000, 1);
  EXPECT_EQ(a->send(peer_id{1}, {.payload = payload, .cookie = 8}), post::posted);
  EXPECT_EQ(a->send(peer_id{1}, {.header = bytes_of("hello?")}), post::done);
  const auto begin = base::machine_now_ns();
  while (a.lost.empty() && base::machine_now_ns() - begin < 5'000'000'000u) a.step();
  EXPECT_EQ(a.failed, std::vector<std::uint64_t>{8});
  EXPECT_EQ(a.lost, std::vector<peer_id>{peer_id{1}});
  EXPECT_EQ(a->send(peer_id{1}, {.header = bytes_of("hello?")}), post::down);
  EXPECT_LT(base::machine_now_ns() - begin, 2'000'000'000u);
  a->close();
}

}  // namespace
}  // namespace headway::rails::testing

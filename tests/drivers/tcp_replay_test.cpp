// An attacker between two processes records what one of them sends, from the first byte of the
// handshake on, and sends it again to the other one: nothing of it is taken.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

#include "rails/tcp/address.hpp"
#include "tcp_pair.hpp"

namespace headway::rails::testing {
namespace {

sockaddr_in loopback_at(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// If no process listens there, sending fails.
int connected_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto at = loopback_at(port);
  static_cast<void>(::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at));
  return fd;
}

/// Listens in place of a process, hands everything on in both directions, and keeps what the caller
/// says. One thread for each call.
class recorder {
 public:
  explicit recorder(std::uint16_t port) : port_(port) {
    auto at = loopback_at(0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t length = sizeof at;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &length), 0);
    own_port_ = ntohs(at.sin_port);
    accepts_ = std::thread([this] { accept_all(); });
  }
  ~recorder() {
    over_.store(true);
    ::shutdown(listener_, SHUT_RDWR);
    accepts_.join();
    for (auto& one : calls_) one.join();
    ::close(listener_);
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  [[nodiscard]] std::uint16_t port() const { return own_port_; }
  /// What the first call said.
  [[nodiscard]] std::vector<char> said() {
    const std::lock_guard guard(lock_);
    return said_;
  }
  /// Ends the calls of now, as a network would.
  void cut() { ++cuts_; }

 private:
  void accept_all() {
    for (bool is_first = true;; is_first = false) {
      const int caller = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (caller < 0) return;
      calls_.emplace_back([this, caller, is_first] { hand_on(caller, is_first); });
    }
  }
  void hand_on(int caller, bool is_first) {
    const int callee = connected_to(port_);
    const int cuts = cuts_.load();
    std::array<pollfd, 2> both{pollfd{caller, POLLIN, 0}, pollfd{callee, POLLIN, 0}};
    std::array<char, 4096> bytes;
    bool open = true;
    while (open && !over_.load() && cuts_.load() == cuts) {
      if (::poll(both.data(), both.size(), 10) <= 0) continue;
      for (std::size_t i = 0; i < both.size() && open; ++i) {
        if (both[i].revents == 0) continue;
        const auto got = ::recv(both[i].fd, bytes.data(), bytes.size(), 0);
        open = got > 0 && ::send(both[1 - i].fd, bytes.data(), static_cast<std::size_t>(got),
                                 MSG_NOSIGNAL) == got;
        const std::lock_guard guard(lock_);
        if (open && i == 0 && is_first) said_.insert(said_.end(), bytes.data(), bytes.data() + got);
      }
    }
    ::close(caller);
    ::close(callee);
  }

  const std::uint16_t port_;
  std::uint16_t own_port_ = 0;
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::atomic<bool> over_{false};
  std::atomic<int> cuts_{0};
  std::mutex lock_;
  std::vector<char> said_;
  std::vector<std::thread> calls_;  // of `accepts_`, until that has ended
  std::thread accepts_;
};

/// Two processes; the first one calls the second one through a recorder.
class replayed : public ::testing::TestWithParam<bool> {
 protected:
  replayed() { both.resume_if_cut(); }
  [[nodiscard]] std::vector<std::byte> recorded_at(const std::vector<std::byte>& of_b) {
    auto known = tcp::address::decode(of_b).value();
    std::erase_if(known.endpoints, [](const auto& e) { return e.ip.family != ip_family::v4; });
    EXPECT_FALSE(known.endpoints.empty());
    known.endpoints.resize(1);
    auto& port = known.endpoints.front().port;
    real_port = port;
    between = std::make_unique<recorder>(real_port);
    port = between->port();
    return known.encode();
  }
  void say(const char* text) {
    const auto before = b.received.size();
    ASSERT_TRUE(both.run_until(
        [&] { return a->send(peer_id{1}, {.header = bytes_of(text)}) == post::done || lost(); }));
    EXPECT_TRUE(both.run_until([&] { return b.received.size() == before + 1 || lost(); }));
  }
  [[nodiscard]] bool lost() const { return !a.lost.empty() || !b.lost.empty(); }
  /// Sends the recorded bytes to the second process; it closes the connection.
  void replay(const std::vector<char>& bytes) {
    const int fd = connected_to(real_port);
    EXPECT_GT(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    std::array<char, 4096> answer;
    EXPECT_TRUE(both.run_until([&] {
      const auto got = ::recv(fd, answer.data(), answer.size(), MSG_DONTWAIT);
      return got == 0 || (got < 0 && errno != EAGAIN);
    })) << "the second process goes on with the attacker";
    ::close(fd);
  }

  std::uint16_t real_port = 0;
  std::unique_ptr<recorder> between;
  const tcp::settings how{.encryption = GetParam()};
  tcp_pair both{how, how, [this](const auto& of_b) { return recorded_at(of_b); }};
  station &a = both.a, &b = both.b;
};

INSTANTIATE_TEST_SUITE_P(plain_and_encrypted, replayed, ::testing::Bool());

TEST_P(replayed, what_was_recorded_is_refused_while_the_connection_lives_and_after_it_was_cut) {
  say("one");
  say("two");
  const auto recorded = between->said();
  ASSERT_GT(recorded.size(), 100u) << "the first process did not call through the recorder";
  replay(recorded);
  say("three");
  between->cut();
  replay(recorded);
  say("four");
  replay(recorded);
  for (std::size_t part : {1u, 20u})
    replay({recorded.begin(), recorded.end() - static_cast<std::ptrdiff_t>(part)});
  say("five");
  EXPECT_EQ(b.received.size(), 5u);
  EXPECT_FALSE(lost());
}

}  // namespace
}  // namespace headway::rails::testing

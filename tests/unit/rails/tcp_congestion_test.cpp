#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "rails/tcp/congestion.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp::tcp_congestion_tests {
namespace {

std::string algorithm_of(const unique_fd& fd) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  EXPECT_EQ(getsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

unique_fd new_socket() { return unique_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

std::string kernels_default() { return algorithm_of(new_socket()); }

bool kernel_paces() { return kernels_default().starts_with("bbr"); }

std::string unpaced() { return kernel_paces() ? "reno" : kernels_default(); }

ip_address loopback() {
  ip_address ip;
  ip.family = ip_family::v4;
  ip.bytes[0] = std::byte{127};
  ip.bytes[3] = std::byte{1};
  return ip;
}

/// A connection over the loopback interface that has carried a byte each way.
struct connection {
  explicit connection(const settings& s) {
    auto at = listen_on(loopback(), s);
    EXPECT_TRUE(at);
    auto calls = start_call({.to = at->at}, s);
    EXPECT_TRUE(calls.error == 0 || calls.error == EINPROGRESS);
    pollfd waits{.fd = at->fd.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waits, 1, 10'000), 1);
    caller = std::move(calls.fd);
    called = accept_call(at->fd.get()).fd;
    pass(caller, called);
    pass(called, caller);
  }

  static void pass(const unique_fd& from, const unique_fd& to) {
    char byte = 0;
    pollfd waits{.fd = from.get(), .events = POLLOUT, .revents = 0};
    EXPECT_EQ(poll(&waits, 1, 10'000), 1);
    EXPECT_EQ(send(from.get(), &byte, 1, 0), 1);
    waits = {.fd = to.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waits, 1, 10'000), 1);
    EXPECT_EQ(recv(to.get(), &byte, 1, 0), 1);
  }

  unique_fd caller;
  unique_fd called;
};

TEST(tcp_congestion, a_connection_is_not_paced_from_its_beginning) {
  const connection c{settings{}};
  EXPECT_EQ(algorithm_of(c.caller), unpaced());
  EXPECT_EQ(algorithm_of(c.called), unpaced());
}

TEST(tcp_congestion, a_connection_over_the_loopback_interface_stays_unpaced) {
  const connection c{settings{}};
  pace_if_far(c.caller.get());
  pace_if_far(c.called.get());
  EXPECT_EQ(algorithm_of(c.caller), unpaced());
  EXPECT_EQ(algorithm_of(c.called), unpaced());
}

TEST(tcp_congestion, a_connection_without_a_measured_round_trip_is_paced_as_the_kernel_would) {
  const auto fd = new_socket();
  use_unpaced(fd.get());
  EXPECT_EQ(algorithm_of(fd), unpaced());
  pace_if_far(fd.get());
  EXPECT_EQ(algorithm_of(fd), kernels_default());
}

TEST(tcp_congestion, the_user_can_leave_the_choice_to_the_kernel) {
  const connection c{settings{.unpaced = false}};
  EXPECT_EQ(algorithm_of(c.caller), kernels_default());
  EXPECT_EQ(algorithm_of(c.called), kernels_default());
}

/// Where the kernel's default does not pace, the tests above compare it with itself.
TEST(tcp_congestion, this_kernel_shows_the_difference) {
  if (!kernel_paces())
    GTEST_SKIP() << "the kernel's default, " << kernels_default() << ", does not pace: the other "
                 << "tests of tcp_congestion only show that it stays";
  EXPECT_NE(unpaced(), kernels_default());
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_congestion_tests

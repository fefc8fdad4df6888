#include "rails/tcp/socket.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "rails/tcp/congestion.hpp"

namespace headway::rails::tcp {
namespace {

struct socket_address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

socket_address as_socket_address(const ip_address& ip, std::uint16_t port) noexcept {
  socket_address a;
  if (ip.family == ip_family::v4) {
    auto& in = reinterpret_cast<sockaddr_in&>(a.storage);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip.bytes.data(), sizeof in.sin_addr);
    a.bytes = sizeof in;
  } else {
    auto& in = reinterpret_cast<sockaddr_in6&>(a.storage);
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(port);
    std::memcpy(&in.sin6_addr, ip.bytes.data(), sizeof in.sin6_addr);
    a.bytes = sizeof in;
  }
  return a;
}

endpoint as_endpoint(const sockaddr_storage& storage) noexcept {
  endpoint e;
  if (storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    e.port = ntohs(in.sin_port);
    std::memcpy(e.ip.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
  } else if (storage.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(storage);
    e.ip.family = ip_family::v6;
    e.port = ntohs(in.sin6_port);
    std::memcpy(e.ip.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  }
  return e;
}

void set(int fd, int level, int option, int value) noexcept {
  // If the kernel refuses an option, only speed is lost.
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

unique_fd make_socket(ip_family family, const settings& s) noexcept {
  const int domain = family == ip_family::v4 ? AF_INET : AF_INET6;
  unique_fd fd(::socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // Before `connect` and `listen`, because the window scale is negotiated in the first segment.
  if (s.send_buffer_bytes > 0) set(fd.get(), SOL_SOCKET, SO_SNDBUF, s.send_buffer_bytes);
  if (s.receive_buffer_bytes > 0) set(fd.get(), SOL_SOCKET, SO_RCVBUF, s.receive_buffer_bytes);
  if (s.unpaced) use_unpaced(fd.get());
  return fd;
}

/// Otherwise the kernel sends over the interface with the first route to the subnet. Kernels before
/// 5.7 refuse the option to most users: two rails then share one interface, which is slow but
/// correct.
void bind_to_device(int fd, const std::string& device) noexcept {
  if (device.empty()) return;
  if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device.data(),
                 static_cast<socklen_t>(device.size())) != 0)
    base::log(base::severity::info, "tcp: cannot bind to {}: errno {}", device, errno);
}

}  // namespace

void unique_fd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

base::result<listener> listen_on(const ip_address& ip, const settings& s,
                                 const std::string& device) {
  listener made{.fd = make_socket(ip.family, s), .at = {.ip = ip, .port = 0}};
  const auto what = [&](const char* call) { return fmt::format("{} {}", call, ip.text()); };
  if (!made.fd) return base::failed_errno(what("socket for"), errno);
  const int fd = made.fd.get();
  if (ip.family == ip_family::v6) set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  bind_to_device(fd, device);
  const auto any_port = as_socket_address(ip, 0);
  if (bind(fd, any_port.get(), any_port.bytes) != 0)
    return base::failed_errno(what("bind to"), errno);
  if (listen(fd, SOMAXCONN) != 0) return base::failed_errno(what("listen on"), errno);
  sockaddr_storage bound;
  socklen_t length = sizeof bound;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0)
    return base::failed_errno(what("getsockname of"), errno);
  made.at.port = as_endpoint(bound).port;
  return made;
}

call start_call(const route& way, const settings& s) noexcept {
  call made{.fd = make_socket(way.to.ip.family, s), .error = 0};
  if (!made.fd) return {.fd = {}, .error = errno};
  const int fd = made.fd.get();
  if (way.from) {
    // Bind to the chosen interface; the kernel chooses the port when it connects.
    set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    const auto from = as_socket_address(*way.from, 0);
    bind_to_device(fd, way.device);
    if (bind(fd, from.get(), from.bytes) != 0) made.error = errno;
  }
  const auto to = as_socket_address(way.to.ip, way.to.port);
  if (made.error == 0 && ::connect(fd, to.get(), to.bytes) != 0) made.error = errno;
  return made;
}

call accept_call(int listening) noexcept {
  const int fd = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return {.fd = unique_fd(fd), .error = fd < 0 ? errno : 0};
}

int call_outcome(int fd) noexcept {
  pollfd p{.fd = fd, .events = POLLOUT, .revents = 0};
  if (poll(&p, 1, 0) == 0) return EINPROGRESS;
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void tune_connection(int fd, const settings& s) noexcept {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (s.unsent_bytes_max > 0) set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, s.unsent_bytes_max);
  if (s.dead_ns == 0) return;
  // The kernel checks idle connections. TCP_USER_TIMEOUT is not used, because it also ends
  // connections whose other end computes for long with a full receive buffer.
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  constexpr int probes = 4;
  const auto third_s = static_cast<int>(std::max<std::uint64_t>(1, s.dead_ns / ns_per_s / 3));
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, third_s);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, 2 * third_s / probes));
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
}

void set_low_water(int fd, int bytes) noexcept { set(fd, SOL_SOCKET, SO_RCVLOWAT, bytes); }

std::optional<std::size_t> unacknowledged_bytes(int fd) noexcept {
  int bytes = 0;
  if (ioctl(fd, SIOCOUTQ, &bytes) != 0 || bytes < 0) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

std::uint64_t unanswered_ns(int fd) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  // Retransmissions, or window probes, without an answer. A peer whose buffer is full answers
  // probes: it is alive.
  const bool asked = (info.tcpi_unacked > 0 && info.tcpi_retransmits > 0) || info.tcpi_probes > 2;
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  return asked ? info.tcpi_last_ack_recv * ns_per_ms : 0;
}

std::uint64_t silence_ns(int fd) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return UINT64_MAX;
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  constexpr std::uint64_t tick_ms = 5;
  return (std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv) + tick_ms) * ns_per_ms;
}

void abandon(int fd) noexcept {
  const linger none{.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

bool hung_up(int fd) noexcept {
  std::byte next{};
  const auto got = recv(fd, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

std::string caller_name(int fd) {
  sockaddr_storage peer;
  socklen_t length = sizeof peer;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return "a caller";
  return as_endpoint(peer).text();
}

base::result<> watch_set::open() {
  fd_ = unique_fd(epoll_create1(EPOLL_CLOEXEC));
  if (!fd_) return base::failed_errno("epoll_create1", errno);
  return {};
}

bool watch_set::add(int fd, std::uint32_t events, std::uint64_t word) noexcept {
  epoll_event e{.events = events, .data = {.u64 = word}};
  return epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &e) == 0;
}

bool watch_set::change(int fd, std::uint32_t events, std::uint64_t word) noexcept {
  epoll_event e{.events = events, .data = {.u64 = word}};
  return epoll_ctl(fd_.get(), EPOLL_CTL_MOD, fd, &e) == 0;
}

void watch_set::remove(int fd) noexcept { (void)epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr); }

}  // namespace headway::rails::tcp

#include "launch/stream_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "launch/ready.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::uint64_t connect_ns_max = 2'000'000'000;
constexpr int waiting_max = 128;  // in the kernel

std::unexpected<base::fault> hung_up() {
  return failed(fault_kind::peer_lost, "the other process hung up");
}

std::unexpected<base::fault> silent() {
  return failed(fault_kind::timed_out, "the other process said nothing for too long");
}

stream_socket make_socket(int family) {
  return stream_socket(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// A connection to a port of this machine at which no process listens may get that very port as its
/// own: TCP then connects the socket to itself.
bool is_connected_to_itself(const stream_socket& s) {
  sockaddr_storage own = {}, other = {};
  socklen_t own_bytes = sizeof own, other_bytes = sizeof other;
  return getsockname(s.descriptor(), reinterpret_cast<sockaddr*>(&own), &own_bytes) == 0 &&
         getpeername(s.descriptor(), reinterpret_cast<sockaddr*>(&other), &other_bytes) == 0 &&
         own_bytes == other_bytes && std::memcmp(&own, &other, own_bytes) == 0;
}

}  // namespace

stream_socket::~stream_socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string stream_socket::other_end() const {
  sockaddr_storage other = {};
  socklen_t bytes = sizeof other;
  std::array<char, 64> host;
  std::array<char, 16> port;
  if (getpeername(descriptor_, reinterpret_cast<sockaddr*>(&other), &bytes) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&other), bytes, host.data(), host.size(), port.data(),
                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "somewhere";
  return fmt::format("{}:{}", host.data(), port.data());
}

base::result<> stream_socket::send(std::span<const std::byte> bytes, std::uint64_t deadline_ns) {
  HEADWAY_ASSERT(open());
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!ready(descriptor_, POLLOUT, deadline_ns)) return silent();
    } else if (errno != EINTR) {
      return hung_up();
    }
  }
  return {};
}

base::result<> stream_socket::receive(std::span<std::byte> bytes, std::uint64_t deadline_ns) {
  HEADWAY_ASSERT(open());
  while (!bytes.empty()) {
    const auto got = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EAGAIN) {
      if (!ready(descriptor_, POLLIN, deadline_ns)) return silent();
    } else if (got == 0 || errno != EINTR) {
      return hung_up();
    }
  }
  return {};
}

base::result<> stream_socket::send_block(std::span<const std::byte> bytes,
                                         std::uint64_t deadline_ns) {
  HEADWAY_ASSERT(bytes.size() <= UINT32_MAX);
  std::array<std::byte, 4> count;
  for (std::size_t i = 0; i < count.size(); ++i)
    count[i] = static_cast<std::byte>(bytes.size() >> 8 * i & 0xff);
  if (auto done = send(count, deadline_ns); !done) return done;
  return send(bytes, deadline_ns);
}

base::result<std::vector<std::byte>> stream_socket::receive_block(std::size_t bytes_max,
                                                                  std::uint64_t deadline_ns) {
  std::array<std::byte, 4> count;
  if (auto done = receive(count, deadline_ns); !done) return std::unexpected(done.error());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count.size(); ++i)
    bytes |= std::to_integer<std::size_t>(count[i]) << 8 * i;
  if (bytes > bytes_max)
    return failed(
        fault_kind::bad_input,
        fmt::format("the other process announced {} bytes, more than {}", bytes, bytes_max));
  std::vector<std::byte> block(bytes);
  if (auto done = receive(block, deadline_ns); !done) return std::unexpected(done.error());
  return block;
}

base::result<std::vector<stream_address>> stream_address::find(const std::string& host,
                                                               const std::string& port) {
  addrinfo wish{}, *found = nullptr;
  wish.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &wish, &found))
    return failed(fault_kind::system, gai_strerror(error));
  std::vector<stream_address> all;
  for (auto at = found; at; at = at->ai_next) {
    all.emplace_back().bytes = at->ai_addrlen;
    std::memcpy(&all.back().address, at->ai_addr, at->ai_addrlen);
  }
  freeaddrinfo(found);
  return all;
}

stream_socket stream_address::call() const {
  auto made = make_socket(address.ss_family);
  if (!made.open()) return {};
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (connect(made.descriptor(), to, bytes) != 0) {
    int error = 0;
    socklen_t error_bytes = sizeof error;
    if (errno != EINPROGRESS ||
        !ready(made.descriptor(), POLLOUT, base::machine_now_ns() + connect_ns_max) ||
        getsockopt(made.descriptor(), SOL_SOCKET, SO_ERROR, &error, &error_bytes) != 0 ||
        error != 0)
      return {};
  }
  if (is_connected_to_itself(made)) return {};
  return made;
}

stream_socket stream_address::listen() const {
  auto made = make_socket(address.ss_family);
  if (!made.open()) return {};
  const int on = 1;  // connections of an earlier listener may be in TIME_WAIT
  setsockopt(made.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(made.descriptor(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(made.descriptor(), waiting_max) != 0)
    return {};
  return made;
}

}  // namespace headway::launch

#include "rails/tcp/congestion.hpp"

// Not <netinet/tcp.h>: its tcp_info has no tcpi_min_rtt.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string_view>

#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::uint32_t near_us_max = 1'000;  // about as long as one burst of the kernel's pacing

constexpr std::string_view unpaced = "reno";  // every kernel has it, and any user may choose it

using algorithm_name = std::array<char, 16>;  // TCP_CA_NAME_MAX

std::string_view algorithm_of(int fd, algorithm_name& name) noexcept {
  auto length = static_cast<socklen_t>(name.size());
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return {};
  const std::string_view text(name.data(), length);
  return text.substr(0, text.find('\0'));
}

/// bbr, bbr2, bbr3.
bool paces(std::string_view algorithm) noexcept { return algorithm.starts_with("bbr"); }

void choose(int fd, std::string_view algorithm) noexcept {
  // If the kernel refuses it, only speed is lost.
  (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm.data(),
                   static_cast<socklen_t>(algorithm.size()));
}

/// Nothing: it was not measured yet, or the kernel does not measure it (Linux before 4.6).
std::optional<std::uint32_t> shortest_round_trip_us(int fd) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  if (info.tcpi_min_rtt == 0 || info.tcpi_min_rtt == UINT32_MAX) return std::nullopt;
  return info.tcpi_min_rtt;
}

}  // namespace

void use_unpaced(int fd) noexcept {
  algorithm_name name;
  if (paces(algorithm_of(fd, name))) choose(fd, unpaced);
}

void pace_if_far(int fd) noexcept {
  const auto round_trip_us = shortest_round_trip_us(fd);
  if (round_trip_us && *round_trip_us <= near_us_max) return;
  const unique_fd unchanged(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  algorithm_name name;
  const auto kernels_default = algorithm_of(unchanged.get(), name);
  if (paces(kernels_default)) choose(fd, kernels_default);
}

}  // namespace headway::rails::tcp

#include "rails/tcp/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::byte version{1};
constexpr std::size_t head_bytes = 2 + 16;
constexpr std::size_t endpoint_bytes = 1 + 1 + 2 + 16;

bool in_bounds(const endpoint& e) noexcept {
  const bool v4 = e.ip.family == ip_family::v4;
  if (!v4 && e.ip.family != ip_family::v6) return false;
  return e.port != 0 && e.ip.prefix_bits <= (v4 ? 32 : 128);
}

bool has_family(std::span<const net_interface> ours, ip_family family) {
  return std::ranges::any_of(ours, [&](const net_interface& i) {
    return !i.loopback && std::ranges::any_of(
                              i.addresses, [&](const ip_address& a) { return a.family == family; });
  });
}

std::optional<route> direct_route(const endpoint& theirs, std::span<const net_interface> ours) {
  for (const auto& i : ours) {
    if (i.loopback) continue;
    for (const auto& a : i.addresses)
      if (a.same_subnet(theirs.ip))
        return route{.to = theirs, .from = a, .device = i.shares_subnet ? i.name : std::string()};
  }
  return std::nullopt;
}

}  // namespace

std::string endpoint::text() const {
  return ip.family == ip_family::v4 ? fmt::format("{}:{}", ip.text(), port)
                                    : fmt::format("[{}]:{}", ip.text(), port);
}

std::vector<std::byte> address::encode() const {
  const auto count = std::min(endpoints.size(), endpoints_max);
  std::vector<std::byte> bytes(head_bytes + count * endpoint_bytes);
  bytes[0] = version;
  bytes[1] = static_cast<std::byte>(count);
  std::ranges::copy(loopback_key, bytes.begin() + 2);
  for (std::size_t i = 0; i < count; ++i) {
    auto* at = bytes.data() + head_bytes + i * endpoint_bytes;
    const auto& e = endpoints[i];
    at[0] = static_cast<std::byte>(e.ip.family);
    at[1] = static_cast<std::byte>(e.ip.prefix_bits);
    put_number(at + 2, e.port);
    std::ranges::copy(e.ip.bytes, at + 4);
  }
  return bytes;
}

std::optional<address> address::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes || bytes[0] != version) return std::nullopt;
  const auto count = static_cast<std::size_t>(bytes[1]);
  if (count > endpoints_max || bytes.size() != head_bytes + count * endpoint_bytes)
    return std::nullopt;
  address a;
  std::copy_n(bytes.begin() + 2, a.loopback_key.size(), a.loopback_key.begin());
  for (std::size_t i = 0; i < count; ++i) {
    const auto* at = bytes.data() + head_bytes + i * endpoint_bytes;
    endpoint e;
    e.ip.family = static_cast<ip_family>(at[0]);
    e.ip.prefix_bits = static_cast<std::uint8_t>(at[1]);
    e.port = get_number<std::uint16_t>(at + 2);
    std::copy_n(at + 4, e.ip.bytes.size(), e.ip.bytes.begin());
    if (!in_bounds(e)) return std::nullopt;
    a.endpoints.push_back(e);
  }
  return a;
}

closeness closeness_of(const address& one, const address& other) {
  const bool same_host = one.loopback_key == other.loopback_key;
  auto best = same_host ? closeness::same_host : closeness::apart;
  for (const auto& a : one.endpoints)
    for (const auto& b : other.endpoints) {
      const bool equal = a.ip.family == b.ip.family && a.ip.bytes == b.ip.bytes;
      if (same_host && equal) return closeness::same_address;
      // Two hosts with the same address: each network uses it for itself.
      if (a.ip.family != b.ip.family || equal || a.ip.is_loopback() || b.ip.is_loopback()) continue;
      const bool near = a.ip.same_subnet(b.ip) && b.ip.same_subnet(a.ip);
      best = std::max(best, near ? closeness::same_subnet : closeness::same_family);
    }
  return best;
}

std::vector<route> routes_to(const address& theirs, std::span<const net_interface> ours,
                             const std::array<std::byte, 16>& our_loopback_key) {
  std::vector<route> near;
  std::vector<route> far;
  const bool same_loopback = theirs.loopback_key == our_loopback_key;
  for (const auto& e : theirs.endpoints) {
    if (e.ip.is_loopback()) {
      if (same_loopback) far.push_back({.to = e});
    } else if (same_loopback) {
      // The address belongs to this namespace: the kernel delivers it without a network.
      near.push_back({.to = e});
    } else if (auto direct = direct_route(e, ours)) {
      near.push_back(std::move(*direct));
    } else if (has_family(ours, e.ip.family)) {
      far.push_back({.to = e});
    }
  }
  std::ranges::move(far, std::back_inserter(near));
  return near;
}

}  // namespace headway::rails::tcp

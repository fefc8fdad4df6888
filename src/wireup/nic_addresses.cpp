#include "wireup/nic_addresses.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "wireup/byte_reader.hpp"

namespace headway::wireup {
namespace {

nic_address read_nic_address(byte_reader& from) {
  nic_address d;
  const auto connections = from.number(1);
  for (std::uint64_t i = 0; i < connections && !from.short_of(); ++i) {
    const auto address = from.take(from.number(2));
    d.connections.emplace_back(address.begin(), address.end());
  }
  d.wishes.usual = static_cast<int>(from.number(1));
  const auto hosts = from.number(2);
  for (std::uint64_t i = 0; i < hosts && !from.short_of(); ++i) {
    const auto host = from.number(8);
    d.wishes.of_host[host] = static_cast<int>(from.number(1));
  }
  return d;
}

}  // namespace

int connection_wishes::to(std::string_view host) const {
  const auto found = of_host.find(base::hash_of(host));
  return found == of_host.end() ? usual : found->second;
}

int connection_wishes::most() const {
  int found = usual;
  for (const auto& [host, wish] : of_host) found = std::max(found, wish);
  return found;
}

std::vector<std::byte> pack_nic_addresses(std::span<const nic_address> all) {
  HEADWAY_ASSERT(all.size() < 256);
  std::vector<std::byte> packed{static_cast<std::byte>(all.size())};
  for (const auto& d : all) {
    HEADWAY_ASSERT(d.connections.size() < 256);
    put_number(packed, d.connections.size(), 1);
    for (const auto& a : d.connections) {
      HEADWAY_ASSERT(a.size() < 65536);
      put_number(packed, a.size(), 2);
      packed.insert(packed.end(), a.begin(), a.end());
    }
    put_number(packed, static_cast<std::uint64_t>(d.wishes.usual), 1);
    HEADWAY_ASSERT(d.wishes.of_host.size() <= connection_wishes::hosts_max);
    put_number(packed, d.wishes.of_host.size(), 2);
    for (const auto& [host, wish] : d.wishes.of_host) {
      put_number(packed, host, 8);
      put_number(packed, static_cast<std::uint64_t>(wish), 1);
    }
  }
  return packed;
}

base::result<std::vector<nic_address>> unpack_nic_addresses(std::span<const std::byte> bytes) {
  byte_reader from(bytes);
  std::vector<nic_address> all;
  const auto count = from.number(1);
  for (std::uint64_t i = 0; i < count && !from.short_of(); ++i)
    all.push_back(read_nic_address(from));
  const auto closed = [](const nic_address& d) { return d.connections.empty(); };
  if (!from.at_end() || std::ranges::any_of(all, closed))
    return base::failed(base::fault_kind::bad_input, "a list of addresses of rails is damaged");
  return all;
}

std::size_t connections_between(const nic_address& ours, std::string_view our_host,
                                const nic_address& theirs, std::string_view their_host) {
  const int wanted = std::min(ours.wishes.to(their_host), theirs.wishes.to(our_host));
  const auto there = std::min(ours.connections.size(), theirs.connections.size());
  return std::min(there, static_cast<std::size_t>(std::max(wanted, 1)));
}

}  // namespace headway::wireup

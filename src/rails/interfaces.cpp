#include "rails/interfaces.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/host_identity.hpp"

namespace headway::rails {
namespace {

constexpr std::string_view container_names[] = {
    "docker*", "br-*",     "podman*", "cni*",  "cni-*",         "flannel*", "cali*",
    "cilium*", "weave*",   "kube-*",  "cbr*",  "lxcbr*",        "lxdbr*",   "incusbr*",
    "virbr*",  "vboxnet*", "vmnet*",  "vnet*", "nodelocaldns*",
};

constexpr unsigned lower_up = 1u << 16;  // IFF_LOWER_UP of linux/if.h, which net/if.h excludes

std::optional<ip_address> address_of(const sockaddr* from, const sockaddr* mask) noexcept {
  if (!from || !mask) return std::nullopt;
  ip_address a;
  const void* bytes = nullptr;
  const void* mask_bytes = nullptr;
  std::size_t length = 0;
  if (from->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(from)->sin_addr;
    mask_bytes = &reinterpret_cast<const sockaddr_in*>(mask)->sin_addr;
    length = 4;
  } else if (from->sa_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr;
    // A link-local address is valid only together with an interface, here and at the peer.
    if (IN6_IS_ADDR_LINKLOCAL(&in6)) return std::nullopt;
    a.family = ip_family::v6;
    bytes = &in6;
    mask_bytes = &reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr;
    length = 16;
  } else {
    return std::nullopt;
  }
  std::memcpy(a.bytes.data(), bytes, length);
  std::array<std::uint8_t, 16> bits{};
  std::memcpy(bits.data(), mask_bytes, length);
  for (const auto byte : bits) a.prefix_bits += static_cast<std::uint8_t>(std::popcount(byte));
  return a;
}

bool is_enslaved(const std::string& name) {
  struct stat found;
  return stat(("/sys/class/net/" + name + "/master").c_str(), &found) == 0;
}

net_interface& entry_of(std::vector<net_interface>& all, const ifaddrs& found) {
  const std::string_view name = found.ifa_name;
  const auto known = std::ranges::find(all, name, &net_interface::name);
  if (known != all.end()) return *known;
  // The kernel sets RUNNING up to a second after the carrier (LOWER_UP) is there.
  constexpr unsigned carrier = IFF_RUNNING | lower_up;
  const bool up = (found.ifa_flags & IFF_UP) != 0 && (found.ifa_flags & carrier) != 0;
  return all.emplace_back(net_interface{.name = std::string(name),
                                        .usable = up,
                                        .loopback = (found.ifa_flags & IFF_LOOPBACK) != 0,
                                        .enslaved = is_enslaved(std::string(name)),
                                        .addresses = {}});
}

bool share_a_subnet(const net_interface& one, const net_interface& other) {
  for (const auto& a : one.addresses)
    for (const auto& b : other.addresses)
      if (a.same_subnet(b) || b.same_subnet(a)) return true;
  return false;
}

void mark_shared_subnets(std::vector<net_interface>& all) {
  for (auto& one : all)
    for (const auto& other : all)
      if (&one != &other && one.usable && other.usable && !one.loopback && !other.loopback)
        one.shares_subnet = one.shares_subnet || share_a_subnet(one, other);
}

std::string first_line_of(const char* path) {
  char text[128];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const auto got = read(fd, text, sizeof text);
  close(fd);
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
}

}  // namespace

bool ip_address::is_loopback() const noexcept {
  if (family == ip_family::v4) return bytes[0] == std::byte{127};
  in6_addr address;
  std::memcpy(&address, bytes.data(), sizeof address);
  return IN6_IS_ADDR_LOOPBACK(&address);
}

bool ip_address::same_subnet(const ip_address& other) const noexcept {
  if (family != other.family) return false;
  const unsigned bits_max = family == ip_family::v4 ? 32 : 128;
  const unsigned bits = std::min<unsigned>(prefix_bits, bits_max);
  for (unsigned bit = 0; bit < bits; ++bit) {
    const auto mask = std::byte{0x80} >> (bit % 8);
    if ((bytes[bit / 8] & mask) != (other.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

std::string ip_address::text() const {
  char buffer[INET6_ADDRSTRLEN] = "?";
  inet_ntop(family == ip_family::v4 ? AF_INET : AF_INET6, bytes.data(), buffer, sizeof buffer);
  return buffer;
}

base::result<std::vector<net_interface>> list_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return base::failed_errno("getifaddrs", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<net_interface> all;
  for (const ifaddrs* i = first; i; i = i->ifa_next) {
    auto& entry = entry_of(all, *i);
    const auto a = address_of(i->ifa_addr, i->ifa_netmask);
    if (!a) continue;
    auto& known = entry.addresses;
    const auto first_v6 = std::ranges::find(known, ip_family::v6, &ip_address::family);
    known.insert(a->family == ip_family::v4 ? first_v6 : known.end(), *a);
  }
  for (auto& entry : all) entry.usable = entry.usable && !entry.addresses.empty();
  mark_shared_subnets(all);
  return all;
}

std::string hardware_text(std::string_view interface) {
  const auto fact = [&](const char* name) {
    auto text = first_line_of(fmt::format("/sys/class/net/{}/{}", interface, name).c_str());
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  };
  // For virtual interfaces the kernel reports no speed: -1, or an error.
  const auto speed = fact("speed");
  const bool known = !speed.empty() && speed[0] != '-';
  return fmt::format("{}, mtu {}", known ? speed + " Mbit/s" : "unknown speed", fact("mtu"));
}

std::span<const std::string_view> container_interfaces() noexcept { return container_names; }

std::array<std::byte, 16> loopback_key() {
  // The boot id distinguishes hosts, the inode of the namespace distinguishes namespaces of one
  // host.
  auto text = base::boot_id();
  if (const auto space = base::network_namespace()) text += std::to_string(space);
  if (text.empty()) text = std::to_string(gethostid());
  std::array<std::byte, 16> key;
  crypto_generichash(reinterpret_cast<unsigned char*>(key.data()), key.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return key;
}

}  // namespace headway::rails

#include "engine/doors.hpp"

#include <algorithm>
#include <optional>

#include "base/assert.hpp"

namespace headway::engine {
namespace {

void put(std::vector<std::byte>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i & 0xff));
}

/// Takes numbers and bytes off the front, until there are too few: from then on it is `short_of`.
class reader {
 public:
  explicit reader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::span<const std::byte> take(std::size_t bytes) {
    if (left_.size() < bytes) {
      short_of_ = true;
      return {};
    }
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const auto taken = take(bytes);
    for (std::size_t i = taken.size(); i-- > 0;)
      value = value << 8 | static_cast<std::uint64_t>(taken[i]);
    return value;
  }
  [[nodiscard]] bool short_of() const { return short_of_; }
  [[nodiscard]] bool at_end() const { return !short_of_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool short_of_ = false;
};

door read_door(reader& from) {
  door d;
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
  const auto found = of_host.find(number_of_host(host));
  return found == of_host.end() ? usual : found->second;
}

int connection_wishes::most() const {
  int found = usual;
  for (const auto& [host, wish] : of_host) found = std::max(found, wish);
  return found;
}

std::uint64_t number_of_host(std::string_view name) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

std::vector<std::byte> pack_doors(std::span<const door> doors) {
  HEADWAY_ASSERT(doors.size() < 256);
  std::vector<std::byte> packed{static_cast<std::byte>(doors.size())};
  for (const auto& d : doors) {
    HEADWAY_ASSERT(d.connections.size() < 256);
    put(packed, d.connections.size(), 1);
    for (const auto& a : d.connections) {
      HEADWAY_ASSERT(a.size() < 65536);
      put(packed, a.size(), 2);
      packed.insert(packed.end(), a.begin(), a.end());
    }
    put(packed, static_cast<std::uint64_t>(d.wishes.usual), 1);
    HEADWAY_ASSERT(d.wishes.of_host.size() <= connection_wishes::hosts_max);
    put(packed, d.wishes.of_host.size(), 2);
    for (const auto& [host, wish] : d.wishes.of_host) {
      put(packed, host, 8);
      put(packed, static_cast<std::uint64_t>(wish), 1);
    }
  }
  return packed;
}

base::result<std::vector<door>> unpack_doors(std::span<const std::byte> bytes) {
  reader from(bytes);
  std::vector<door> all;
  const auto count = from.number(1);
  for (std::uint64_t i = 0; i < count && !from.short_of(); ++i) all.push_back(read_door(from));
  const auto closed = [](const door& d) { return d.connections.empty(); };
  if (!from.at_end() || std::ranges::any_of(all, closed))
    return base::failed(base::fault_kind::bad_input, "a list of rails' addresses makes no sense");
  return all;
}

std::size_t connections_between(const door& ours, std::string_view our_host, const door& theirs,
                                std::string_view their_host) {
  const int wanted = std::min(ours.wishes.to(their_host), theirs.wishes.to(our_host));
  const auto there = std::min(ours.connections.size(), theirs.connections.size());
  return std::min(there, static_cast<std::size_t>(std::max(wanted, 1)));
}

}  // namespace headway::engine

#include "wireup/peer_rails.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "sampling/connections.hpp"
#include "wireup/profiles.hpp"
#include "wireup/rail_matching.hpp"

namespace headway::wireup {
namespace {

std::vector<rail_address> first_rails(std::span<const nic_address> all) {
  std::vector<rail_address> first;
  for (const auto& one : all) {
    HEADWAY_ASSERT(!one.connections.empty());  // `unpack_nic_addresses` refuses an empty one
    first.push_back(one.connections.front());
  }
  return first;
}

}  // namespace

own_rails::own_rails(std::span<const opened_rail> rails) : count_(rails.size()) {
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const auto& r = rails[i];
    auto& of = drivers_[r.driver];
    of.judge = r.judge;
    const auto found = std::ranges::find(of.interfaces, r.interface);
    const auto at = static_cast<std::size_t>(found - of.interfaces.begin());
    if (found == of.interfaces.end()) {
      of.interfaces.push_back(r.interface);
      of.addresses.push_back({.connections = {}, .wishes = r.wishes});
      of.rails.emplace_back();
    }
    of.addresses[at].connections.push_back(r.address);
    of.rails[at].push_back(i);
  }
}

std::map<std::string, std::vector<nic_address>> own_rails::addresses() const {
  std::map<std::string, std::vector<nic_address>> all;
  for (const auto& [driver, own] : drivers_) all[driver] = own.addresses;
  return all;
}

std::vector<peer_rail> own_rails::to(const process_record& peer, bool lower) const {
  std::vector<peer_rail> found(count_);
  std::size_t turns = 0;
  for (const auto& [driver, own] : drivers_) {
    const auto known = peer.addresses.find(driver);
    if (known == peer.addresses.end()) continue;
    const auto& theirs = known->second;
    const auto pairs =
        pair_rails(first_rails(own.addresses), first_rails(theirs), own.judge, lower);
    const auto addresses_max = std::max(own.addresses.size(), theirs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i]) continue;
      const auto& their = theirs[*pairs[i]];
      const auto count = connections_between(own.addresses[i], own_host(), their, peer.host);
      HEADWAY_ASSERT(count <= own.rails[i].size() && count <= their.connections.size());
      for (std::size_t c = 0; c < count; ++c)
        found[own.rails[i][c]] = {.address = their.connections[c],
                                  .turn = turns + c * addresses_max + (lower ? i : *pairs[i])};
    }
    turns += addresses_max * sampling::connections_max;
  }
  return found;
}

}  // namespace headway::wireup

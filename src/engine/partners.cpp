#include "engine/partners.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "engine/pairing.hpp"
#include "engine/profiles.hpp"
#include "sampling/connections.hpp"

namespace headway::engine {
namespace {

/// Under which every process publishes `own_host()`.
constexpr const char* host_name = "host";

/// The doors of one driver, and which of our rails the connections of each are.
struct own_doors {
  std::vector<std::string> interfaces;
  std::vector<door> doors;
  std::vector<std::vector<std::size_t>> rails;
};

std::map<std::string, own_doors> doors_of(std::span<const opened_rail> rails) {
  std::map<std::string, own_doors> made;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const auto& r = rails[i];
    auto& [interfaces, doors, indexes] = made[r.driver];
    const auto found = std::ranges::find(interfaces, r.interface);
    const auto at = static_cast<std::size_t>(found - interfaces.begin());
    if (found == interfaces.end()) {
      interfaces.push_back(r.interface);
      doors.push_back({.connections = {}, .wishes = r.wishes});
      indexes.emplace_back();
    }
    doors[at].connections.push_back(r.address);
    indexes[at].push_back(i);
  }
  return made;
}

std::vector<rail_address> first_rails(std::span<const door> doors) {
  std::vector<rail_address> first;
  for (const auto& d : doors) first.push_back(d.connections.front());
  return first;
}

base::result<std::size_t> connections_to(launch::job& job, int rank, const door& ours,
                                         const door& theirs) {
  if (std::min(ours.connections.size(), theirs.connections.size()) == 1) return 1;
  const auto host = host_of(job, rank);
  if (!host) return std::unexpected(host.error());
  return connections_between(ours, own_host(), theirs, *host);
}

}  // namespace

base::result<> publish_rails(launch::job& job, std::span<const opened_rail> rails) {
  const auto host = own_host();
  if (auto done = job.publish(host_name, std::as_bytes(std::span(host))); !done) return done;
  for (const auto& [driver, own] : doors_of(rails))
    if (auto done = job.publish(driver, pack_doors(own.doors)); !done) return done;
  return {};
}

base::result<std::string> host_of(launch::job& job, int rank) {
  const auto name = job.lookup(rank, host_name);
  if (!name) return std::unexpected(name.error());
  return std::string(reinterpret_cast<const char*>(name->data()), name->size());
}

base::result<std::vector<partner>> find_partners(launch::job& job, int rank,
                                                 std::span<const opened_rail> rails) {
  std::vector<partner> found(rails.size());
  const bool lower = job.who().rank <= rank;
  std::size_t turns = 0;
  for (const auto& [driver, own] : doors_of(rails)) {
    // A process without such a rail has published nothing under its name.
    const auto packed = job.lookup(rank, driver);
    if (!packed) continue;
    const auto theirs = unpack_doors(*packed);
    if (!theirs) return std::unexpected(theirs.error());
    const auto pairs =
        pair_rails(first_rails(own.doors), first_rails(*theirs), nearness_for(driver), lower);
    const auto doors_max = std::max(own.doors.size(), theirs->size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i]) continue;
      const auto& their = (*theirs)[*pairs[i]];
      const auto count = connections_to(job, rank, own.doors[i], their);
      if (!count) return std::unexpected(count.error());
      for (std::size_t c = 0; c < *count; ++c)
        found[own.rails[i][c]] = {.address = their.connections[c],
                                  .turn = turns + c * doors_max + (lower ? i : *pairs[i])};
    }
    turns += doors_max * sampling::connections_max;
  }
  return found;
}

}  // namespace headway::engine

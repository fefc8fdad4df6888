#include "engine/profiles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/log.hpp"
#include "rails/interfaces.hpp"
#include "rails/selection.hpp"
#include "sampling/store.hpp"

namespace headway::engine {
namespace {

/// Of a rail "tcp:eth0#2": "tcp:eth0".
std::string first_connection(const std::string& rail) { return rail.substr(0, rail.find('#')); }

}  // namespace

std::string own_host() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "localhost";
  return name;
}

std::string hardware_of(std::string_view rail) {
  const auto colon = rail.find(':');
  if (colon == std::string_view::npos) return "this machine";
  const auto interface = rail.substr(colon + 1);
  return rails::hardware_text(interface.substr(0, interface.find('#')));
}

std::optional<sampling::profile> stored_profile(const std::string& there, const std::string& rail) {
  const auto store = sampling::store::of_user();
  if (!store) return std::nullopt;
  return store->find({.here = own_host(), .there = there, .rail = first_connection(rail)},
                     hardware_of(rail), seconds_now());
}

connection_wishes connections_wished(const std::string& rail) {
  connection_wishes wishes;
  if (const int wanted = rails::connections_wanted(); wanted > 0) {
    wishes.usual = wanted;
    return wishes;
  }
  const auto store = sampling::store::of_user();
  if (!store) return wishes;
  for (const auto& r : store->several(own_host(), rail, hardware_of(rail), seconds_now()))
    if (wishes.of_host.size() < connection_wishes::hosts_max)
      wishes.of_host[number_of_host(r.key.there)] = r.found.connections;
  return wishes;
}

void store_profile(const std::string& there, const std::string& rail,
                   const sampling::profile& learnt) {
  if (first_connection(rail) != rail) return;
  const auto store = sampling::store::of_user();
  if (!store) return;
  const sampling::profile_key key{.here = own_host(), .there = there, .rail = rail};
  const auto hardware = hardware_of(rail);
  const auto now_s = seconds_now();
  const auto known = store->find(key, hardware, now_s);
  if (known && !sampling::differ(*known, learnt)) return;
  const auto saved =
      store->save({.key = key, .hardware = hardware, .measured_at = now_s, .found = learnt});
  if (!saved)
    base::log(base::severity::info, "the profile of {} is not kept: {}", rail, saved.error().text);
}

std::uint64_t seconds_now() { return static_cast<std::uint64_t>(std::time(nullptr)); }

}  // namespace headway::engine

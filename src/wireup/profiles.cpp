#include "wireup/profiles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "rails/interfaces.hpp"

namespace headway::wireup {
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

std::optional<sampling::profile> rail_profiles::find(const std::string& there,
                                                     const std::string& rail) const {
  return store_.find({.here = own_host(), .there = there, .rail = first_connection(rail)},
                     hardware_of(rail), seconds_now());
}

connection_wishes rail_profiles::connections_that_pay(const std::string& rail) const {
  connection_wishes wishes;
  for (const auto& r : store_.several(own_host(), rail, hardware_of(rail), seconds_now()))
    if (wishes.of_host.size() < connection_wishes::hosts_max)
      wishes.of_host[base::hash_of(r.key.there)] = r.found.connections;
  return wishes;
}

void rail_profiles::keep(const std::string& there, const std::string& rail,
                         const sampling::profile& learnt) const {
  if (first_connection(rail) != rail) return;
  const sampling::profile_key key{.here = own_host(), .there = there, .rail = rail};
  const auto hardware = hardware_of(rail);
  const auto now_s = seconds_now();
  const auto known = store_.find(key, hardware, now_s);
  if (known && !sampling::differ(*known, learnt)) return;
  const auto saved =
      store_.save({.key = key, .hardware = hardware, .measured_at = now_s, .found = learnt});
  if (!saved)
    base::log(base::severity::info, "the profile of {} is not kept: {}", rail, saved.error().text);
}

std::uint64_t seconds_now() { return static_cast<std::uint64_t>(std::time(nullptr)); }

}  // namespace headway::wireup

#include "engine/profiles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/log.hpp"
#include "rails/interfaces.hpp"
#include "sampling/store.hpp"

namespace headway::engine {

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
  return store->find({.here = own_host(), .there = there, .rail = rail}, hardware_of(rail),
                     seconds_now());
}

void store_profile(const std::string& there, const std::string& rail,
                   const sampling::profile& learnt) {
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

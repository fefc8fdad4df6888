#include "engine/profiles.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "rails/interfaces.hpp"

namespace headway::engine {

std::string own_host() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "localhost";
  return name;
}

std::string hardware_of(std::string_view rail) {
  const auto colon = rail.find(':');
  if (colon == std::string_view::npos) return "this machine";
  return rails::hardware_text(rail.substr(colon + 1));
}

std::uint64_t seconds_now() { return static_cast<std::uint64_t>(std::time(nullptr)); }

}  // namespace headway::engine

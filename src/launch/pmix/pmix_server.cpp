#include <algorithm>

#include "launch/pmix/pmix_launcher.hpp"

namespace headway::launch {

bool pmix_server_is_named(const environment& told) noexcept {
  // A server publishes an address for each version of the protocol that it supports.
  constexpr const char* addresses[] = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                       "PMIX_SERVER_URI21", "PMIX_SERVER_URI2", "PMIX_SERVER_URI"};
  return told.has("PMIX_NAMESPACE") && told.has("PMIX_RANK") &&
         std::ranges::any_of(addresses, [&](const char* name) { return told.has(name); });
}

}  // namespace headway::launch

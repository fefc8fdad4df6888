#include "mpi/communicators/hints.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/log.hpp"

namespace headway::mpi {
namespace {

/// Whether the value is one of the names; false, with a warning in the log, if it is not.
bool is_one_of(std::span<const std::string_view> names, std::string_view what,
               const communicator& comm, std::string_view key, const std::string& value) {
  if (std::ranges::find(names, value) != names.end()) return true;
  base::log(base::severity::warning,
            "{} of communicator '{}' is '{}', which is no {}; there are: {}", key, comm.name, value,
            what, fmt::join(names, ", "));
  return false;
}

/// Whether the hint can be applied.
bool can_follow(const communicator& comm, const std::string& key, const std::string& value) {
  if (key == strategy_hint)
    return is_one_of(messages::exchange::strategy_names(), "strategy", comm, key, value);
  if (key == priority_hint) return is_one_of(priority_names, "priority", comm, key, value);
  return true;
}

}  // namespace

void follow_hint(communicator& comm, const std::string& key, const std::string& value) {
  if (key == strategy_hint) {
    for (auto* side : {&comm.messages(), &comm.collective()})
      static_cast<void>(messages::exchange::use_strategy(*side, value));  // known: see set_hints
  }
  if (key == priority_hint) comm.set_urgent(value == priority_names[true]);
}

void set_hints(communicator& comm, const info* hints) {
  if (hints == nullptr) return;
  for (const auto& [key, value] : hints->entries()) {
    if (!can_follow(comm, key, value)) continue;
    comm.hints.set(key, value);
    if (comm.is_open()) follow_hint(comm, key, value);
  }
}

}  // namespace headway::mpi

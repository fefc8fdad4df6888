#include "mpi/objects/info.hpp"

#include <algorithm>

#include "base/lock_guard.hpp"

namespace headway::mpi {
namespace {

auto place_of(auto& entries, std::string_view key) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.first == key; });
}

}  // namespace

void info::set(std::string_view key, std::string_view value) {
  const base::lock_guard held(lock_);
  const auto at = place_of(entries_, key);
  if (at != entries_.end()) {
    at->second = value;
  } else {
    entries_.emplace_back(key, value);
  }
}

std::optional<std::string> info::get(std::string_view key) const {
  const base::lock_guard held(lock_);
  const auto at = place_of(entries_, key);
  if (at == entries_.end()) return std::nullopt;
  return at->second;
}

bool info::remove(std::string_view key) {
  const base::lock_guard held(lock_);
  const auto at = place_of(entries_, key);
  if (at == entries_.end()) return false;
  entries_.erase(at);
  return true;
}

std::vector<std::pair<std::string, std::string>> info::entries() const {
  const base::lock_guard held(lock_);
  return entries_;
}

}  // namespace headway::mpi

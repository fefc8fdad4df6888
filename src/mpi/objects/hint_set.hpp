#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::mpi {

/// The hints that a program has given to a communicator or a window.
/// Threads:  any.
class hint_set {
 public:
  using list = std::vector<std::pair<std::string, std::string>>;

  hint_set() noexcept = default;
  void set(const std::string& key, const std::string& value) {
    const base::lock_guard held(lock_);
    const auto at = std::ranges::find(all_, key, &list::value_type::first);
    if (at == all_.end()) {
      all_.emplace_back(key, value);
    } else {
      at->second = value;
    }
  }
  void set(const list& hints) {
    for (const auto& [key, value] : hints) set(key, value);
  }
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const {
    const base::lock_guard held(lock_);
    const auto at = std::ranges::find(all_, key, &list::value_type::first);
    return at == all_.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] list all() const {
    const base::lock_guard held(lock_);
    return all_;
  }

 private:
  mutable base::mutex lock_;
  list all_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::mpi

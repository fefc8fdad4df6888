#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::rails {

/// The keys with which processes of this job and of others authenticate each other, one for each
/// pair of jobs. Processes of this job have the job's secret instead.
/// Threads:  any.
/// Progress: a mutex; `add` allocates.
class job_keys {
 public:
  using key = std::array<std::byte, 32>;

  /// Of a job that is known already: no effect, because a pair of jobs has one key.
  void add(std::uint64_t job, const key& shared) {
    const base::lock_guard held(lock_);
    keys_.try_emplace(job, shared);
  }
  /// Nothing: no process of that job was introduced to this one.
  [[nodiscard]] std::optional<key> find(std::uint64_t job) const {
    const base::lock_guard held(lock_);
    const auto at = keys_.find(job);
    return at == keys_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  mutable base::mutex lock_;  // cold: taken when a connection is made
  std::map<std::uint64_t, key> keys_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::rails

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/engine.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// The ends of accesses (MPI_Win_complete) that origins tell by requests, and the wait for them.
/// Shape:    a number for each rank of the window.
/// Threads:  `expect`, `has_all` and `await` one at a time; `came` and `lose` any thread, at the
///           same time.
/// Progress: `await` waits.
/// Errors:   `lost`: a process of the window is gone.
class access_ends {
 public:
  access_ends(progress::engine& engine, std::size_t ranks) : engine_(engine), ahead_(ranks) {}

  /// One more end of this rank's accesses is missing, unless it has come already.
  void expect(int rank) noexcept;
  void came(int rank) noexcept;
  /// A process of the window is gone.
  void lose() noexcept;
  /// Whether `await` would not wait.
  [[nodiscard]] bool has_all() const noexcept;
  /// Returns when no expected one is missing, or with an error.
  [[nodiscard]] status await() noexcept;

 private:
  [[nodiscard]] bool is_over() const noexcept HEADWAY_REQUIRES(lock_) {
    return missing_ == 0 || lost_;
  }
  /// Whether the caller has to complete `all_`, once it has released the lock.
  [[nodiscard]] bool ends_wait() noexcept HEADWAY_REQUIRES(lock_);

  progress::engine& engine_;
  mutable base::spinlock lock_;
  /// By rank: how many have come, less those that were expected.
  std::vector<std::int64_t> ahead_ HEADWAY_GUARDED_BY(lock_);
  std::uint64_t missing_ HEADWAY_GUARDED_BY(lock_) = 0;
  bool lost_ HEADWAY_GUARDED_BY(lock_) = false;
  bool awaited_ HEADWAY_GUARDED_BY(lock_) = false;
  progress::completion all_;
};

}  // namespace headway::windows

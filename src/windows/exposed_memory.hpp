#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "base/mutex.hpp"
#include "base/process_edge.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::windows {

/// The memory of a window at its target: one region, whose bytes are named by their offset, or
/// regions that come and go (MPI_Win_attach), whose bytes are named by their address.
/// Threads:  any.
class exposed_memory {
 public:
  /// One region, or nothing at first, with `dynamic` regions.
  exposed_memory(std::byte* base, std::int64_t bytes, bool dynamic = false)
      : base_(base), bytes_(bytes), dynamic_(dynamic) {
    HEADWAY_ASSERT(bytes >= 0 && (!dynamic || base == nullptr));
  }

  /// Where these bytes are; null: some are not in the window.
  [[nodiscard]] std::byte* at(std::int64_t offset, std::int64_t bytes) noexcept;

  /// False: it overlaps an attached region.
  [[nodiscard]] bool attach(std::byte* base, std::int64_t bytes);
  /// False: no attached region begins there.
  [[nodiscard]] bool detach(const std::byte* base);

  /// From a thread that has carried out requests of other processes, through the process that is
  /// told of that, to a thread of the program that synchronises its memory. Of all windows.
  static inline base::process_edge changes;
  /// From a thread of the program that synchronises its memory, through the process that is told
  /// of that, to a thread that carries out what this process then requests.
  static inline base::process_edge exposures;

 private:
  struct region {
    std::int64_t begin;
    std::int64_t bytes;
  };
  using regions = std::vector<region>;  // in the order of their addresses

  void replace(std::shared_ptr<const regions> by) noexcept;

  std::byte* const base_;
  const std::int64_t bytes_;
  const bool dynamic_;
  base::mutex changing_;  // of the program's threads that attach and detach
  base::spinlock lock_;   // never held while memory is allocated or freed
  std::shared_ptr<const regions> attached_ HEADWAY_GUARDED_BY(lock_) =
      std::make_shared<const regions>();
};

}  // namespace headway::windows

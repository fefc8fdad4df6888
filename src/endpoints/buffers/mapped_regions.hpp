#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/buffers/region.hpp"

namespace headway::endpoints {

/// The regions of other processes of this machine that this process maps.
/// Shape:    at most `regions_max`; a region stays mapped until the end.
/// Threads:  any.
/// Errors:   those of region::map.
class mapped_regions {
  // Hazard: a reader sees a half-made region. Edge: (M) release -> acquire on the count.
 public:
  static constexpr std::size_t regions_max = 512;

  [[nodiscard]] base::result<> map(const region_offer& offer, std::uint64_t job);
  /// The region of `process`, or nullptr.
  [[nodiscard]] region* of(std::uint32_t process) const noexcept {
    return find([&](const region& r) { return r.owner() == process; });
  }
  /// The region in which `data` lies, or nullptr.
  [[nodiscard]] region* at(const void* data) const noexcept {
    return find([&](const region& r) { return r.contains(data); });
  }

 private:
  template <class Wanted>
  [[nodiscard]] region* find(Wanted wanted) const noexcept {
    const auto count = count_.load(std::memory_order_acquire);  // (M)
    for (std::uint32_t i = 0; i < count; ++i) {
      region* r = known_[i].load(std::memory_order_relaxed);  // carried by (M)
      if (wanted(*r)) return r;
    }
    return nullptr;
  }

  base::mutex lock_;  // cold; what it guards allocates
  std::vector<std::unique_ptr<region>> owned_ HEADWAY_GUARDED_BY(lock_);
  std::array<base::atomic<region*>, regions_max> known_{};
  base::atomic<std::uint32_t> count_{0};
};

}  // namespace headway::endpoints

#include "endpoints/buffers/mapped_regions.hpp"

#include <utility>

namespace headway::endpoints {

base::result<> mapped_regions::map(const region_offer& offer, std::uint64_t job) {
  if (of(offer.owner)) return {};
  auto made = region::map(offer, job);
  if (!made) return std::unexpected(made.error());
  const base::lock_guard held(lock_);
  const auto count = count_.load(std::memory_order_relaxed);  // under the lock
  if (count == regions_max)
    return base::failed(base::fault_kind::no_memory, "too many processes share buffers here");
  owned_.push_back(std::move(*made));
  known_[count].store(owned_.back().get(), std::memory_order_relaxed);  // carried by (M)
  count_.store(count + 1, std::memory_order_release);                   // (M)
  return {};
}

}  // namespace headway::endpoints

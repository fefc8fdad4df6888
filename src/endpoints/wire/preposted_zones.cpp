#include "endpoints/wire/preposted_zones.hpp"

#include <utility>

namespace headway::endpoints {

preposted_zones::taken preposted_zones::take_there(std::uint64_t bytes) noexcept {
  const base::lock_guard guard(lock_);
  const auto zone = std::exchange(there_, {});
  const auto most = zone.bytes();
  return {zone, zone.number != 0 && bytes <= most && bytes > most / waste_max};
}

bool preposted_zones::add_there(const packets::preposted& zone) noexcept {
  const base::lock_guard guard(lock_);
  if (there_.number != 0) return false;
  there_ = zone;
  return true;
}

void preposted_zones::forget_there() noexcept {
  const base::lock_guard guard(lock_);
  there_ = {};
}

bulk_receive* preposted_zones::take_here(std::uint32_t zone) noexcept {
  const base::lock_guard guard(lock_);
  if (zone == 0 || zone != zone_here_) return nullptr;
  zone_here_ = 0;
  return std::exchange(here_, nullptr);
}

std::uint32_t preposted_zones::take_last_here() noexcept {
  const base::lock_guard guard(lock_);
  no_more_here_ = true;
  here_ = nullptr;
  return std::exchange(zone_here_, 0u);
}

bool preposted_zones::add_here(std::uint32_t zone, bulk_receive& by) noexcept {
  const base::lock_guard guard(lock_);
  if (no_more_here_ || zone_here_ != 0) return false;
  zone_here_ = zone;
  here_ = &by;
  return true;
}

void preposted_zones::forget_here(const bulk_receive& by) noexcept {
  const base::lock_guard guard(lock_);
  if (here_ != &by) return;
  zone_here_ = 0;
  here_ = nullptr;
}

void preposted_zones::want_here(std::uint64_t bytes) noexcept {
  const base::lock_guard guard(lock_);
  due_bytes_ = bytes;
}

std::uint64_t preposted_zones::take_wish() noexcept {
  const base::lock_guard guard(lock_);
  const auto bytes = std::exchange(due_bytes_, 0u);
  return no_more_here_ || zone_here_ != 0 ? 0 : bytes;
}

}  // namespace headway::endpoints

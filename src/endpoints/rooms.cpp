#include "endpoints/rooms.hpp"

#include <mutex>
#include <utility>

namespace headway::endpoints {

rooms::taken rooms::take_there(std::uint64_t bytes) noexcept {
  const std::scoped_lock guard(lock);
  const auto zone = std::exchange(zone_there, 0u);
  return {zone, zone != 0 && bytes <= bytes_there && bytes > bytes_there / waste_max};
}

bool rooms::add_there(std::uint32_t zone, std::uint64_t bytes) noexcept {
  const std::scoped_lock guard(lock);
  if (zone_there != 0) return false;
  zone_there = zone;
  bytes_there = bytes;
  return true;
}

void rooms::forget_there() noexcept {
  const std::scoped_lock guard(lock);
  zone_there = 0;
}

bulk_receive* rooms::take_here(std::uint32_t zone) noexcept {
  const std::scoped_lock guard(lock);
  if (zone == 0 || zone != zone_here) return nullptr;
  zone_here = 0;
  return std::exchange(here, nullptr);
}

std::pair<std::uint32_t, bulk_receive*> rooms::take_last_here() noexcept {
  const std::scoped_lock guard(lock);
  no_more_here = true;
  return {std::exchange(zone_here, 0u), std::exchange(here, nullptr)};
}

bool rooms::add_here(std::uint32_t zone, bulk_receive& by) noexcept {
  const std::scoped_lock guard(lock);
  if (no_more_here || zone_here != 0) return false;
  zone_here = zone;
  here = &by;
  return true;
}

void rooms::forget_here(const bulk_receive& by) noexcept {
  const std::scoped_lock guard(lock);
  if (here != &by) return;
  zone_here = 0;
  here = nullptr;
}

void rooms::want_here(std::uint64_t bytes) noexcept {
  const std::scoped_lock guard(lock);
  due_bytes = bytes;
}

std::uint64_t rooms::take_wish() noexcept {
  const std::scoped_lock guard(lock);
  const auto bytes = std::exchange(due_bytes, 0u);
  return no_more_here || zone_here != 0 ? 0 : bytes;
}

}  // namespace headway::endpoints

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// The memory of one slot's ring, as ring.hpp wants it.
class ring_memory {
 public:
  ring_memory() = default;
  ring_memory(const slot_view& slot, std::uint32_t ring_bytes) noexcept
      : base_(slot.ring), line_count_(ring_bytes / line_bytes), control_(slot.control) {}

  [[nodiscard]] std::uint64_t line_count() const noexcept { return line_count_; }
  [[nodiscard]] std::byte* line(std::uint64_t position) const noexcept {
    return base_ + (position & (line_count_ - 1)) * line_bytes;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint64_t position) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(line(position));
  }
  /// A word that may have become bytes of a payload, which are no atomics: a look that
  /// ThreadSanitizer must not see, because the caller throws away what it should not have seen.
#ifdef __clang__
  [[clang::disable_sanitizer_instrumentation]]
#endif
  [[nodiscard]] std::uint64_t
  glimpse(std::uint64_t position) const noexcept {
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(line(position)),
                           __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& consumed() const noexcept { return control_->consumed; }
  [[nodiscard]] std::atomic<std::uint32_t>& wants_room() const noexcept {
    return control_->wants_room;
  }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t line_count_ = 0;
  slot_control* control_ = nullptr;
};

}  // namespace headway::rails::shm

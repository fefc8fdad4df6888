#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// The memory of one slot's ring, in the form that ring.hpp requires.
class ring_memory {
 public:
  ring_memory() = default;
  ring_memory(const slot_view& slot, std::uint32_t ring_bytes) noexcept
      : base_(slot.ring), cell_count_(ring_bytes / cell_bytes), control_(slot.control) {}

  [[nodiscard]] std::uint64_t cell_count() const noexcept { return cell_count_; }
  [[nodiscard]] std::byte* cell(std::uint64_t position) const noexcept {
    return base_ + (position & (cell_count_ - 1)) * cell_bytes;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& word(std::uint64_t position) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(cell(position));
  }
  /// Loads a word that may have been overwritten with payload bytes, which are not atomics. Hidden
  /// from ThreadSanitizer; the caller discards an invalid value.
#ifdef __clang__
  [[clang::disable_sanitizer_instrumentation]]
#endif
  [[nodiscard]] std::uint64_t
  glimpse(std::uint64_t position) const noexcept {
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(cell(position)),
                           __ATOMIC_ACQUIRE);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& consumed() const noexcept { return control_->consumed; }
  [[nodiscard]] std::atomic<std::uint32_t>& wants_room() const noexcept {
    return control_->wants_room;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& hurried() const noexcept { return control_->hurried; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t cell_count_ = 0;
  slot_control* control_ = nullptr;
};

}  // namespace headway::rails::shm

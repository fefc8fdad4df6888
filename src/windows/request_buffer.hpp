#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/assert.hpp"

namespace headway::windows {

/// Requests that leave in one message. A std::vector would set to zero what is about to be written.
/// Shape:    `room` bytes at most, allocated when the first ones are added.
/// Threads:  one at a time.
/// Errors:   `add` throws std::bad_alloc.
class request_buffer {
 public:
  explicit request_buffer(std::size_t room) noexcept : room_(room) {}
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {memory_.get(), size_}; }
  /// Where so many bytes more are to be written.
  [[nodiscard]] std::byte* add(std::size_t count) {
    HEADWAY_DEBUG_ASSERT(count <= room_ - size_);
    if (!memory_) memory_ = std::make_unique_for_overwrite<std::byte[]>(room_);
    std::byte* const at = memory_.get() + size_;
    size_ += count;
    return at;
  }
  void clear() noexcept { size_ = 0; }

 private:
  std::size_t room_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace headway::windows

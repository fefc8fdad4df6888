#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"

namespace headway::wireup {

/// Appends the lower `bytes` bytes of a number, the lowest first.
inline void put_number(std::vector<std::byte>& to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    to.push_back(static_cast<std::byte>(value >> 8 * i & 0xff));
}

/// Reads numbers and bytes in sequence from the data of another process. When too few bytes are
/// left, it returns zeros and empty spans, and `short_of` is true.
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  std::span<const std::byte> take(std::size_t bytes) noexcept {
    if (left_.size() < bytes) {
      short_of_ = true;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) noexcept {
    HEADWAY_ASSERT(bytes <= sizeof(std::uint64_t));
    std::uint64_t value = 0;
    const auto taken = take(bytes);
    for (std::size_t i = taken.size(); i-- > 0;)
      value = value << 8 | static_cast<std::uint64_t>(taken[i]);
    return value;
  }
  [[nodiscard]] bool short_of() const noexcept { return short_of_; }
  [[nodiscard]] bool at_end() const noexcept { return !short_of_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool short_of_ = false;
};

}  // namespace headway::wireup

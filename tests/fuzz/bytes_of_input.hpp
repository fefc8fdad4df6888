#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headway {

/// Takes the input of a fuzz target apart, from its first byte on. At its end all is zero or empty.
class bytes_of_input {
 public:
  explicit bytes_of_input(std::span<const std::uint8_t> all) noexcept : left_(all) {}
  [[nodiscard]] bool any() const noexcept { return !left_.empty(); }
  [[nodiscard]] std::uint8_t byte() noexcept {
    if (left_.empty()) return 0;
    const auto first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t most) noexcept {
    const auto taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return std::as_bytes(taken);
  }
  /// A byte of length, and so many bytes.
  [[nodiscard]] std::span<const std::byte> some() noexcept {
    const auto length = byte();
    return bytes(length);
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace headway

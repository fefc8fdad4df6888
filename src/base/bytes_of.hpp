#pragma once

#include <cstddef>
#include <span>

namespace headway::base {

/// The bytes of an object, as they lie in memory. It must outlive them.
template <class Object>
[[nodiscard]] std::span<const std::byte> bytes_of(const Object& object) noexcept {
  return std::as_bytes(std::span(&object, 1));
}

}  // namespace headway::base

#pragma once

namespace headway::authentication {

/// Bytes as libsodium takes them.
[[nodiscard]] inline unsigned char* sodium_bytes(void* p) noexcept {
  return static_cast<unsigned char*>(p);
}
[[nodiscard]] inline const unsigned char* sodium_bytes(const void* p) noexcept {
  return static_cast<const unsigned char*>(p);
}

}  // namespace headway::authentication

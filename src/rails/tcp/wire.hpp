#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "rails/driver.hpp"

namespace headway::rails::tcp {

/// What a frame carries.
enum class frame_kind : std::uint8_t {
  plain = 1,    ///< header and payload of a packet without a landing zone
  piece = 2,    ///< part of a payload for a landing zone
  goodbye = 3,  ///< nothing follows: the end of the connection is no loss
};

/// The fixed part in front of every packet on a connection.
/// Shape:    24 bytes, little-endian: kind, more, header_bytes (16 bits), payload_bytes (32),
///           landing (32), zero (32), offset (64). Header and payload follow, then zeros up to a
///           multiple of 8, so that every frame and every header starts aligned in the stream.
/// Errors:   `decode` is the only reader; it accepts nothing that `encode` would not write.
struct frame {
  frame_kind kind = frame_kind::plain;
  bool more = false;  ///< another part of the same payload will come behind this piece
  std::uint16_t header_bytes = 0;
  std::uint32_t payload_bytes = 0;
  landing_id landing = landing_id::none;
  std::uint64_t offset = 0;  ///< of the piece in its landing zone

  bool operator==(const frame&) const = default;
};

inline constexpr std::size_t frame_bytes = 24;
inline constexpr std::size_t header_bytes_max = 256;
inline constexpr std::size_t eager_bytes_max = 64 * 1024;
inline constexpr std::size_t segment_bytes_max = 16 * 1024 * 1024;

using frame_image = std::array<std::byte, frame_bytes>;

/// Zeros between `bytes` of header and payload and the next frame.
[[nodiscard]] constexpr std::size_t padding_of(std::size_t bytes) noexcept { return -bytes & 7; }

[[nodiscard]] frame_image encode(const frame& f) noexcept;
/// Nothing: these bytes are no frame of ours, or a length is out of bounds.
[[nodiscard]] std::optional<frame> decode(std::span<const std::byte, frame_bytes> image) noexcept;

/// Numbers on the wire are little-endian wherever they are written.
template <std::unsigned_integral T>
void put_number(std::byte* where, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(where, &value, sizeof value);
}

template <std::unsigned_integral T>
[[nodiscard]] T get_number(const std::byte* where) noexcept {
  T value;
  std::memcpy(&value, where, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

}  // namespace headway::rails::tcp

#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "rails/memory.hpp"

namespace headway::rails::tcp {

/// Kinds of frames.
enum class frame_kind : std::uint8_t {
  plain = 1,    ///< header and payload of a packet
  piece = 2,    ///< part of the bytes for an exposure
  goodbye = 3,  ///< nothing follows: the end of the connection is not a loss
  request = 4,  ///< a memory_request, of an exposure of the receiver
  refusal = 5,  ///< the peer refuses the request whose answer would go to `id`
  receipt = 6,  ///< of an encrypted connection: the peer has received `id` bytes of the stream
};

/// The fixed-size head of every frame on a connection.
/// Shape:    24 bytes, little-endian: kind, more, header_bytes (16 bits), payload_bytes (32),
///           id (64), offset (64). Header and payload follow, then zeros up to a multiple of 8,
///           so that every frame and every header starts aligned in the stream.
/// Errors:   `decode` is the only reader; it rejects everything that `encode` would not write.
struct frame {
  frame_kind kind = frame_kind::plain;
  bool more = false;  ///< another part of the same payload follows this piece
  std::uint16_t header_bytes = 0;
  std::uint32_t payload_bytes = 0;
  std::uint64_t id = 0;      ///< of the receiver's exposure
  std::uint64_t offset = 0;  ///< in that exposure

  bool operator==(const frame&) const = default;
};

inline constexpr std::size_t frame_bytes = 24;
inline constexpr std::size_t header_bytes_max = 256;
inline constexpr std::size_t eager_bytes_max = 128 * 1024;
inline constexpr std::size_t segment_bytes_max = 16 * 1024 * 1024;

/// A request for another process's memory: the header of a request frame. The reply comes as pieces
/// for the exposure `answer` of the requesting process.
/// Shape:    40 bytes, little-endian, numbers of 64 bits: bytes, answer, operand, expected, and
///           what: 0 get, else 1 + an `operation`.
struct memory_request {
  std::uint64_t bytes = 0;  ///< 8 for an atomic
  std::uint64_t answer = 0;
  bool changes = false;  ///< it is an atomic
  atomic_request change = {};
};
inline constexpr std::size_t request_bytes = 40;

using frame_image = std::array<std::byte, frame_bytes>;

/// The number of zeros between `bytes` of header and payload and the next frame.
[[nodiscard]] constexpr std::size_t padding_of(std::size_t bytes) noexcept { return -bytes & 7; }

[[nodiscard]] frame_image encode(const frame& f) noexcept;
/// Nothing: no valid frame, or a length is out of bounds.
[[nodiscard]] std::optional<frame> decode(std::span<const std::byte, frame_bytes> image) noexcept;

void encode(const memory_request& r, std::span<std::byte, request_bytes> to) noexcept;
/// Nothing: no valid request.
[[nodiscard]] std::optional<memory_request> decode_request(
    std::span<const std::byte, request_bytes> image) noexcept;

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

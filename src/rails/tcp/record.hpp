#pragma once

#include <sodium.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "authentication/handshake.hpp"
#include "authentication/sodium_bytes.hpp"

namespace headway::rails::tcp {

/// Each direction of an encrypted connection is a header of libsodium's secretstream, then records.
/// A record is a head and a message of the secretstream, whose position in the stream is part of
/// what it authenticates: no record can be changed, left out, repeated, moved, or sent back.
///
/// Shape:    head of 12 bytes: content_bytes (32 bits, little-endian; 1 to `content_bytes_max`), a
///           keyed hash of it and of the record's number (64). Then the content encrypted, with
///           `crypto_secretstream_xchacha20poly1305_ABYTES` more.
/// Source:   libsodium, crypto_secretstream; the hash is its crypto_shorthash (SipHash-2-4).
namespace record {

// Larger ones are not quicker, and the receiver waits for a whole one (decision 32).
inline constexpr std::size_t content_bytes_max = 16 * 1024;
inline constexpr std::size_t stream_header_bytes =
    crypto_secretstream_xchacha20poly1305_HEADERBYTES;
inline constexpr std::size_t head_bytes = sizeof(std::uint32_t) + crypto_shorthash_BYTES;
inline constexpr std::size_t added_bytes = crypto_secretstream_xchacha20poly1305_ABYTES;
inline constexpr std::size_t bytes_max = head_bytes + content_bytes_max + added_bytes;

using authentication::sodium_bytes;

using head_image = std::array<std::byte, head_bytes>;

/// The keys of one direction, derived from one key by libsodium's crypto_kdf.
struct keys {
  explicit keys(const authentication::key& from) noexcept;
  std::array<unsigned char, crypto_secretstream_xchacha20poly1305_KEYBYTES> content;
  std::array<unsigned char, crypto_shorthash_KEYBYTES> length;
};

[[nodiscard]] head_image encode(std::uint32_t content_bytes, std::uint64_t number,
                                const keys& use) noexcept;
/// The content's length. Nothing: the head is not that of record `number`. Without the hash, a
/// length that was changed would be noticed only when so many bytes have come.
[[nodiscard]] std::optional<std::uint32_t> decode(std::span<const std::byte, head_bytes> image,
                                                  std::uint64_t number, const keys& use) noexcept;

/// A position in a list of buffers.
class cursor {
 public:
  explicit cursor(std::span<const iovec> over) noexcept : rest_(over) { pass_over_ends(); }
  /// The rest of the buffer at the position; empty: the end of the list.
  [[nodiscard]] std::span<std::byte> front() const noexcept {
    if (rest_.empty()) return {};
    return {static_cast<std::byte*>(rest_.front().iov_base) + at_, rest_.front().iov_len - at_};
  }
  [[nodiscard]] bool in_last() const noexcept { return rest_.size() == 1; }
  /// By no more than `front` has.
  void advance(std::size_t bytes) noexcept {
    at_ += bytes;
    passed_ += bytes;
    pass_over_ends();
  }
  [[nodiscard]] std::size_t passed() const noexcept { return passed_; }

 private:
  void pass_over_ends() noexcept {
    for (; !rest_.empty() && at_ == rest_.front().iov_len; at_ = 0) rest_ = rest_.subspan(1);
  }

  std::span<const iovec> rest_;
  std::size_t at_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace record

}  // namespace headway::rails::tcp

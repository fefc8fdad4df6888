#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headway::packets {

/// The data of a message that is not one block of memory: its owner copies ranges of it to and from
/// their packed form, the bytes without gaps.
/// Shape:    ranges are bytes of the packed form, not elements; they begin and end anywhere.
/// Threads:  one at a time. An object of a transfer is used until the transfer has ended.
/// Progress: no function waits or allocates.
class scattered_memory {
 public:
  /// The largest range that `pack` is given.
  static constexpr std::size_t packed_bytes_max = 64 * 1024;

  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// Packs a range into memory of this object, where it stays until the next call. Only of an
  /// object that was made for sending.
  [[nodiscard]] virtual std::span<const std::byte> pack(std::uint64_t begin,
                                                        std::size_t count) noexcept = 0;
  /// Copies `from`, the range that starts at `begin`, to its places.
  virtual void unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept = 0;
  /// The same for all of a message, which stays where it lies until the receive has ended: until
  /// `finish` of its request has returned.
  virtual void unpack_whole(std::span<const std::byte> message) noexcept { unpack(0, message); }

 protected:
  ~scattered_memory() = default;
};

}  // namespace headway::packets

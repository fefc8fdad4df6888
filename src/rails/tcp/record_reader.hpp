#pragma once

#include <sodium.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/tcp/record.hpp"

namespace headway::rails::tcp {

/// Reads a connection whose bytes a record_writer at the other end has encrypted.
/// Shape:    a buffer for `records_max` records as they come, and one for the content of a record
///           that goes to several places.
/// Threads:  one at a time.
/// Progress: never waits; a call reads and decrypts no more than it is asked for.
/// Errors:   after the first record that does not verify nothing more is given out. No byte of a
///           record is given out before all of it has verified.
class record_reader {
 public:
  static constexpr std::size_t records_max = 4;

  explicit record_reader(const authentication::key& from) noexcept : keys_(from) {}

  /// As `recvmsg`: the number of bytes that are now in `into`, filled in order; 0: the connection
  /// has ended; -1 with `errno`, which is EBADMSG for what does not verify.
  [[nodiscard]] std::ptrdiff_t receive(int fd, std::span<const iovec> into) noexcept;
  /// Another `receive` returns something even if nothing more arrives on the connection.
  [[nodiscard]] bool holds_more() const noexcept {
    return broken_ || !opened_.empty() || !all_opened_;
  }
  /// Bytes that have been read from the connection and not given out yet.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return end_ - begin_ + opened_.size(); }

 private:
  [[nodiscard]] bool open_next(record::cursor& to) noexcept;
  [[nodiscard]] bool read_length() noexcept;
  [[nodiscard]] std::ptrdiff_t fill(int fd, bool& drained) noexcept;
  void give_opened(record::cursor& to) noexcept;
  [[nodiscard]] std::span<const std::byte> sealed() const noexcept {
    return std::span(sealed_).subspan(begin_, end_ - begin_);
  }

  record::keys keys_;
  crypto_secretstream_xchacha20poly1305_state state_;
  bool begun_ = false;             // the stream's header has come
  bool broken_ = false;            // something did not verify
  bool all_opened_ = true;         // `sealed_` holds no whole record
  std::uint64_t number_ = 0;       // of the next record
  std::size_t content_bytes_ = 0;  // of the record at the front; 0: its head has not been read
  std::size_t begin_ = 0;          // [begin_, end_) of `sealed_` is not decrypted yet
  std::size_t end_ = 0;
  std::span<const std::byte> opened_;  // the part of `content_` that has not been given out
  // Not initialized: pages are touched on first use.
  std::array<std::byte, records_max * record::bytes_max> sealed_;
  std::array<std::byte, record::content_bytes_max> content_;
};

}  // namespace headway::rails::tcp

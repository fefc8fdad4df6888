#pragma once

#include <sodium.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/tcp/record.hpp"

namespace headway::rails::tcp {

/// Encrypts what is written to a connection, and holds it until the kernel has taken it.
/// Shape:    a buffer for `records_max` records, and one for the content of a record that comes
///           from several places.
/// Threads:  under the connection's lock.
class record_writer {
 public:
  static constexpr std::size_t records_max = 4;

  explicit record_writer(const authentication::key& from) noexcept : keys_(from) {}

  /// Encrypts what comes next, at most so many records: it may be reused then. Only while `empty`.
  void seal(record::cursor& from, std::size_t records) noexcept;
  /// Nothing waits for the kernel.
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  /// What to write next.
  [[nodiscard]] std::span<const std::byte> sealed() const noexcept {
    return std::span(sealed_).subspan(begin_, end_ - begin_);
  }
  /// So many of them were written.
  void written(std::size_t bytes) noexcept { begin_ += bytes; }

 private:
  void begin_stream() noexcept;
  [[nodiscard]] std::span<const std::byte> next_content(record::cursor& from) noexcept;
  void add(std::span<const std::byte> content) noexcept;

  record::keys keys_;
  crypto_secretstream_xchacha20poly1305_state state_;
  std::uint64_t number_ = 0;  // of the next record
  std::size_t begin_ = 0;     // [begin_, end_) of `sealed_` has not been written
  std::size_t end_ = 0;
  // Not initialized: pages are touched on first use.
  std::array<std::byte, record::stream_header_bytes + records_max * record::bytes_max> sealed_;
  std::array<std::byte, record::content_bytes_max> gathered_;
};

}  // namespace headway::rails::tcp

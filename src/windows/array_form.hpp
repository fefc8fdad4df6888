#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "windows/operation.hpp"

namespace headway::windows {

/// The elements of a buffer, all of one kind, in array form: in the buffer itself if they lie there
/// in a row, else in a copy.
class array_form {
 public:
  array_form(const local_data& of, datatypes::number kind);
  [[nodiscard]] std::byte* data() const noexcept { return at_; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }

  /// Fills a copy from the buffer.
  void read() noexcept;
  /// Brings `count` elements of a copy, from the `first` on, to the buffer.
  void write(std::int64_t first, std::int64_t count) noexcept;
  void write() noexcept { write(0, count_); }

 private:
  [[nodiscard]] bool is_dense() const noexcept { return one_.size() == one_.extent(); }

  const local_data of_;
  const datatypes::layout& one_;  // the predefined type
  const std::int64_t count_;
  std::unique_ptr<std::byte[]> copy_;
  std::byte* at_;
};

}  // namespace headway::windows

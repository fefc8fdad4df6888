#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "mpi/fortran/descriptor.hpp"

/// Strings in Fortran have a length and are padded with blanks; in C they end with a zero. The
/// length comes behind all arguments, or with the string in a descriptor.
namespace headway::mpi::fortran {

inline std::string_view without_trailing_blanks(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

inline std::string_view without_leading_blanks(std::string_view text) noexcept {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// Writes `text` into a string of the program.
inline void pad(char* to, std::size_t length, std::string_view text) noexcept {
  const std::size_t kept = std::min(length, text.size());
  std::memcpy(to, text.data(), kept);
  std::memset(to + kept, ' ', length - kept);
}

/// A string that a call reads.
class text_in {
 public:
  text_in(const char* at, std::size_t length)
      : copy_(without_trailing_blanks(std::string_view(at, length))) {}
  explicit text_in(const descriptor* at)
      : text_in(static_cast<const char*>(at->address), at->element_bytes) {}
  [[nodiscard]] const char* get() const noexcept { return copy_.c_str(); }

 private:
  std::string copy_;
};

/// A key or value of an info object: blanks before it do not count either.
class trimmed_text {
 public:
  trimmed_text(const char* at, std::size_t length)
      : copy_(without_leading_blanks(without_trailing_blanks(std::string_view(at, length)))) {}
  [[nodiscard]] const char* get() const noexcept { return copy_.c_str(); }

 private:
  std::string copy_;
};

/// A string that a call writes, of at most `bytes_max` with its end.
template <std::size_t bytes_max>
class text_out {
 public:
  text_out(char* at, std::size_t length) noexcept : at_(at), length_(length) { buffer_[0] = '\0'; }
  ~text_out() { pad(at_, length_, std::string_view(buffer_, strnlen(buffer_, sizeof buffer_))); }
  text_out(const text_out&) = delete;
  text_out& operator=(const text_out&) = delete;

  [[nodiscard]] char* buffer() noexcept { return buffer_; }

 private:
  char* at_;
  std::size_t length_;
  char buffer_[bytes_max];
};

}  // namespace headway::mpi::fortran

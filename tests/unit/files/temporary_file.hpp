#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "files/open_file.hpp"

namespace headway::files {

/// A file that exists as long as this object.
class temporary_file {
 public:
  temporary_file() {
    const int made = ::mkstemp(path_.data());
    EXPECT_GE(made, 0);
    ::close(made);
  }
  ~temporary_file() { ::unlink(path_.c_str()); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] open_file open(int flags = O_RDWR) const {
    auto opened = open_file::open(path_.c_str(), flags);
    EXPECT_TRUE(opened.has_value());
    return opened ? std::move(*opened) : open_file();
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const auto file = open(O_RDONLY);
    std::vector<std::byte> all(static_cast<std::size_t>(file.size().value_or(0)));
    const auto size = static_cast<std::int64_t>(all.size());
    EXPECT_EQ(file.read(all.data(), size, 0).bytes, size);
    return all;
  }
  void fill(std::span<const std::byte> with) const {
    EXPECT_EQ(open().write(with.data(), static_cast<std::int64_t>(with.size()), 0).error, 0);
  }

 private:
  std::string path_ = "/tmp/headway-files-test-XXXXXX";
};

/// Bytes that differ from their neighbours.
[[nodiscard]] inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<std::byte>((i * 7 + (i >> 8) * 13 + seed) & 0xff);
  return made;
}

}  // namespace headway::files

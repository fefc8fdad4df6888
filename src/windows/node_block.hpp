#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace headway::windows {

/// Memory that processes of a node share, or a process's own; zero at first.
/// Shape:    a file in a file system that is memory, named only until all have opened it.
/// Threads:  one at a time.
/// Errors:   `no_memory`: the file system has not that much. Memory is reserved when the block is
///           made, or by `reserve` before its first use, so that no access to it can fail later.
class node_block {
 public:
  node_block() = default;
  node_block(node_block&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  node_block& operator=(node_block&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~node_block();

  /// Makes the file, which must not exist. `unlink` takes its name away. Of its bytes the first
  /// `reserved` are. A block begins at a multiple of `alignment`, a power of two, in each process.
  [[nodiscard]] static base::result<node_block> create(const std::string& path, std::size_t bytes,
                                                       std::size_t reserved,
                                                       std::size_t alignment = 1);
  [[nodiscard]] static base::result<node_block> open(const std::string& path, std::size_t bytes,
                                                     std::size_t alignment = 1);
  static void unlink(const std::string& path) noexcept;
  /// Of this process alone.
  [[nodiscard]] static base::result<node_block> own(std::size_t bytes, std::size_t alignment = 1);

  /// Reserves pages that `create` has not. False: there is no memory for them, or the kernel cannot
  /// say.
  [[nodiscard]] static bool reserve(std::byte* begin, std::size_t bytes) noexcept;

  [[nodiscard]] std::byte* at() const noexcept { return at_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  node_block(std::byte* at, std::size_t bytes) noexcept : at_(at), bytes_(bytes) {}
  [[nodiscard]] static base::result<node_block> map(int fd, std::size_t bytes, int flags,
                                                    std::size_t alignment);

  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace headway::windows

#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <utility>

namespace headway::files {

/// Bytes that were read or written, and the value of `errno` that ended it early, or 0.
struct moved {
  std::int64_t bytes = 0;
  int error = 0;
};

/// A file that this process has opened.
/// Shape:    offsets and sizes are bytes.
/// Threads:  any; the kernel orders accesses to the same bytes.
/// Progress: every function waits for the kernel, in the worst case for a disk or a network.
/// Errors:   the value of `errno`.
class open_file {
 public:
  open_file() noexcept = default;
  open_file(open_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~open_file() { static_cast<void>(close()); }

  /// `flags`: as of open(2).
  [[nodiscard]] static std::expected<open_file, int> open(const char* path, int flags) noexcept;
  /// 0, or what the kernel reports of earlier writes. Once.
  [[nodiscard]] int close() noexcept;

  /// Reads as many bytes as there are, at most `bytes`.
  [[nodiscard]] moved read(std::byte* to, std::int64_t bytes, std::int64_t offset) const noexcept;
  [[nodiscard]] moved write(const std::byte* from, std::int64_t bytes,
                            std::int64_t offset) const noexcept;

  [[nodiscard]] std::expected<std::int64_t, int> size() const noexcept;
  [[nodiscard]] int set_size(std::int64_t bytes) const noexcept;
  /// The first `bytes` have storage, and the file is at least so long.
  [[nodiscard]] int allocate(std::int64_t bytes) const noexcept;
  /// What was written is on the storage device.
  [[nodiscard]] int sync() const noexcept;

  enum class lock_kind : std::uint8_t { shared, exclusive };
  /// Bytes [begin, end) against other processes that lock them, and against other open files of
  /// this one.
  [[nodiscard]] int lock(lock_kind kind, std::int64_t begin, std::int64_t end) const noexcept;
  [[nodiscard]] int unlock(std::int64_t begin, std::int64_t end) const noexcept;

 private:
  explicit open_file(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace headway::files

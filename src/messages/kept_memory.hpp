#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::messages {

/// Memory for messages that are stored. What large ones have given back is kept for the next ones:
/// malloc would return it to the kernel, and each page would then cost a page fault again.
/// Shape:    blocks of a power of two and a head, 8 MiB at most.
/// Threads:  any.
/// Progress: a spinlock for some nanoseconds, and malloc.
class kept_memory {
 public:
  static constexpr std::size_t first_power = 12, last_power = 20;
  /// Memory for less or more bytes is left to malloc: it keeps smaller blocks itself.
  static constexpr std::size_t smallest = std::size_t{1} << first_power;
  static constexpr std::size_t largest = std::size_t{1} << last_power;
  static constexpr std::size_t bytes_max = std::size_t{8} << 20;

  /// `head_bytes`: of each block, in front of the bytes that are asked for.
  constexpr explicit kept_memory(std::size_t head_bytes) noexcept : head_bytes_(head_bytes) {}
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;

  /// A head and so many bytes behind it, aligned as by malloc. Null: out of memory.
  [[nodiscard]] void* take(std::size_t bytes) noexcept;
  /// The same number of bytes as in `take`.
  void give_back(void* memory, std::size_t bytes) noexcept;
  /// Frees what is kept. An object that ends before the process does needs this as its last call.
  void clear() noexcept;

 private:
  struct block;
  static constexpr bool keeps(std::size_t bytes) noexcept {
    return bytes >= smallest && bytes <= largest;
  }
  static constexpr std::size_t power_of(std::size_t bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width(bytes - 1));
  }

  [[nodiscard]] block* take_kept(std::size_t power) noexcept;
  [[nodiscard]] bool keep(block& one, std::size_t power) noexcept;

  const std::size_t head_bytes_;
  base::spinlock lock_;
  std::array<block*, last_power - first_power + 1> blocks_ HEADWAY_GUARDED_BY(lock_){};
  std::size_t bytes_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::messages

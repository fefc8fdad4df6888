#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace headway::collectives {

/// Memory that is taken piece by piece and freed all at once.
/// Shape:    pieces start on cache lines and never move. What one use took is one piece for the
///           next use, because page faults in new memory cost more than a transfer through it. An
///           arena keeps up to 64 KiB, and more only while all arenas of the process together keep
///           at most 64 MiB.
/// Threads:  one at a time.
/// Errors:   throws std::bad_alloc.
class arena {
 public:
  arena() = default;
  ~arena() { keep(0); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  [[nodiscard]] std::byte* take(std::int64_t bytes) {
    HEADWAY_DEBUG_ASSERT(bytes >= 0);
    const auto wanted = (static_cast<std::size_t>(bytes) + line - 1) / line * line;
    if (chunks_.empty() || wanted > chunks_.back().bytes - used_) grow(wanted);
    std::byte* piece = chunks_.back().memory.get() + used_;
    used_ += wanted;
    return piece;
  }

  void clear() noexcept {
    used_ = 0;
    if (chunks_.size() > 1) {
      last_time_ = 0;
      for (const chunk& c : chunks_) last_time_ += c.bytes;
      chunks_.clear();
    }
    if (!keep(chunks_.empty() ? 0 : chunks_.front().bytes)) chunks_.clear();
  }
  /// Bytes of this arena that count towards the limit of all.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::size_t chunk_bytes = 4096;
  static constexpr std::size_t always_kept_max = 64 * 1024;
  static constexpr std::size_t kept_by_all_max = 64 * 1024 * 1024;

  struct free_line {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{line}); }
  };
  struct chunk {
    std::unique_ptr<std::byte, free_line> memory;
    std::size_t bytes;
  };

  void grow(std::size_t wanted) {
    const auto bytes = std::max({wanted, chunk_bytes, std::exchange(last_time_, 0)});
    chunks_.push_back({std::unique_ptr<std::byte, free_line>(
                           static_cast<std::byte*>(::operator new(bytes, std::align_val_t{line}))),
                       bytes});
    used_ = 0;
  }

  /// Counts what is kept from now on. False: all arenas together keep too much.
  bool keep(std::size_t bytes) noexcept {
    if (kept_ != 0) kept_by_all.fetch_sub(kept_, std::memory_order_relaxed);
    kept_ = 0;
    if (bytes <= always_kept_max) return true;
    if (kept_by_all.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kept_by_all_max) {
      kept_ = bytes;
      return true;
    }
    kept_by_all.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }

  /// Relaxed: a counter, which publishes nothing.
  static inline std::atomic<std::size_t> kept_by_all{0};

  std::vector<chunk> chunks_;
  std::size_t used_ = 0;       // of the last chunk
  std::size_t last_time_ = 0;  // bytes, if they were in several chunks
  std::size_t kept_ = 0;       // bytes of this arena in `kept_by_all`
};

}  // namespace headway::collectives

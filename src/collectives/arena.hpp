#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace headway::collectives {

/// Memory that is taken piece by piece and given back all at once.
/// Shape:    pieces start on cache lines and never move; one chunk stays when it is emptied.
/// Threads:  one at a time.
/// Errors:   throws std::bad_alloc.
class arena {
 public:
  [[nodiscard]] std::byte* take(std::int64_t bytes) {
    const auto wanted = (static_cast<std::size_t>(bytes) + line - 1) / line * line;
    if (chunks_.empty() || wanted > chunks_.back().bytes - used_) grow(wanted);
    std::byte* piece = chunks_.back().memory.get() + used_;
    used_ += wanted;
    return piece;
  }

  void clear() noexcept {
    used_ = 0;
    while (chunks_.size() > 1) {
      if (chunks_.back().bytes <= kept_bytes_max) std::swap(chunks_.front(), chunks_.back());
      chunks_.pop_back();
    }
    if (!chunks_.empty() && chunks_.front().bytes > kept_bytes_max) chunks_.clear();
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::size_t chunk_bytes = 4096;
  static constexpr std::size_t kept_bytes_max = 64 * 1024;

  struct free_line {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t{line}); }
  };
  struct chunk {
    std::unique_ptr<std::byte, free_line> memory;
    std::size_t bytes;
  };

  void grow(std::size_t wanted) {
    const auto bytes = wanted > chunk_bytes ? wanted : chunk_bytes;
    chunks_.push_back({std::unique_ptr<std::byte, free_line>(
                           static_cast<std::byte*>(::operator new(bytes, std::align_val_t{line}))),
                       bytes});
    used_ = 0;
  }

  std::vector<chunk> chunks_;
  std::size_t used_ = 0;  // of the last chunk
};

}  // namespace headway::collectives

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.hpp"
#include "endpoints/wire/remote_process.hpp"

namespace headway::endpoints {

/// The state that this process keeps for the others of its job, by rank.
/// Shape:    allocated for sixteen at a time, on the first use of one of them; until then half a
///           byte each.
/// Threads:  any. `each` sees all that were made before it.
class remote_processes {
  // Hazard: a block is used before it is constructed. Edge: (M) release in `make` -> acquire.
 public:
  explicit remote_processes(std::uint32_t count)
      : count_(count),
        blocks_(std::make_unique<std::atomic<block*>[]>((count + block_size - 1) / block_size)) {}
  ~remote_processes() {
    for (std::uint32_t b = 0; b * block_size < count_; ++b)
      delete blocks_[b].load(std::memory_order_relaxed);
  }
  remote_processes(const remote_processes&) = delete;
  remote_processes& operator=(const remote_processes&) = delete;

  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] remote_process& operator[](std::uint32_t rank) noexcept {
    HEADWAY_DEBUG_ASSERT(rank < count_);
    block* of = blocks_[rank / block_size].load(std::memory_order_acquire);  // (M)
    if (!of) [[unlikely]]
      of = &make(rank / block_size);
    return (*of)[rank % block_size];
  }
  /// Calls `visit(rank, process)` for those that are made.
  template <class Visit>
  void each(Visit&& visit) {
    for (std::uint32_t rank = 0; rank < count_; ++rank)
      if (block* of = blocks_[rank / block_size].load(std::memory_order_acquire))  // (M)
        visit(rank, (*of)[rank % block_size]);
  }

 private:
  static constexpr std::uint32_t block_size = 16;
  using block = std::array<remote_process, block_size>;

  /// Cold. If two threads make the same block, one wins.
  [[gnu::noinline]] block& make(std::uint32_t at) noexcept {
    auto made = std::make_unique<block>();
    block* there = nullptr;
    if (blocks_[at].compare_exchange_strong(there, made.get(), std::memory_order_acq_rel))  // (M)
      return *made.release();
    return *there;
  }

  const std::uint32_t count_;
  const std::unique_ptr<std::atomic<block*>[]> blocks_;
};

}  // namespace headway::endpoints

#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/buffers/arrival_reserve.hpp"
#include "endpoints/buffers/checks.hpp"
#include "endpoints/buffers/region.hpp"

namespace headway::endpoints {

struct pool_options {
  std::uint32_t process = 0;
  std::uint64_t job = 0;
  std::size_t bytes_max = std::size_t{1} << 30;  ///< of the first half of the region
  bool checks = false;  ///< detect writes to buffers in flight and after release
};

/// Allocates blocks of this process's region, in classes of powers of two: from its first half, and
/// for messages that arrive from the second half, too (arrival_reserve).
///
/// Shape:    classes from 64 bytes up. A block never changes its class, so memory is kept for the
///           largest number ever in use. When the memory is used up, a request gets a larger block
///           if one is free. The first request makes the region.
/// Threads:  every function any thread. Each thread caches a few free blocks; a thread that ends
///           leaves them to the next one that starts or needs them.
/// Progress: waits for nothing but a spinlock over a list; makes blocks when it grows.
/// Errors:   nullptr if the request cannot be met; the cause is logged.
class block_allocator {
  // Hazard: a thread sees a half-made region. Edge: (O) release -> acquire.
 public:
  explicit block_allocator(const pool_options& options);
  ~block_allocator();
  block_allocator(const block_allocator&) = delete;
  block_allocator& operator=(const block_allocator&) = delete;

  /// Makes the region, if there is none yet. False: the kernel refuses it.
  [[nodiscard]] bool open();
  /// The region, or nullptr before `open`.
  [[nodiscard]] region* own() const noexcept {
    return own_.load(std::memory_order_acquire);
  }  // (O)

  /// A block of at least `bytes`, held by this process.
  [[nodiscard, gnu::hot]] block* take(std::size_t bytes) noexcept;
  /// The same for a message that has arrived: if there is none, from the reserve.
  [[nodiscard]] block* take_for_arrival(std::size_t bytes) noexcept {
    block* b = take(bytes);
    return b ? b : take_from_reserve(bytes);
  }
  /// The most bytes of a message for which there can be a block.
  [[nodiscard]] std::size_t arrival_bytes_max() const noexcept {
    return std::size_t{1} << reserve_.largest_class();
  }
  /// Puts back `b`, which is of this region and free, and which no other thread can access.
  void put(block& b) noexcept;
  /// Puts back those of all blocks ever made for which `freed` returns that they have become free.
  template <class Freed>
  void put_back_if(Freed freed);

  /// Memory taken so far, bytes.
  [[nodiscard]] std::size_t bytes_taken() const noexcept;
  /// Whether another allocator of this process owns the memory at `data`.
  [[nodiscard]] bool belongs_to_another(const void* data) const noexcept;
  [[nodiscard]] const pool_options& options() const noexcept { return options_; }
  void poison(block& b) const noexcept {
    if (options_.checks) [[unlikely]]
      fill_with_poison(b);
  }

 private:
  /// How many free blocks a thread caches.
  static constexpr std::uint32_t cached_max(unsigned size_class) noexcept {
    return size_class <= 12 ? 64 : size_class <= 16 ? 16 : size_class <= 20 ? 8 : 2;
  }
  struct list {  // of free blocks, linked by `next`
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };
  /// Free blocks in no thread's cache: whole lists that threads released, which another thread
  /// takes without touching their blocks; and single blocks that came back from other processes.
  struct spares {
    std::uint64_t lists = 0;  // place of the first block of the last released list
    list single;
  };
  struct cache {
    std::uint64_t thread = 0;  // 0: its thread has ended; under block_allocator::lock_
    std::array<list, block::class_max + 1> free;
  };
  /// This thread's cache in the allocator that it used last.
  struct current_cache {
    std::uint64_t allocator_serial;  // 0: none
    cache* own;
  };
  static inline thread_local constinit current_cache current{};
  struct run {  // of blocks that were made together
    std::uint64_t place;
    std::uint64_t stride;
    std::uint32_t count;
  };
  struct thread_end;

  [[nodiscard]] static constexpr unsigned class_of(std::size_t bytes) noexcept {
    return bytes <= std::size_t{1} << block::class_min
               ? block::class_min
               : static_cast<unsigned>(std::bit_width(bytes - 1));
  }
  [[nodiscard]] block* hand_out(block& b) const noexcept {
    b.state.store(block::held, std::memory_order_relaxed);  // no other thread can access it
    b.holder.store(options_.process, std::memory_order_relaxed);
    b.lent_to.store(block::nobody, std::memory_order_relaxed);
    return &b;
  }
  [[nodiscard]] cache& own_cache() noexcept {
    return current.allocator_serial == serial_ ? *current.own : adopt_cache();
  }
  [[nodiscard, gnu::noinline]] cache& adopt_cache() noexcept;
  [[nodiscard, gnu::noinline]] block* take_after_refill(list& mine, unsigned size_class) noexcept;
  [[nodiscard, gnu::cold]] block* take_from_reserve(std::size_t bytes) noexcept;
  [[gnu::noinline]] void give_up_surplus(list& mine, unsigned size_class) noexcept;
  void refill(list& into, unsigned size_class) noexcept;
  void take_from_ended(list& into, unsigned size_class) noexcept HEADWAY_REQUIRES(lock_);
  void take_returned() noexcept HEADWAY_REQUIRES(lock_);
  void make_blocks(list& into, unsigned size_class) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] list cut(list& from, std::uint32_t count) noexcept;
  void put_list(spares& to, const list& what) noexcept;
  [[nodiscard]] list take_list(spares& from) noexcept;
  /// True: the block that should be a free one of `of` is damaged; then all of `of` is abandoned.
  [[nodiscard]] bool damaged(const block* b, list& of) noexcept {
    if (b && b->state.load(std::memory_order_relaxed) == block::free_state) [[likely]]
      return false;
    give_up(of);
    return true;
  }
  [[gnu::noinline]] static void give_up(list& damaged) noexcept;
  static void push(list& to, block& b) noexcept {
    b.next = to.first;
    to.first = b.place;
    ++to.count;
  }
  [[nodiscard]] block* pop(list& from) noexcept;
  /// For a caller that has a block, and so has synchronised with the region's edge already.
  [[nodiscard]] region& known() const noexcept { return *own_.load(std::memory_order_relaxed); }

  const pool_options options_;
  const std::uint64_t reserve_begin_;  // the place where the second half of the region begins
  const std::uint64_t serial_;         // identifies allocators of one process
  std::atomic<region*> own_{nullptr};

  base::mutex opening_;  // cold
  std::unique_ptr<region> made_ HEADWAY_GUARDED_BY(opening_);

  arrival_reserve reserve_;

  mutable base::spinlock lock_;
  std::array<spares, block::class_max + 1> spare_ HEADWAY_GUARDED_BY(lock_);
  std::vector<run> runs_ HEADWAY_GUARDED_BY(lock_);
  std::uint64_t taken_ HEADWAY_GUARDED_BY(lock_) = region::first_place;
  std::vector<std::unique_ptr<cache>> caches_ HEADWAY_GUARDED_BY(lock_);
  list returned_to_reserve_ HEADWAY_GUARDED_BY(lock_);
  bool exhausted_ HEADWAY_GUARDED_BY(lock_) = false;  // logged once
};

// Inline, because every message uses this four times: a thread takes from its own cache and puts
// back there; another check or call would cost a tenth of that.

inline block* block_allocator::pop(list& from) noexcept {
  if (from.first == 0) return nullptr;
  region& own = known();
  block* b = own.intact(from.first);
  if (damaged(b, from)) return nullptr;
  from.first = b->next;
  --from.count;
  if (from.first == 0) return b;
  // The next request's block may still be in the cache of the processor that released it.
  const auto* following = reinterpret_cast<const std::byte*>(own.at(from.first));
  __builtin_prefetch(following, 1);
  __builtin_prefetch(following + block::waits_offset, 1);
  __builtin_prefetch(following + sizeof(block), 1);
  return b;
}

inline block* block_allocator::take(std::size_t bytes) noexcept {
  const auto size_class = class_of(bytes);
  if (size_class > block::class_max) return nullptr;
  list& mine = own_cache().free[size_class];
  block* b = pop(mine);
  if (!b) [[unlikely]] {
    b = take_after_refill(mine, size_class);
    if (!b) return nullptr;
  }
  if (options_.checks) [[unlikely]]
    check_poison(*b);
  return hand_out(*b);
}

inline void block_allocator::put(block& b) noexcept {
  if (b.place >= reserve_begin_) [[unlikely]]
    return reserve_.put(b);
  poison(b);
  list& mine = own_cache().free[b.size_class];
  push(mine, b);
  if (mine.count > cached_max(b.size_class)) [[unlikely]]
    give_up_surplus(mine, b.size_class);
}

template <class Freed>
void block_allocator::put_back_if(Freed freed) {
  std::vector<block*> all;
  {
    const base::lock_guard held(lock_);
    for (const run& r : runs_)
      for (std::uint32_t i = 0; i < r.count; ++i) {
        block& b = *known().at(r.place + i * r.stride);
        if (freed(b)) all.push_back(&b);
      }
  }
  reserve_.each([&](std::uint64_t place) {
    if (block& b = *known().at(place); freed(b)) all.push_back(&b);
  });
  for (block* b : all) put(*b);
}

}  // namespace headway::endpoints

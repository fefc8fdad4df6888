#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"

namespace headway::packets {

class peer_state;

/// The peers by number; null for those that were never used.
/// Shape:    grows by doubling. A peer that was never used costs at most 32 bytes: its pointer, and
///           those in earlier, smaller arrays, which are kept until the end because readers may
///           still use them.
/// Threads:  `find` any thread; `put` one thread at a time; both may run at the same time.
class peer_table {
  // Hazards, and the edge that removes each:
  //   a half-made peer, or array, is seen        (P) release -> (F) acquire
  // `put` runs while `find` reads the old array: `find` returns null, and its caller searches again
  // under the lock of `put`.
 public:
  [[nodiscard]] peer_state* find(std::uint32_t number) const noexcept {
    const array* now = now_.load(std::memory_order_acquire);  // (F)
    if (!now || number >= now->count) return nullptr;
    return now->entries[number].load(std::memory_order_acquire);  // (F)
  }
  void put(std::uint32_t number, peer_state& made) {
    array* now = now_.load(std::memory_order_relaxed);  // relaxed: one thread at a time writes it
    if (!now || number >= now->count) now = &grow(number);
    // Relaxed, as above. A peer is made once.
    HEADWAY_ASSERT(!now->entries[number].load(std::memory_order_relaxed));
    now->entries[number].store(&made, std::memory_order_release);  // (P)
  }

 private:
  struct array {
    explicit array(std::size_t n) : count(n), entries(new std::atomic<peer_state*>[n]()) {}
    const std::size_t count;
    const std::unique_ptr<std::atomic<peer_state*>[]> entries;
  };

  array& grow(std::uint32_t number) {
    constexpr std::size_t first_count = 16;
    const array* old = all_.empty() ? nullptr : all_.back().get();
    std::size_t count = old ? 2 * old->count : first_count;
    while (count <= number) count *= 2;
    auto& made = *all_.emplace_back(std::make_unique<array>(count));
    for (std::size_t i = 0; old && i < old->count; ++i)
      made.entries[i].store(old->entries[i].load(std::memory_order_relaxed),  // (P) follows
                            std::memory_order_relaxed);
    now_.store(&made, std::memory_order_release);  // (P)
    return made;
  }

  std::atomic<array*> now_{nullptr};
  std::vector<std::unique_ptr<array>> all_;
};

}  // namespace headway::packets

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::endpoints {

// The id of an end-point consists of a slot and how often that was used: it changes with each use.
inline constexpr unsigned slot_bits = 20;
inline constexpr std::uint32_t slots_max = 1u << slot_bits;
inline constexpr std::uint32_t laps = 1u << (32 - slot_bits);
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint32_t id) noexcept {
  return id & (slots_max - 1);
}
/// Whether `a` is the later one of two uses of one slot. They repeat after 4095 uses.
[[nodiscard]] constexpr bool later_lap(std::uint32_t a, std::uint32_t b) noexcept {
  return ((a >> slot_bits) + (laps - 1) - (b >> slot_bits)) % (laps - 1) < laps / 2;
}

/// Objects by slot, in pages that are made when first needed and never freed.
/// Shape:    `page_slots` objects at once; an object is never freed or moved, only reused.
/// Threads:  any.
/// Progress: `find` never waits; `at` allocates each page once.
template <class T, std::uint32_t slots_a_page>
class slot_pages {
  // Hazard: an object of a page is used before it is made. Edge: (P) release -> (Q) acquire.
 public:
  static constexpr std::uint32_t page_slots = slots_a_page;
  ~slot_pages() {
    for (auto& p : pages_) delete p.load(std::memory_order_relaxed);  // no other thread is left
  }
  [[nodiscard]] T* find(std::uint32_t slot) noexcept {
    page* p = pages_[slot / page_slots].load(std::memory_order_acquire);  // (Q)
    return p ? &(*p)[slot % page_slots] : nullptr;
  }
  [[nodiscard]] T& at(std::uint32_t slot) {
    auto& where = pages_[slot / page_slots];
    page* p = where.load(std::memory_order_acquire);  // (Q)
    if (!p) {
      auto fresh = std::make_unique<page>();
      if (where.compare_exchange_strong(p, fresh.get(), std::memory_order_release,  // (P)
                                        std::memory_order_acquire))                 // (Q)
        p = fresh.release();
    }
    return (*p)[slot % page_slots];
  }

 private:
  using page = std::array<T, page_slots>;
  std::array<std::atomic<page*>, slots_max / page_slots> pages_{};
};

/// Assigns ids. A slot is reused as late as possible, so that an old id names no end-point for a
/// long time: at least `rest_min` times 4095 uses.
/// Threads:  any.
class slot_ids {
 public:
  /// 0: none is left.
  [[nodiscard]] std::uint32_t take() {
    const base::lock_guard guard(lock_);
    if (resting_.size() < rest_min && next_ < slots_max) return 1u << slot_bits | next_++;
    if (resting_.empty()) return 0;
    const std::uint32_t id = resting_.front();
    resting_.pop_front();
    return id;
  }
  void give_back(std::uint32_t id) {
    HEADWAY_ASSERT(id >> slot_bits != 0);
    const std::uint32_t lap = (id >> slot_bits) % (laps - 1) + 1;  // 1 to laps - 1: never 0
    const base::lock_guard guard(lock_);
    resting_.push_back(lap << slot_bits | slot_of(id));
  }

 private:
  static constexpr std::size_t rest_min = 64;
  base::mutex lock_;  // cold; what it guards allocates
  std::deque<std::uint32_t> resting_ HEADWAY_GUARDED_BY(lock_);
  std::uint32_t next_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::endpoints

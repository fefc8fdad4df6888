#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/spinlock.hpp"

namespace headway::base {

/// Gives objects 31-bit ids that can be sent to other processes. An id that comes back is not
/// trusted: one that was released, or never given, finds nothing.
/// Shape:    at most 2^20 objects at once; never shrinks; a slot's ids repeat after 2047 uses.
/// Threads:  any.
/// Progress: a short spinlock; `insert` allocates, outside the lock, when the table grows.
template <class T>
class id_table {
 public:
  /// The object's id, never 0.
  [[nodiscard]] std::uint32_t insert(T& object) {
    return insert(object, [](std::uint32_t) {});
  }

  /// The same; `note(id)` runs under the lock, before another thread can find the object.
  template <class Note>
  std::uint32_t insert(T& object, Note note) {
    for (;;) {
      std::size_t full = 0;
      {
        const base::lock_guard guard(lock_);
        full = slots_.capacity();
        if (!free_.empty() || slots_.size() < full) return insert_free(object, note);
      }
      grow(full);
    }
  }

  /// The object with this id, or nullptr.
  [[nodiscard]] T* find(std::uint32_t id) noexcept {
    const base::lock_guard guard(lock_);
    slot* s = slot_of(id);
    return s ? s->object : nullptr;
  }

  /// The same, and frees the id: only one of several callers gets the object.
  [[nodiscard]] T* take(std::uint32_t id) noexcept {
    const base::lock_guard guard(lock_);
    slot* s = slot_of(id);
    return s ? release(*s) : nullptr;
  }

  /// The same if `wanted(object)`, called under the lock, is true.
  template <class Wanted>
  T* take_if(std::uint32_t id, Wanted wanted) noexcept {
    const base::lock_guard guard(lock_);
    slot* s = slot_of(id);
    return s && wanted(*s->object) ? release(*s) : nullptr;
  }

  /// Takes one object for which `wanted(object)` holds, or nullptr.
  template <class Wanted>
  [[nodiscard]] T* take_if(Wanted wanted) noexcept {
    const base::lock_guard guard(lock_);
    for (slot& s : slots_)
      if (s.object && wanted(*s.object)) return release(s);
    return nullptr;
  }

 private:
  static constexpr unsigned index_bits = 20;
  static constexpr std::uint32_t lap_max = (1u << (31 - index_bits)) - 1;

  struct slot {
    T* object = nullptr;
    std::uint32_t lap = 0;
  };

  template <class Note>
  std::uint32_t insert_free(T& object, Note note) HEADWAY_REQUIRES(lock_) {
    if (free_.empty()) {
      HEADWAY_ASSERT(slots_.size() < std::size_t{1} << index_bits);
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back({});
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slot& s = slots_[index];
    s.object = &object;
    s.lap = s.lap % lap_max + 1;
    const std::uint32_t id = s.lap << index_bits | index;
    note(id);
    return id;
  }

  /// Doubles the capacity, if it is still `full`. Allocates and frees without the lock.
  void grow(std::size_t full) HEADWAY_EXCLUDES(lock_) {
    const std::size_t capacity = full < 32 ? 64 : 2 * full;
    std::vector<slot> slots;
    std::vector<std::uint32_t> free;  // room for every slot: `release` never allocates
    slots.reserve(capacity);
    free.reserve(capacity);
    const base::lock_guard guard(lock_);
    if (slots_.capacity() != full) return;
    slots.assign(slots_.begin(), slots_.end());
    free.assign(free_.begin(), free_.end());
    slots_.swap(slots);
    free_.swap(free);
  }

  slot* slot_of(std::uint32_t id) noexcept HEADWAY_REQUIRES(lock_) {
    const std::uint32_t index = id & ((1u << index_bits) - 1);
    if (index >= slots_.size()) return nullptr;
    slot& s = slots_[index];
    return s.object && s.lap == id >> index_bits ? &s : nullptr;
  }
  T* release(slot& s) noexcept HEADWAY_REQUIRES(lock_) {
    T* object = s.object;
    s.object = nullptr;
    free_.push_back(static_cast<std::uint32_t>(&s - slots_.data()));
    return object;
  }

  base::spinlock lock_;
  std::vector<slot> slots_ HEADWAY_GUARDED_BY(lock_);
  std::vector<std::uint32_t> free_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::base

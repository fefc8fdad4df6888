#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/spinlock.hpp"

namespace headway::base {

/// Gives objects short numbers that may travel: a number that was taken back, or never given, finds
/// nothing, because bytes from outside are not trusted.
/// Shape:    grows to the most objects at once and stays; 2^20 at once; a slot's numbers repeat
///           after 2047 uses. Numbers have `top` as their highest bit: two tables whose numbers
///           meet differ in it.
/// Threads:  any.
/// Progress: a short spinlock; allocates when it grows.
template <class T, std::uint32_t top = 0>
class id_table {
 public:
  /// Never 0.
  [[nodiscard]] std::uint32_t insert(T& object) {
    return insert(object, [](std::uint32_t) {});
  }

  /// The same; `note(number)` runs before anybody can find the object by it, and calls nobody.
  template <class Note>
  std::uint32_t insert(T& object, Note note) {
    const std::lock_guard guard(lock_);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back({});
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slot& s = slots_[index];
    s.object = &object;
    s.lap = s.lap % lap_max + 1;
    const std::uint32_t id = top << 31 | s.lap << index_bits | index;
    note(id);
    return id;
  }

  /// The object of this number, or nullptr.
  [[nodiscard]] T* find(std::uint32_t id) noexcept {
    const std::lock_guard guard(lock_);
    slot* s = slot_of(id);
    return s ? s->object : nullptr;
  }

  /// The same, and frees the number: of several callers only one gets it.
  [[nodiscard]] T* take(std::uint32_t id) noexcept {
    const std::lock_guard guard(lock_);
    slot* s = slot_of(id);
    return s ? release(*s) : nullptr;
  }

  /// Takes one object for which `wanted(object)` holds, or nullptr.
  template <class Wanted>
  [[nodiscard]] T* take_if(Wanted wanted) noexcept {
    const std::lock_guard guard(lock_);
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

  slot* slot_of(std::uint32_t id) noexcept {
    const std::uint32_t index = id & ((1u << index_bits) - 1);
    if (index >= slots_.size()) return nullptr;
    slot& s = slots_[index];
    return s.object && (top << 11 | s.lap) == id >> index_bits ? &s : nullptr;
  }
  T* release(slot& s) noexcept {
    T* object = s.object;
    s.object = nullptr;
    free_.push_back(static_cast<std::uint32_t>(&s - slots_.data()));
    return object;
  }

  base::spinlock lock_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace headway::base

#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/objects/object.hpp"

namespace headway::mpi {

/// The memory of objects with handles. It is reused but never returned to the system, so that the
/// stamp of a freed handle can be read.
///
/// Shape:    chunks of `chunk_places` places, each a multiple of 64 bytes. The place that was freed
///           first is reused first, so that stale handles are detected for a long time.
/// Threads:  any; a short lock. Message requests have a cache per thread in front of it.
/// Errors:   std::bad_alloc from `make`. Constructors of T do not throw anything else.
template <class T>
class pool {
  static_assert(std::is_base_of_v<object, T>);

  struct dead final : object {
    dead* next = nullptr;
  };
  /// Types with a member type `searched` are constructed and destroyed under the lock, for
  /// `for_each`.
  static constexpr bool is_searched = requires { typename T::searched; };
  static constexpr std::size_t chunk_places = 32;
  static constexpr std::size_t place_bytes =
      ((sizeof(T) > sizeof(dead) ? sizeof(T) : sizeof(dead)) + object_alignment - 1) /
      object_alignment * object_alignment;

 public:
  /// The pool of all objects of this type; never destroyed.
  static pool& all() {
    static auto* const made = new pool;
    return *made;
  }

  template <class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    if constexpr (is_searched) {
      const base::lock_guard held(lock_);
      return build(take(), std::forward<Args>(args)...);
    } else {
      return build(lock_and_take(), std::forward<Args>(args)...);
    }
  }

  void drop(T* what) noexcept {
    if constexpr (is_searched) {
      const base::lock_guard held(lock_);
      append(destroy(what));
    } else {
      dead* place = destroy(what);
      const base::lock_guard held(lock_);
      append(place);
    }
  }

  /// Calls `each(object&)` for every live object, with the lock held. Objects that other threads
  /// make at the same time may be missed.
  template <class Each>
    requires is_searched
  void for_each(Each&& each) {
    const base::lock_guard held(lock_);
    for (std::byte* chunk : chunks_) {
      for (std::size_t i = 0; i < chunk_places; ++i) {
        auto* at = std::launder(reinterpret_cast<object*>(chunk + i * place_bytes));
        if (at->kind() == T::object_kind_of) each(static_cast<T&>(*at));
      }
    }
  }

 private:
  static std::uintptr_t next_bits(const dead& place) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(&place);
    return address | ((place.bits() + 1) % object_alignment);
  }

  template <class... Args>
  static T* build(dead* place, Args&&... args) {
    const std::uintptr_t bits = next_bits(*place);
    const auto in_numbers = place->place();
    place->~dead();
    T* made = new (static_cast<void*>(place)) T(std::forward<Args>(args)...);
    made->keep_place(in_numbers);
    made->become(T::object_kind_of, bits);
    return made;
  }

  static dead* destroy(T* what) noexcept {
    const std::uintptr_t bits = what->bits();
    const auto in_numbers = what->place();
    what->~T();
    auto* place = new (static_cast<void*>(what)) dead;
    place->keep_place(in_numbers);
    place->become(object_kind::none, bits);
    return place;
  }

  dead* lock_and_take() {
    const base::lock_guard held(lock_);
    return take();
  }

  dead* take() HEADWAY_REQUIRES(lock_) {
    if (first_ == nullptr) grow();
    dead* place = first_;
    first_ = place->next;
    if (first_ == nullptr) last_ = nullptr;
    return place;
  }

  void append(dead* place) noexcept HEADWAY_REQUIRES(lock_) {
    place->next = nullptr;
    (last_ ? last_->next : first_) = place;
    last_ = place;
  }

  void grow() HEADWAY_REQUIRES(lock_) {
    auto* chunk = static_cast<std::byte*>(
        ::operator new(chunk_places * place_bytes, std::align_val_t{object_alignment}));
    chunks_.push_back(chunk);
    for (std::size_t i = 0; i < chunk_places; ++i) {
      append(new (static_cast<void*>(chunk + i * place_bytes)) dead);
    }
  }

  base::spinlock lock_;
  dead* first_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  dead* last_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  std::vector<std::byte*> chunks_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::mpi

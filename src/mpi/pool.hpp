#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/spinlock.hpp"
#include "mpi/object.hpp"

namespace headway::mpi {

/// Where objects with handles live: places that are reused, never given back, so that looking at a
/// freed handle is safe and finds it freed.
///
/// Shape:    chunks of `chunk_places` places, each a multiple of 64 bytes; the place that was freed
///           first is used first, which makes stale handles easier to catch.
/// Threads:  any; a short lock. Requests, which come per message, have a cache per thread over it.
/// Errors:   std::bad_alloc from `make`. Constructors of T do not throw anything else.
template <class T>
class pool {
  static_assert(std::is_base_of_v<object, T>);

  struct dead final : object {
    dead* next = nullptr;
  };
  /// Types that `for_each` may look through say so: they are made and dropped under the lock.
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
      const std::scoped_lock held(lock_);
      return build(take(), std::forward<Args>(args)...);
    } else {
      std::unique_lock held(lock_);
      dead* place = take();
      held.unlock();
      return build(place, std::forward<Args>(args)...);
    }
  }

  void drop(T* what) noexcept {
    forget_number(*what);
    std::unique_lock held(lock_, std::defer_lock);
    if constexpr (is_searched) held.lock();
    const std::uintptr_t bits = what->bits();
    what->~T();
    auto* place = new (static_cast<void*>(what)) dead;
    place->become(object_kind::none, bits);
    if constexpr (!is_searched) held.lock();
    append(place);
  }

  /// Calls `each(object&)` for every live object. Control plane: holds the lock meanwhile, and sees
  /// objects that other threads make at the same time or not.
  template <class Each>
    requires is_searched
  void for_each(Each&& each) {
    const std::scoped_lock held(lock_);
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

  // The rest: with the lock held, `build` only where `is_searched`.
  template <class... Args>
  T* build(dead* place, Args&&... args) {
    const std::uintptr_t bits = next_bits(*place);
    place->~dead();
    T* made = new (static_cast<void*>(place)) T(std::forward<Args>(args)...);
    made->become(T::object_kind_of, bits);
    return made;
  }

  dead* take() {
    if (first_ == nullptr) grow();
    dead* place = first_;
    first_ = place->next;
    if (first_ == nullptr) last_ = nullptr;
    return place;
  }

  void append(dead* place) noexcept {
    place->next = nullptr;
    (last_ ? last_->next : first_) = place;
    last_ = place;
  }

  void grow() {
    auto* chunk = static_cast<std::byte*>(
        ::operator new(chunk_places * place_bytes, std::align_val_t{object_alignment}));
    chunks_.push_back(chunk);
    for (std::size_t i = 0; i < chunk_places; ++i) {
      append(new (static_cast<void*>(chunk + i * place_bytes)) dead);
    }
  }

  base::spinlock lock_;
  dead* first_ = nullptr;
  dead* last_ = nullptr;
  std::vector<std::byte*> chunks_;
};

}  // namespace headway::mpi

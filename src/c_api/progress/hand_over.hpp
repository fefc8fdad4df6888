#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress_api {

/// A slot that hands one object at a time from any thread to one serving thread.
/// Shape:    two words; an object's address is a multiple of four.
/// Threads:  `reserve`, `unreserve`, `send` any; `take` and `served` the serving thread; `open`
///           once, when that thread runs; `close` once, while the slot is free.
/// Progress: never waits; the serving thread sleeps on the futex word `bell` while that is `rings`.
/// Errors:   none; "not free" is an ordinary answer.
template <class T, template <class> class Atomic = base::atomic>
class basic_hand_over {
  // slot_: shut -> free -> reserved (V) -> the object (S) -> free (V') -> …; at the end closed.
  // Hazards, and the edge that removes each:
  //   two objects at a time                  one compare-exchange (V) wins the slot
  //   object seen half-written               (S) release -> (S) acquire
  //   the served object's changes not seen   (V') release -> (V) acquire
  //     by the next sender
  //   sent between the serving thread's      `take` reads the bell (B) before the slot; `put`
  //     read of the slot and its sleep       changes the bell (B) after the slot (S), so that the
  //                                          futex's comparison fails
  // Checked by: tests/model/hand_over_model.cpp.
 public:
  void open() noexcept { slot_.store(free, std::memory_order_release); }
  [[nodiscard]] bool reserve() noexcept {
    auto expected = free;
    return slot_.load(std::memory_order_relaxed) == free &&  // a hint, saves the exchange
           slot_.compare_exchange_strong(expected, reserved, std::memory_order_acquire,  // (V)
                                         std::memory_order_relaxed);
  }
  void unreserve() noexcept { slot_.store(free, std::memory_order_release); }  // (V')
  /// Puts the object into the reserved slot. The caller then wakes one sleeper of `bell`.
  void send(T& object) noexcept { put(reinterpret_cast<std::uintptr_t>(&object)); }
  void close() noexcept { put(closed); }

  struct taken {
    T* object = nullptr;  ///< null: no object was sent
    bool over = false;    ///< the slot was closed
    std::uint32_t rings = 0;
  };
  [[nodiscard]] taken take() noexcept {
    const auto rings = bell_.load(std::memory_order_acquire);  // (B)
    const auto what = slot_.load(std::memory_order_acquire);   // (S)
    if (what == closed) return {nullptr, true, rings};
    return {what > shut ? reinterpret_cast<T*>(what) : nullptr, false, rings};
  }
  void served() noexcept { slot_.store(free, std::memory_order_release); }  // (V')
  [[nodiscard]] Atomic<std::uint32_t>& bell() noexcept { return bell_; }

 private:
  static constexpr std::uintptr_t free = 0, reserved = 1, closed = 2, shut = 3;
  void put(std::uintptr_t what) noexcept {
    slot_.store(what, std::memory_order_release);   // (S)
    bell_.fetch_add(1, std::memory_order_release);  // (B)
  }
  Atomic<std::uintptr_t> slot_{shut};
  Atomic<std::uint32_t> bell_{0};
};

}  // namespace headway::progress_api

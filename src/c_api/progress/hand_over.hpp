#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace headway::progress_api {

/// Hands one object at a time to the one thread that serves them, and wakes that thread.
/// Shape:    two words; an object's address is a multiple of four.
/// Threads:  `reserve`, `unreserve`, `send` any; `take` and `served` the serving thread; `open`
///           once, when that thread runs; `close` once, while the slot is free.
/// Progress: never waits; the serving thread sleeps by itself, on `bell` while it holds `rings`.
/// Errors:   none; "not free" is an ordinary answer.
template <class T, template <class> class Atomic = base::atomic>
class basic_hand_over {
  // slot_: shut -> free -> reserved (V) -> the object (S) -> free (V') …, and at the end closed.
  // Hazards, and the edge that removes each:
  //   sent to a thread that serves another   one compare-exchange (V) wins the slot
  //   object seen half-written               (S) release -> (S) acquire
  //   what serving did is not seen by the    (V') release -> (V) acquire
  //     next sender
  //   sent between the look and the sleep    the bell is read (B) before the slot is; (B) rings
  //                                          after (S), and the sleep compares
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
  /// Into the reserved slot. Then the caller wakes one sleeper of the bell.
  void send(T& object) noexcept { put(reinterpret_cast<std::uintptr_t>(&object)); }
  void close() noexcept { put(closed); }

  struct taken {
    T* object = nullptr;  ///< null: nothing, or
    bool over = false;    ///< closed
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

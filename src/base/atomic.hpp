#pragma once

#include <atomic>

namespace headway::base {

#ifndef HEADWAY_NOTHREAD

using std::atomic;

#else

/// Stands in for std::atomic in the build without threads (HEADWAY_NOTHREAD), where one thread only
/// enters the library: the same functions without locked instructions.
/// Threads:  one. Memory orders are accepted and ignored.
template <class T>
class atomic {
 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[nodiscard]] T load(std::memory_order = {}) const noexcept { return value_; }
  void store(T value, std::memory_order = {}) noexcept { value_ = value; }
  T exchange(T value, std::memory_order = {}) noexcept {
    const T before = value_;
    value_ = value;
    return before;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order = {},
                               std::memory_order = {}) noexcept {
    if (value_ == expected) {
      value_ = wanted;
      return true;
    }
    expected = value_;
    return false;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order one = {},
                             std::memory_order other = {}) noexcept {
    return compare_exchange_strong(expected, wanted, one, other);
  }
  T fetch_add(T by, std::memory_order order = {}) noexcept {
    return exchange(static_cast<T>(value_ + by), order);
  }
  T fetch_sub(T by, std::memory_order order = {}) noexcept {
    return exchange(static_cast<T>(value_ - by), order);
  }
  T fetch_or(T bits, std::memory_order order = {}) noexcept {
    return exchange(static_cast<T>(value_ | bits), order);
  }
  T fetch_and(T bits, std::memory_order order = {}) noexcept {
    return exchange(static_cast<T>(value_ & bits), order);
  }

 private:
  T value_{};
};

#endif

}  // namespace headway::base

#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace headway::progress {

/// Descriptors on which a thread can sleep, and a way to end that sleep.
/// Shape:    one epoll descriptor, one eventfd.
/// Threads:  `kick`, `add` and `remove` any; `sleep` one at a time.
/// Progress: `sleep` sleeps in the kernel; the others never wait.
/// Errors:   `open` when the kernel gives no descriptor.
class sleep_place {
 public:
  sleep_place() noexcept = default;
  ~sleep_place();
  sleep_place(const sleep_place&) = delete;
  sleep_place& operator=(const sleep_place&) = delete;

  /// Once, before the others.
  [[nodiscard]] base::result<void> open();

  enum class wakes : std::uint8_t {
    every,  ///< each place that has the descriptor
    one,    ///< of the places that have it, the first added at which a thread sleeps
  };
  /// A sleep ends when the descriptor is readable. False: the kernel cannot wait for it.
  [[nodiscard]] bool add(int descriptor, void* name, wakes which) noexcept;
  void remove(int descriptor) noexcept;

  /// Ends the sleep, the current or the next one. A system call.
  void kick() noexcept;
  /// Until a descriptor is readable, `kick`, or so much time has passed.
  void sleep(std::uint64_t longest_ns) noexcept;

 private:
  int epoll_ = -1;
  int control_ = -1;
};

}  // namespace headway::progress

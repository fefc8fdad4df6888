#pragma once

#include <atomic>
#include <cstdint>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/delivery/slots.hpp"
#include "endpoints/delivery/waiting.hpp"

namespace headway::endpoints {

/// Credit at an end-point of another process: how many units this process is ahead of its receiver,
/// and the threads that wait for room in the window.
///
/// Shape:    one for each slot there; `use` is the id of the end-point concerned.
/// Threads:  any.
/// Progress: waits for nothing but the lock.
class remote_endpoint {
 public:
  enum class answer : std::uint8_t { granted, full, gone };

  /// A message to `use` may be sent at once, and is counted when it is gone: `count`. Threads that
  /// send at the same time may each exceed the window by a message.
  [[nodiscard]] bool seems_free(std::uint32_t use, std::int32_t most) const noexcept {
    return id_.load(std::memory_order_relaxed) == use && !gone_.load(std::memory_order_relaxed) &&
           used_.load(std::memory_order_relaxed) < most;
  }
  /// Counts what was sent before. The units may be back already.
  void count(std::uint32_t use, std::uint32_t units) noexcept;
  /// `full`: `me`, if it is given, is in the list of waiting threads.
  [[nodiscard]] answer take(std::uint32_t use, std::uint32_t units, std::uint32_t window,
                            waiting_thread* me) noexcept;
  /// Removes `me` from the line; false: another thread did, and completes it.
  [[nodiscard]] bool withdraw(waiting_thread& me) noexcept;
  void give_back(std::uint32_t use, std::uint32_t units, std::uint32_t window) noexcept;
  /// The end-point `use` is closed.
  void close(std::uint32_t use) noexcept;
  /// Its process is lost.
  void lose() noexcept;

 private:
  [[nodiscard]] bool begin(std::uint32_t use, woken& then) noexcept HEADWAY_REQUIRES(lock_);
  void end(woken& then) noexcept HEADWAY_REQUIRES(lock_);
  void add(std::int32_t units) noexcept HEADWAY_REQUIRES(lock_) {
    used_.store(used_.load(std::memory_order_relaxed) + units, std::memory_order_relaxed);
  }

  base::spinlock lock_;
  // Relaxed: changed only under the lock; without it a hint.
  std::atomic<std::uint32_t> id_{0};
  /// Used units of the window. Negative if units came back before they were counted: see `count`.
  std::atomic<std::int32_t> used_{0};
  std::atomic<bool> gone_{false};
  base::intrusive_list<waiting_thread> senders_ HEADWAY_GUARDED_BY(lock_);
};

/// The end-points of one other process to which this process has sent.
/// Threads:  any.
class remote_endpoints {
  // Hazard: a thread sees a half-made table. Edge: (N) release -> acquire. Of tables that several
  // threads make at the same time, one is used.
 public:
  remote_endpoints() = default;
  remote_endpoints(const remote_endpoints&) = delete;
  remote_endpoints& operator=(const remote_endpoints&) = delete;
  ~remote_endpoints() { delete all_.load(std::memory_order_relaxed); }  // no other thread is left

  /// nullptr: this process never sent to it.
  [[nodiscard]] remote_endpoint* find(std::uint32_t id) const noexcept {
    auto* all = all_.load(std::memory_order_acquire);  // (N)
    return all ? all->find(slot_of(id)) : nullptr;
  }
  [[nodiscard]] remote_endpoint& at(std::uint32_t id);
  void lose() noexcept;

 private:
  using pages = slot_pages<remote_endpoint, 256>;
  std::atomic<pages*> all_{nullptr};
};

}  // namespace headway::endpoints

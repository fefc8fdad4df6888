#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::progress {

/// Words, mapped by other processes too, that say whether a waiting thread of this process sleeps:
/// 1 while one does, else 0.
/// Shape:    one list for the process, as threads are the process's.
/// Threads:  any. The words are hints, written relaxed.
/// Progress: while there is no word, `begin` and `end` are an addition and a load; else they take a
///           mutex, which is held for some stores. A sleep costs many times as much.
class sleep_signs {
 public:
  using word = std::atomic<std::uint32_t>;

  [[nodiscard]] static sleep_signs& of_process() noexcept;
  void add(word& sign);
  void remove(word& sign);

  /// The calling thread waits, and is about to sleep; it is awake again.
  void begin() noexcept {
    sleeping_.fetch_add(1, std::memory_order_relaxed);  // read again under the lock
    if (count_.load(std::memory_order_relaxed) != 0) show();
  }
  void end() noexcept {
    sleeping_.fetch_sub(1, std::memory_order_relaxed);
    if (count_.load(std::memory_order_relaxed) != 0) show();
  }

 private:
  /// Each change of `sleeping_` is followed by a call, so the last call shows the last value.
  void show() noexcept;

  base::atomic<std::uint32_t> sleeping_{0}, count_{0};  // `count_`: a hint
  base::mutex lock_;
  std::vector<word*> words_ HEADWAY_GUARDED_BY(lock_);
};

/// Holds `begin` and `end` around a sleep.
class shown_sleep {
 public:
  shown_sleep() noexcept { sleep_signs::of_process().begin(); }
  ~shown_sleep() { sleep_signs::of_process().end(); }
  shown_sleep(const shown_sleep&) = delete;
  shown_sleep& operator=(const shown_sleep&) = delete;
};

}  // namespace headway::progress

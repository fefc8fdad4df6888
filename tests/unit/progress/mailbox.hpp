#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "progress/core/engine.hpp"

namespace headway::progress::testing {

/// A rail for tests: a letter names a completion; a repeat ltask at the root reaps letters and
/// completes what they name. It wakes a sleeping thread only when armed, as a rail should, for a
/// letter that can wait only when armed for all, and counts these wake-ups.
class mailbox final : public event_source {
 public:
  explicit mailbox(engine& where, bool wakes = true)
      : descriptor_(wakes ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1), engine_(where) {
    engine_.add_source(*this);
    engine_.submit(reaper_);
  }
  ~mailbox() {
    engine_.cancel(reaper_);
    engine_.remove_source(*this);
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// Posts as another process would: without a call into the engine.
  void post(completion& letter, bool can_wait = false) {
    {
      const std::lock_guard hold(lock_);
      letters_.push_back(&letter);
      if (!can_wait) hurried_letters_.fetch_add(1, std::memory_order_seq_cst);
    }
    waiting_letters.fetch_add(1, std::memory_order_seq_cst);
    const auto armed = armed_.load(std::memory_order_seq_cst);
    if (descriptor_ >= 0 && (can_wait ? armed == for_all : armed != for_nothing)) ring();
  }

  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] bool silent_unless_armed() const noexcept override { return true; }
  [[nodiscard]] bool arm(wake_for what) noexcept override {
    const bool all = what == wake_for::all;
    armed_.store(all ? for_all : for_hurried, std::memory_order_seq_cst);
    return (all ? waiting_letters : hurried_letters_).load(std::memory_order_seq_cst) == 0;
  }
  void disarm() noexcept override {
    armed_.store(for_nothing, std::memory_order_seq_cst);
    std::uint64_t rings;
    if (descriptor_ >= 0) [[maybe_unused]]
      const auto got = read(descriptor_, &rings, sizeof rings);
  }

  std::atomic<int> waiting_letters{0};
  std::atomic<int> doorbells{0};
  std::atomic<int> reaped{0};
  std::atomic<std::uint64_t> reaped_at_ns{0};  ///< of the last letters; set before they complete

 private:
  struct reap_task : ltask {
    explicit reap_task(mailbox& m) : ltask("mailbox", &mailbox::reap), box(m) {}
    mailbox& box;
  };

  void ring() {
    const std::uint64_t one = 1;
    doorbells.fetch_add(1);
    [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
  }
  static ltask_result reap(ltask& self) noexcept {
    auto& box = static_cast<reap_task&>(self).box;
    if (box.waiting_letters.load(std::memory_order_acquire) == 0) return ltask_result::idle;
    std::vector<completion*> taken;
    {
      const std::lock_guard hold(box.lock_);
      taken.swap(box.letters_);
      box.hurried_letters_.store(0, std::memory_order_seq_cst);
    }
    box.waiting_letters.fetch_sub(static_cast<int>(taken.size()));
    box.reaped_at_ns.store(base::machine_now_ns(), std::memory_order_relaxed);
    for (auto* letter : taken) letter->complete();
    box.reaped += static_cast<int>(taken.size());
    return ltask_result::advanced;
  }

  const int descriptor_;
  engine& engine_;
  std::mutex lock_;
  std::vector<completion*> letters_;
  enum : int { for_nothing, for_hurried, for_all };
  std::atomic<int> armed_{for_nothing};
  std::atomic<int> hurried_letters_{0};  // changed under the lock
  reap_task reaper_{*this};
};

}  // namespace headway::progress::testing

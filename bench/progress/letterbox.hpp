#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "progress/core/engine.hpp"

namespace headway::bench {

/// The smallest rail: holds one letter, with the time at which it was posted; an ltask takes it and
/// notes how long that took. Wakes a sleeping thread only when armed, as the rails do.
/// Threads: `post` one at a time; `taken` any.
class letterbox final : public progress::event_source {
 public:
  explicit letterbox(progress::engine& where)
      : engine_(where), descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    engine_.add_source(*this);
    engine_.submit(reaper_);
    engine_.pending_started();  // as an open receive does
  }
  ~letterbox() {
    engine_.pending_ended();
    engine_.cancel(reaper_);
    engine_.remove_source(*this);
    close(descriptor_);
  }
  letterbox(const letterbox&) = delete;
  letterbox& operator=(const letterbox&) = delete;

  void post() noexcept {
    posted_ns_.store(base::machine_now_ns(), std::memory_order_relaxed);
    full_.store(true, std::memory_order_seq_cst);  // before `armed_` is read; `arm` vice versa
    if (!armed_.load(std::memory_order_seq_cst)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
  }
  /// 0: not yet. Else the nanoseconds from `post` to the ltask.
  [[nodiscard]] std::uint64_t taken() noexcept {
    return took_ns_.exchange(0, std::memory_order_acquire);
  }

  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] bool arm(progress::wake_for) noexcept override {
    armed_.store(true, std::memory_order_seq_cst);
    return !full_.load(std::memory_order_seq_cst);
  }
  void disarm() noexcept override {
    armed_.store(false, std::memory_order_seq_cst);
    std::uint64_t rings;
    [[maybe_unused]] const auto got = read(descriptor_, &rings, sizeof rings);
  }

 private:
  struct reap_task : progress::ltask {
    explicit reap_task(letterbox& b) : ltask("letterbox", &letterbox::reap), box(b) {}
    letterbox& box;
  };
  static progress::ltask_result reap(progress::ltask& self) noexcept {
    auto& box = static_cast<reap_task&>(self).box;
    if (!box.full_.load(std::memory_order_acquire)) return progress::ltask_result::idle;
    const auto took = base::machine_now_ns() - box.posted_ns_.load(std::memory_order_relaxed);
    box.full_.store(false, std::memory_order_relaxed);
    box.took_ns_.store(took == 0 ? 1 : took, std::memory_order_release);
    return progress::ltask_result::advanced;
  }

  progress::engine& engine_;
  const int descriptor_;
  std::atomic<std::uint64_t> posted_ns_{0}, took_ns_{0};
  std::atomic<bool> full_{false}, armed_{false};
  reap_task reaper_{*this};
};

}  // namespace headway::bench

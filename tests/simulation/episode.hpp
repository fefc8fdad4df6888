#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "tests/simulation/process.hpp"
#include "windows/operation.hpp"
#include "windows/pending_operation.hpp"

namespace headway::simulation {

/// A few one-sided operations of a program, one after the other: a function that `co_await`s
/// `ended`, or `pause`.
/// Threads:  one.
/// Progress: runs when it is called, and in `resume`.
class episode {
 public:
  struct promise_type {
    // It goes on when these have ended, at that time at the soonest.
    windows::pending_list until;
    std::uint64_t not_before_ns = 0;

    episode get_return_object() noexcept {
      return episode(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
  };

  episode(episode&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  episode& operator=(episode&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~episode() {
    if (at_) at_.destroy();
  }

  [[nodiscard]] bool over() const noexcept { return at_.done(); }
  /// Operations that it waits for.
  [[nodiscard]] std::ptrdiff_t awaited() const noexcept {
    return std::ranges::count_if(at_.promise().until,
                                 [](const auto& p) { return !p->done.test(); });
  }
  [[nodiscard]] std::uint64_t not_before_ns() const noexcept { return at_.promise().not_before_ns; }
  [[nodiscard]] bool may_resume(std::uint64_t now_ns) const noexcept {
    return !over() && not_before_ns() <= now_ns && awaited() == 0;
  }
  void resume() { at_.resume(); }

 private:
  explicit episode(std::coroutine_handle<promise_type> at) noexcept : at_(at) {}
  std::coroutine_handle<promise_type> at_;
};

/// Waits until these have ended, and returns the worst of their states. Null: ended already.
class ended {
 public:
  explicit ended(windows::pending_list all) : all_(std::move(all)) { std::erase(all_, nullptr); }
  // Not from a list in braces: GCC 12 does not compile that in a coroutine.
  explicit ended(windows::pending_ptr one) {
    if (one) all_.push_back(std::move(one));
  }
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<episode::promise_type> of) { of.promise().until = all_; }
  [[nodiscard]] windows::status await_resume() const noexcept {
    auto worst = windows::status::ok;
    for (const auto& each : all_) worst = std::max(worst, each->how());
    return worst;
  }

 private:
  windows::pending_list all_;
};

/// Waits for so long, which is simulated.
struct pause {
  const process& on;
  std::uint64_t ns;
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<episode::promise_type> of) const {
    of.promise().until.clear();
    of.promise().not_before_ns = on.now_ns() + ns;
  }
  static void await_resume() noexcept {}
};

}  // namespace headway::simulation

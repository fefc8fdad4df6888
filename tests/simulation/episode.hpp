#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "windows/operation.hpp"
#include "windows/pending_operation.hpp"

namespace headway::simulation {

/// A few one-sided operations of a program, one after the other: a function that `co_await`s
/// `ended`, or `turns`.
/// Threads:  one.
/// Progress: runs when it is called, and in `resume`.
class episode {
 public:
  struct promise_type {
    windows::pending_list until;  ///< it goes on when these have ended,
    std::uint64_t turns = 0;      ///< and after so many turns of its process

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
  /// Only its process's turns keep it from going on.
  [[nodiscard]] bool waits_for_turn() const noexcept { return at_.promise().turns != 0; }
  void take_turn() noexcept {
    if (waits_for_turn()) --at_.promise().turns;
  }
  [[nodiscard]] bool may_resume() const noexcept {
    return !over() && !waits_for_turn() &&
           std::ranges::all_of(at_.promise().until, [](const auto& p) { return p->done.test(); });
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
  void await_suspend(std::coroutine_handle<episode::promise_type> of) {
    of.promise().until = all_;
  }
  [[nodiscard]] windows::status await_resume() const noexcept {
    auto worst = windows::status::ok;
    for (const auto& each : all_) worst = std::max(worst, each->how());
    return worst;
  }

 private:
  windows::pending_list all_;
};

/// Waits for so many turns of its process.
struct turns {
  std::uint64_t count;
  [[nodiscard]] bool await_ready() const noexcept { return count == 0; }
  void await_suspend(std::coroutine_handle<episode::promise_type> of) const {
    of.promise().until.clear();
    of.promise().turns = count;
  }
  static void await_resume() noexcept {}
};

}  // namespace headway::simulation

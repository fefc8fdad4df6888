#pragma once

#include <cstddef>
#include <span>

#include "progress/completion/completion.hpp"
#include "progress/completion/overflow_waiters.hpp"
#include "progress/core/misuse.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// The completions of a wait that ends when at least one is complete.
/// Threads:  the waiting thread.
class wait_set {
 public:
  explicit wait_set(std::span<completion* const> all) noexcept : all_(all) {}

  /// One is complete; `index` says which.
  [[nodiscard]] bool done() noexcept {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i] || !all_[i]->test()) continue;
      index_ = i;
      return true;
    }
    return false;
  }
  /// The only completion, if there is just one and no other thread may wait for it.
  [[nodiscard]] const completion* only() const noexcept {
    return all_.size() == 1 && all_[0] && !all_[0]->shared() ? all_[0] : nullptr;
  }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  /// From now on each completion signals `me`. False: one is complete.
  [[nodiscard]] bool enlist(waiter& me) noexcept {
    using enlisting = basic_completion_word<waiter>::enlisting;
    for (auto* one : all_) {
      const auto answer = one ? one->word_.enlist(me) : enlisting::enlisted;
      if (answer == enlisting::done || (answer == enlisting::occupied && !join(*one, me)))
        return false;
    }
    return true;
  }
  /// From now on none signals `me`; a signal that is under way may still come.
  void leave(waiter& me) noexcept {
    for (auto* one : all_)
      if (one) one->word_.leave(me);
    if (in_overflow_) overflow().leave(second_);
    in_overflow_ = false;
  }

 private:
  /// Another waiter is named in the word of `one`. False: it is done.
  [[nodiscard]] bool join(const completion& one, waiter& me) noexcept {
    if (!one.shared()) {
      if (one.test()) return false;
      misuse("two threads wait for one completion");
    }
    if (!in_overflow_) {
      in_overflow_ = true;
      second_.what = all_.size() == 1 ? &one : nullptr;
      second_.tell = [](void* sleeper) noexcept { signal(*static_cast<waiter*>(sleeper)); };
      second_.argument = &me;
      overflow().join(second_);
    }
    return !one.test_in_overflow();
  }

  std::span<completion* const> all_;
  std::size_t index_ = 0;
  bool in_overflow_ = false;  ///< `second_` is in the list; the list's lock guards its links
  overflow_waiter second_;    ///< for completions whose words name other waiters
};

}  // namespace headway::progress

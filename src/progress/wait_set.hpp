#pragma once

#include <cstddef>
#include <span>

#include "progress/completion.hpp"
#include "progress/crowd.hpp"
#include "progress/misuse.hpp"
#include "progress/thread_record.hpp"

namespace headway::progress {

/// The completions of which one wait wants at least one.
/// Threads:  one, the waiting thread.
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
  /// The completion that is waited for, if it is one only, and nobody else may wait for it.
  [[nodiscard]] const completion* only() const noexcept {
    return all_.size() == 1 && all_[0] && !all_[0]->shared() ? all_[0] : nullptr;
  }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  /// From now on each that completes signals `me`. False: one is complete.
  [[nodiscard]] bool enlist(waiter& me) noexcept {
    using enlisting = basic_completion_word<waiter>::enlisting;
    for (auto* one : all_) {
      const auto answer = one ? one->word_.enlist(me) : enlisting::enlisted;
      if (answer == enlisting::done || (answer == enlisting::occupied && !join(*one, me)))
        return false;
    }
    return true;
  }
  /// From now on no further one signals `me`; a signal under way may still come.
  void leave(waiter& me) noexcept {
    for (auto* one : all_)
      if (one) one->word_.leave(me);
    if (in_crowd_) crowd().leave(second_);
    in_crowd_ = false;
  }

 private:
  /// Somebody sits in the word of `one`. False: it is done.
  [[nodiscard]] bool join(const completion& one, waiter& me) noexcept {
    if (!one.shared()) {
      if (one.test()) return false;
      misuse("two threads wait for one completion");
    }
    if (!in_crowd_) {
      in_crowd_ = true;
      second_.what = all_.size() == 1 ? &one : nullptr;
      second_.tell = [](void* who) noexcept { signal(*static_cast<waiter*>(who)); };
      second_.argument = &me;
      crowd().join(second_);
    }
    return !one.test_in_crowd();
  }

  std::span<completion* const> all_;
  std::size_t index_ = 0;
  bool in_crowd_ = false;  ///< known without a look at the links, which are the crowd's
  crowd_member second_;    ///< in the crowd while others sit where we want to
};

}  // namespace headway::progress

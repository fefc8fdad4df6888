#pragma once

#include <cstddef>
#include <span>

#include "progress/completion.hpp"
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
  /// The completion that is waited for, if it is one only.
  [[nodiscard]] const completion* only() const noexcept {
    return all_.size() == 1 ? all_[0] : nullptr;
  }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  /// From now on each that completes signals `me`. False: one is complete.
  [[nodiscard]] bool enlist(waiter& me) noexcept {
    using enlisting = basic_completion_word<waiter>::enlisting;
    for (auto* one : all_) {
      const auto answer = one ? one->word_.enlist(me) : enlisting::enlisted;
      if (answer == enlisting::occupied) misuse("two threads wait for one completion");
      if (answer == enlisting::done) return false;
    }
    return true;
  }
  /// From now on no further one signals `me`; a signal under way may still come.
  void leave(waiter& me) noexcept {
    for (auto* one : all_)
      if (one) one->word_.leave(me);
  }

 private:
  std::span<completion* const> all_;
  std::size_t index_ = 0;
};

}  // namespace headway::progress

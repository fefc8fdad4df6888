#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"
#include "progress/standing.hpp"

namespace headway::progress {

/// Between waits that follow one another closely a thread keeps the weight that it has in them
/// (standing.hpp). Given back and asked for each time, the kernel takes the change for a reason to
/// look whose turn it is, and the thread loses its processor just there, for as long as all the
/// others compute (docs/experiments/E9.md). Whoever computes after all has its own weight back when
/// it has not waited for `lasts_ns`; the keeper, our event thread, sees to that.
///
/// One thread of the process at a time: weight is for who waits alone.
/// Threads:  every function any thread.
/// Progress: a short lock, with a system call inside where something is given back.
class kept_weight {
 public:
  static constexpr std::uint64_t lasts_ns = 4'000'000;

  /// The calling thread's wait, in which it had weight, ends: `whose` is its standing. True: this
  /// is news, which the keeper is to be told.
  [[nodiscard]] bool keep(standing& whose, pid_t thread, std::uint64_t now_ns) noexcept;
  /// The keeper's: gives back what is due, and says when to look next, or `no_deadline`. Whoever
  /// is about to sleep says so before it looks: by the lock, one of both sees the other.
  [[nodiscard]] std::uint64_t look(std::uint64_t now_ns) noexcept;
  /// Without a keeper nothing is kept.
  void keeper_comes() noexcept;
  void keeper_goes() noexcept;

 private:
  void give_back() noexcept;

  base::spinlock lock_;  // guards the rest
  bool has_keeper_ = false;
  standing* whose_ = nullptr;
  pid_t thread_ = 0;
  std::uint64_t due_ns_ = 0;
};

}  // namespace headway::progress

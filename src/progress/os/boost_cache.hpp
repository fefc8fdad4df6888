#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"
#include "progress/os/sched_boost.hpp"

namespace headway::progress {

/// Keeps the greatest weight of a waiting thread (sched_boost.hpp) between waits that follow one
/// another closely.
///
/// Each time weight is given back and asked for again, the kernel reconsiders which thread is to
/// run, and the waiting thread loses its processor just there, for as long as all the others
/// compute (docs/experiments/E9.md). A thread that computes after all has its own weight back when
/// it has not waited for `lasts_ns`: the event thread, which is the owner of the cache, gives it
/// back then.
///
/// One thread of the process at a time: weight is for a thread that waits alone.
/// Threads:  every function any thread.
/// Progress: a short lock, with a system call inside where something is given back.
class boost_cache {
 public:
  static constexpr std::uint64_t lasts_ns = 4'000'000;

  /// The calling thread's wait, in which it had weight by `boost`, ends. True: there was nothing to
  /// give back before, and the owner must be told.
  [[nodiscard]] bool keep(sched_boost& boost, pid_t thread, std::uint64_t now_ns) noexcept;
  /// The owner's: gives back what is due, and says when the rest is, or `no_deadline`. An owner
  /// that is about to sleep says so before it calls this: by the lock, either it sees a new boost
  /// or the thread that keeps it sees the owner's sleep.
  [[nodiscard]] std::uint64_t give_back_due(std::uint64_t now_ns) noexcept;
  /// Without an owner nothing is kept.
  void owner_started() noexcept;
  void owner_stopped() noexcept;

 private:
  void give_back() noexcept HEADWAY_REQUIRES(lock_);

  base::spinlock lock_;
  bool has_owner_ HEADWAY_GUARDED_BY(lock_) = false;
  sched_boost* boost_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  pid_t thread_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t due_ns_ HEADWAY_GUARDED_BY(lock_) = 0;
};

}  // namespace headway::progress

#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/spinlock.hpp"
#include "progress/os/sched_boost.hpp"

namespace headway::progress {

/// Keeps the greatest weight of a waiting thread (sched_boost.hpp) between waits in close
/// succession.
///
/// Each time weight is given back or requested, the kernel reconsiders which thread runs, and the
/// waiting thread loses its processor at that moment, for as long as all others compute
/// (docs/experiments/E9.md). A thread that computes after all gets its own weight back when it has
/// not waited for `lasts_ns`: the event thread, the owner of the cache, does that.
///
/// One thread of the process at a time, because weight is for a thread that waits alone.
/// Threads:  every function any thread.
/// Progress: a short lock, which includes a system call when weight is given back.
class boost_cache {
 public:
  static constexpr std::uint64_t lasts_ns = 4'000'000;

  /// A wait of the calling thread, which had weight by `boost`, ends. True: there was nothing to
  /// give back before, and the owner must be notified.
  [[nodiscard]] bool keep(sched_boost& boost, pid_t thread, std::uint64_t now_ns) noexcept;
  /// For the owner: gives back what is due, and returns when the rest is due, or `no_deadline`. An
  /// owner that is about to sleep announces that before it calls this: because of the lock, either
  /// it sees a new boost or the thread that keeps it sees the announcement.
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

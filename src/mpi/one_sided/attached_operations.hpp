#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/point_to_point/request_attachment.hpp"

namespace headway::mpi {

/// What is attached to operations of a window that have no request of their own, until they have
/// ended at the origin.
/// Threads:  any.
/// Progress: while anything is attached, `synchronise` holds a mutex for as long as its function
///           waits: another thread's synchronisation returns after the copies of both have been
///           finished, and an operation that is attached meanwhile ends with a later one.
class attached_operations {
 public:
  static constexpr int all_ranks = -1;

  void add(int rank, std::unique_ptr<request_attachment> what);

  /// Calls `wait` and returns what it returns. If that is MPI_SUCCESS, all operations to `rank`
  /// that were begun before have ended at the origin, and `after_end` is called for them.
  template <class Wait>
  int synchronise(int rank, Wait wait) {
    // Relaxed: the program orders an operation before the synchronisation that ends it.
    if (count_.load(std::memory_order_relaxed) == 0) [[likely]]
      return wait();
    const base::lock_guard held(lock_);
    const int code = wait();
    if (code == MPI_SUCCESS) end(rank);
    return code;
  }

 private:
  void end(int rank) HEADWAY_REQUIRES(lock_);

  base::mutex lock_;
  std::vector<std::pair<int, std::unique_ptr<request_attachment>>> attached_
      HEADWAY_GUARDED_BY(lock_);
  std::atomic<std::size_t> count_{0};  // of `attached_`
};

}  // namespace headway::mpi

/// Attaches `what` to the operation that the program has just begun to `rank`. `after_end` is
/// called once, in the synchronisation in which the operation ends at the origin, and `what` is
/// deleted.
/// Shape:    see `headway_attach_to_request`.
extern "C" [[gnu::visibility("default")]] void headway_attach_to_window(
    MPI_Win win, int rank, headway::mpi::request_attachment* what);

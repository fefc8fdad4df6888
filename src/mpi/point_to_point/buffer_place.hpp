#pragma once

#include <memory>
#include <utility>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::mpi {

class send_buffer;

/// To what a program attaches a buffer: a communicator, a session or the process. It has one buffer
/// at most.
/// Threads:  any.
class buffer_place {
 public:
  /// Null: none is attached.
  [[nodiscard]] std::shared_ptr<send_buffer> get() const noexcept {
    const base::lock_guard held(lock_);
    return attached_;
  }
  /// False: another one is attached.
  [[nodiscard]] bool attach(const std::shared_ptr<send_buffer>& by) noexcept {
    const base::lock_guard held(lock_);
    if (attached_) return false;
    attached_ = by;
    return true;
  }
  /// The buffer that was attached, or null.
  std::shared_ptr<send_buffer> detach() noexcept {
    const base::lock_guard held(lock_);
    return std::exchange(attached_, nullptr);
  }

 private:
  mutable base::spinlock lock_;
  std::shared_ptr<send_buffer> attached_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::mpi

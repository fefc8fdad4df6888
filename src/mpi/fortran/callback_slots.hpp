#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::mpi::fortran {

/// Gives each of the program's procedures a C function that calls it, for callbacks to which C
/// passes nothing but its own arguments. The C function of a slot calls `at(slot)`.
/// Shape:    `slots_max` procedures; one that is given again has the same slot, and keeps it.
/// Threads:  any; `get` takes a lock.
template <class Function, std::size_t slots_max>
class callback_slots {
 public:
  static constexpr std::size_t none = slots_max;

  /// The procedure's slot; `none` if all are taken.
  std::size_t get(Function* wanted) {
    const base::lock_guard held(lock_);
    for (std::size_t i = 0; i < used_; ++i) {
      if (procedures_[i] == wanted) return i;
    }
    if (used_ == slots_max) return none;
    procedures_[used_] = wanted;
    return used_++;
  }

  /// Once `get` has returned the slot to the thread that made the callback; without the lock,
  /// because a slot is not written again.
  Function* at(std::size_t slot) const noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    HEADWAY_DEBUG_ASSERT(slot < slots_max && procedures_[slot] != nullptr);
    return procedures_[slot];
  }

 private:
  base::mutex lock_;
  std::size_t used_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::array<Function*, slots_max> procedures_ HEADWAY_GUARDED_BY(lock_){};
};

}  // namespace headway::mpi::fortran

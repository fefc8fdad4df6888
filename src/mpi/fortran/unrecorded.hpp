#pragma once

#include "mpi/abi/recording_hooks.hpp"

// Another library with the standard ABI does not have it.
#pragma weak headway_exchange_recorder

namespace headway::mpi::fortran {

/// While it lives, calls of MPI that this thread makes do not count as calls of the program, if
/// calls are recorded (HEADWAY_REPORT): they convert the arguments of one.
/// Threads:  one; the last one that was made ends first.
class unrecorded {
 public:
  unrecorded() noexcept {
    if (&headway_exchange_recorder == nullptr) return;
    exchange_ = headway_exchange_recorder.load(std::memory_order_relaxed);
    if (exchange_ != nullptr) [[unlikely]]
      before_ = exchange_(nullptr);
  }
  ~unrecorded() {
    if (exchange_ != nullptr) [[unlikely]]
      exchange_(before_);
  }
  unrecorded(const unrecorded&) = delete;
  unrecorded& operator=(const unrecorded&) = delete;

 private:
  void* (*exchange_)(void*) = nullptr;
  void* before_ = nullptr;
};

}  // namespace headway::mpi::fortran

#pragma once

#include "report/recorder.hpp"

namespace headway::mpi {

/// A call of the program, for as long as it lives; nothing is done unless it is recorded.
class recorded_call {
 public:
  recorded_call() = default;
  ~recorded_call() {
    if (timed_) [[unlikely]]
      timed_->end();
  }
  recorded_call(const recorded_call&) = delete;
  recorded_call& operator=(const recorded_call&) = delete;

  /// It is recorded, unless it comes from inside one that is timed. `from`: the address that it
  /// returns to.
  void begin(const report::function& what, const void* from) {
    auto* thread = report::detail::open_record;
    if (!thread) [[unlikely]] {
      if (report::detail::own_record) return;
      thread = &report::make_own_record();
    }
    if (thread->begin(what, from)) [[unlikely]]
      timed_ = thread;
  }

 private:
  report::thread_record* timed_ = nullptr;
};

}  // namespace headway::mpi

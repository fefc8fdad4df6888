#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "report/recorder.hpp"

namespace headway::mpi {

/// A call of the program that is recorded, for as long as it lives. False: this is a call from
/// inside a recorded one, which counts alone.
class recorded_call {
 public:
  /// `from`: the address that the call returns to.
  recorded_call(const report::function& what, const void* from) : thread_(&report::own_record()) {
    if (thread_->inside) {
      thread_ = nullptr;
      return;
    }
    thread_->inside = true;
    call_ = &thread_->begin(what, from);
    if (!what.light || thread_->timeline() || --call_->until_timed == 0)
      began_ns_ = base::machine_now_ns();
    thread_->call_began_ns = began_ns_;
  }
  ~recorded_call() {
    if (!thread_) return;
    if (began_ns_ != 0 || thread_->has_waited()) thread_->end(*call_, began_ns_);
    thread_->inside = false;
  }
  recorded_call(const recorded_call&) = delete;
  recorded_call& operator=(const recorded_call&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return thread_ != nullptr; }

 private:
  report::thread_record* thread_;
  report::call_record* call_ = nullptr;
  std::uint64_t began_ns_ = 0;
};

}  // namespace headway::mpi

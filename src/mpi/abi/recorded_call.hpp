#pragma once

#include "base/assert.hpp"
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
    HEADWAY_DEBUG_ASSERT(timed_ == nullptr);
    auto* const thread = report::detail::open_record;
    if (!thread) [[unlikely]]
      return begin_first(what, from);
    // Not `thread`, which compilers would then store in memory in every call.
    if (thread->begin(what, from)) [[unlikely]]
      timed_ = report::detail::own_record;
  }

 private:
  /// The first call of a thread, or one inside a call that is timed.
  [[gnu::cold, gnu::noinline]] void begin_first(const report::function& what, const void* from) {
    if (auto* const own = report::detail::own_record) return own->set_caller(nullptr);
    auto& made = report::make_own_record();
    if (made.begin(what, from)) timed_ = &made;
  }

  report::thread_record* timed_ = nullptr;
};

}  // namespace headway::mpi

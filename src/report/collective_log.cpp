#include "report/collective_log.hpp"

#include "base/assert.hpp"

namespace headway::report {

void collective_log::note(const collective_entry& call) {
  HEADWAY_DEBUG_ASSERT(call.number < calls_ && call.entered_ns <= call.left_ns);
  if (call.number % stride_ != 0) return;
  if (entries_.size() == entries_max) {
    stride_ *= 2;
    std::erase_if(entries_, [this](const auto& e) { return e.number % stride_ != 0; });
    if (call.number % stride_ != 0) return;
  }
  entries_.push_back(call);
}

}  // namespace headway::report

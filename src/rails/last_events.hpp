#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "rails/driver.hpp"

namespace headway::rails {

/// The events that a driver still has to report after `close`: how each posted packet ended.
/// Shape:    grows while the driver closes, by the number of packets posted.
/// Threads:  the reaper, and `close`, which runs with no other thread.
class last_events {
 public:
  /// Events of other kinds are dropped.
  void keep(const event& e) {
    if (e.kind == event_kind::sent || e.kind == event_kind::failed) kept_.push_back(e);
  }
  void keep(std::span<const event> some) {
    for (const event& e : some) keep(e);
  }
  [[nodiscard]] std::size_t report(std::span<event> out) noexcept {
    const auto count = std::min(out.size(), kept_.size() - reported_);
    std::copy_n(kept_.data() + reported_, count, out.data());
    reported_ += count;
    return count;
  }

 private:
  std::vector<event> kept_;
  std::size_t reported_ = 0;
};

}  // namespace headway::rails

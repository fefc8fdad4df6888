#include "launch/ready.hpp"

#include <poll.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/clock.hpp"

namespace headway::launch {

bool ready(int descriptor, short events, std::uint64_t deadline_ns) noexcept {
  HEADWAY_ASSERT(descriptor >= 0);  // poll(2) ignores others until the deadline
  for (;;) {
    const auto now = base::machine_now_ns();
    const auto left_ns = now < deadline_ns ? deadline_ns - now : 0;
    const auto left_ms = std::min<std::uint64_t>((left_ns + 999'999) / 1'000'000, 1'000'000);
    pollfd one{descriptor, events, 0};
    if (poll(&one, 1, static_cast<int>(left_ms)) > 0) return true;
    if (left_ns == 0) return false;
  }
}

}  // namespace headway::launch

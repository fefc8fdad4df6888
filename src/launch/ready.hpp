#pragma once

#include <cstdint>

namespace headway::launch {

/// Waits for `events` (as poll(2) has them) on `descriptor`, until `deadline_ns`
/// (base::machine_now_ns) at most. False: the deadline has passed.
/// Threads:  any.
/// Progress: sleeps in the kernel; if the deadline has passed already, polls once.
[[nodiscard]] bool ready(int descriptor, short events, std::uint64_t deadline_ns) noexcept;

}  // namespace headway::launch

#pragma once

#include "endpoints/buffers/ownership.hpp"
#include "endpoints/delivery/outcome.hpp"

namespace headway::endpoints {

/// Logs the mistake, and keeps it for `last_misuse`. Answers outcome::misuse.
outcome report_misuse(wrong what, const void* data) noexcept;
/// This thread's last one.
[[nodiscard]] wrong last_misuse() noexcept;

}  // namespace headway::endpoints

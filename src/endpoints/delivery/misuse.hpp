#pragma once

#include "endpoints/buffers/ownership.hpp"
#include "endpoints/delivery/outcome.hpp"

namespace headway::endpoints {

/// Logs the mistake, and keeps it for `last_misuse`. Returns outcome::misuse.
outcome report_misuse(wrong what, const void* data) noexcept;
/// The last one of this thread.
[[nodiscard]] wrong last_misuse() noexcept;

}  // namespace headway::endpoints

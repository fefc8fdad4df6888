#pragma once

#include "base/result.hpp"
#include "engine/runtime.hpp"

namespace headway::engine {

/// The one runtime of this process, for everybody in it who needs one: MPI, end-points.
/// Threads:  any; they wait for each other.
/// Progress: the first `hold` starts it and the last `let_go` stops it, with their deadlines.
/// Errors:   a job can be joined once: after the last `let_go`, `hold` answers `unsupported`.
[[nodiscard]] base::result<runtime*> hold();
/// Once per successful `hold`. The runtime must not be touched after it.
[[nodiscard]] base::result<> let_go();

/// This process was forked from one that had a runtime, and did not call exec. It has none: threads
/// are not inherited, locks may be held for ever, and what it said to others its parent would have
/// said. `hold` answers `unsupported`, `let_go` does nothing.
[[nodiscard]] bool in_forked_child() noexcept;
inline constexpr auto forked_child_text =
    "this process was forked from one that belongs to a job; call exec first";

}  // namespace headway::engine

#pragma once

#include <functional>

#include "base/result.hpp"
#include "runtime/instance.hpp"

namespace headway::runtime {

/// The settings of this process's instance: those of the environment and of `change_setting`, as
/// they were at the first call.
/// Threads:  any.
[[nodiscard]] const settings& own_settings();
/// Runs `change`, which may set tunables, unless the settings have been read, and returns whether
/// it ran.
/// Threads:  any.
[[nodiscard]] bool change_setting(const std::function<void()>& change);

/// The instance of this process, shared by MPI and end-points.
/// Threads:  any; calls exclude each other.
/// Progress: the first `hold` starts it and the last `let_go` stops it, with their deadlines.
/// Errors:   a job can be joined once: after the last `let_go`, `hold` answers `unsupported`.
[[nodiscard]] base::result<instance*> hold();
/// Once for each successful `hold`. The instance must not be used afterwards.
[[nodiscard]] base::result<> let_go();

/// Whether this process was forked from one that had an instance, and has not called exec. It has
/// none: threads are not inherited, locks may be held for ever, and the connections belong to the
/// parent. `hold` answers `unsupported`, `let_go` does nothing.
[[nodiscard]] bool in_forked_child() noexcept;
inline constexpr auto forked_child_text =
    "this process was forked from one that belongs to a job; call exec first";

}  // namespace headway::runtime

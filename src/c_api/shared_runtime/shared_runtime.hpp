#pragma once

#include <functional>

#include "base/result.hpp"
#include "runtime/instance.hpp"

/// The one runtime of a process that the C interfaces share: MPI and end-points, whose functions
/// have no argument that names a runtime. `runtime::instance` itself has no globals.
namespace headway::shared_runtime {

/// The settings of the shared runtime: those of the environment and of `change_setting`, as they
/// were at the first call.
/// Threads:  any.
[[nodiscard]] const runtime::settings& own_settings();
/// Runs `change`, which may set tunables, unless the settings have been read, and returns whether
/// it ran.
/// Threads:  any.
[[nodiscard]] bool change_setting(const std::function<void()>& change);

/// Threads:  any; calls exclude each other.
/// Progress: the first `hold` starts it and the last `let_go` stops it, with their deadlines.
/// Errors:   a job can be joined once: after the last `let_go`, `hold` answers `unsupported`.
[[nodiscard]] base::result<runtime::instance*> hold();
/// Once for each successful `hold`. The instance must not be used afterwards.
[[nodiscard]] base::result<> let_go();

/// Whether this process was forked from one that had a shared runtime, and has not called exec. It
/// has none: threads are not inherited, locks may be held for ever, and the connections belong to
/// the parent. `hold` answers `unsupported`, `let_go` does nothing.
[[nodiscard]] bool in_forked_child() noexcept;
inline constexpr auto forked_child_text =
    "this process was forked from one that belongs to a job; call exec first";

}  // namespace headway::shared_runtime

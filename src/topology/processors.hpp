#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway::topology {

/// How many processors' worth of time the control group of this process may use, if it is limited:
/// the smallest quota between its group and the root, of cgroup v2 or v1.
[[nodiscard]] std::optional<double> group_quota();

/// The quota that one line of cgroup v2's cpu.max stands for ("50000 100000" is 0.5).
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view line);

/// Field 4 of /proc/loadavg, "runnable/all"; nothing if the text is not like that.
[[nodiscard]] std::optional<int> parse_runnable(std::string_view loadavg);

/// Processors that this process shares with all who were started as it was: those of its affinity
/// mask, if its parent has the same. A launcher under `taskset` confines its ranks so, together;
/// a launcher that binds each rank to a core of its own has another mask itself. Nothing otherwise.
[[nodiscard]] std::optional<int> confined_together();

/// Processors in the affinity mask of this process; 1 when the kernel does not say.
[[nodiscard]] int allowed_processors() noexcept;

}  // namespace headway::topology

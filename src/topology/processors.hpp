#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::topology {

/// How many processors' worth of time the control group of this process may use, if it is limited:
/// the smallest quota between its group and the root, of cgroup v2 or v1.
[[nodiscard]] std::optional<double> group_quota();

/// The quota in a line of cgroup v2's cpu.max ("50000 100000" is 0.5).
[[nodiscard]] std::optional<double> parse_cpu_max(std::string_view line);

/// Field 4 of /proc/loadavg, "runnable/all"; nothing if the text has another form.
[[nodiscard]] std::optional<int> parse_runnable(std::string_view loadavg);

/// The processors that this process shares with all processes that its parent started: those of its
/// affinity mask, if the parent has the same mask, otherwise nothing. A launcher under `taskset`
/// confines its ranks together in this way; one that binds each rank to a core of its own has
/// another mask than its ranks.
[[nodiscard]] std::optional<int> confined_together();

/// Kernel numbers of the processors that some thread of this process may use, ascending: a program
/// may have bound its threads one by one. Empty: the kernel does not report them.
[[nodiscard]] std::vector<int> bound_processors();

/// Processors in the affinity mask of this process; 1 if the kernel does not report them.
[[nodiscard]] int allowed_processors() noexcept;

}  // namespace headway::topology

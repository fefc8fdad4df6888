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

/// Processors in the affinity mask of this process; 1 when the kernel does not say.
[[nodiscard]] int allowed_processors() noexcept;

}  // namespace headway::topology

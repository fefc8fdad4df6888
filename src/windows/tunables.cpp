// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "windows/settings.hpp"

namespace headway::windows {
namespace {

constexpr std::string_view names[ways] = {"wire", "nearby", "mapped"};

base::choice_tunable best_way{"HEADWAY_WINDOWS",
                              {"wire", "nearby", "mapped"},
                              "mapped",
                              "the quickest way to a target that one-sided communication may take: "
                              "packets, the kernel's copy "
                              "between processes, memory that both map. The same in all processes"};

}  // namespace

std::string_view name_of(way which) noexcept { return names[static_cast<std::size_t>(which)]; }

settings settings::from_environment() { return {.best = static_cast<way>(best_way.index())}; }

}  // namespace headway::windows

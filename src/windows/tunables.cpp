#include "base/tunable.hpp"
#include "windows/settings.hpp"

namespace headway::windows {
namespace {

base::choice_tunable best_way{"HEADWAY_WINDOWS",
                              {"wire", "nearby", "mapped"},
                              "mapped",
                              "the quickest way to a target that one-sided communication may take: "
                              "packets, the kernel's copy "
                              "between processes, memory that both map. The same in all processes"};

}  // namespace

settings settings::from_environment() { return {.best = static_cast<way>(best_way.index())}; }

}  // namespace headway::windows

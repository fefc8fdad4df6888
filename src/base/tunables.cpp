// The user's setting of the log.
#include "base/log.hpp"
#include "base/tunable.hpp"

namespace headway::base {
namespace {

choice_tunable log_level{"HEADWAY_LOG",
                         {"error", "warning", "info", "debug"},
                         "warning",
                         "least severe kind of line that is printed on standard error"};

}  // namespace

log_settings log_settings::from_environment() {
  return {.least = static_cast<severity>(log_level.index())};
}

}  // namespace headway::base

// The user's settings; settings.hpp has them as values.
#include "base/tunable.hpp"
#include "collectives/settings.hpp"

namespace headway::collectives {
namespace {

base::text_tunable forced_algorithms{
    "HEADWAY_COLLECTIVES", "", "COLLECTIVE:ALGORITHM,… as allreduce:ring,bcast:chain",
    "algorithm per collective in place of the table's choice, the same on all ranks; one that does "
    "not fit the call is passed over"};

}  // namespace

settings settings::from_environment() { return from_text(forced_algorithms.get()); }

}  // namespace headway::collectives

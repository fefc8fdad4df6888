#include "collectives/tunables.hpp"

namespace headway::collectives {

base::text_tunable forced_algorithms{
    "HEADWAY_COLLECTIVES", "", "allreduce:ring,bcast:chain",
    "algorithm per collective in place of the table's choice, the same on all ranks; one that does "
    "not fit the call is passed over"};

}  // namespace headway::collectives

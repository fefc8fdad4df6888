#include "sampling/tunables.hpp"

namespace headway::sampling {

base::number_tunable profile_days_max{
    "HEADWAY_PROFILE_DAYS",
    "days",
    90,
    0,
    36'500,
    "age from which a rail's profile is measured again: cables and switches are changed without "
    "anybody telling us"};

}  // namespace headway::sampling

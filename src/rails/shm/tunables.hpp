#pragma once

#include "base/tunable.hpp"

namespace headway::rails::shm {

extern const base::text_tunable directory;
extern const base::number_tunable ring_bytes;
extern const base::number_tunable piece_bytes;
extern const base::number_tunable piece_count;

/// How large payloads travel.
enum class large_way { automatic, ring, kernel };
[[nodiscard]] large_way chosen_large_way();

}  // namespace headway::rails::shm

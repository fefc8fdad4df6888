#pragma once

#include <cstdint>

namespace headway::rails::shm {

/// Which of what arrives: `hurried` leaves out packets that can wait (rails::packet).
enum class arrivals : std::uint8_t { all, hurried };

}  // namespace headway::rails::shm

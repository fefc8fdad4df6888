#pragma once

#include <cstdint>

namespace headway::endpoints {

/// How a call ended. The values are those of include/headway/endpoint.h.
enum class outcome : std::int8_t {
  ok = 0,
  again,  ///< it would have to wait
  timed_out,
  not_found = -3,  ///< no end-point has this name
  taken = -4,      ///< another end-point has this name
  gone = -5,       ///< the end-point was closed, or its process died
  no_memory = -6,
  misuse = -7,  ///< misuse of a buffer: see last_wrong
  bad_argument = -8,
  not_joined = -9,  ///< the job could not be joined, or was left
};

}  // namespace headway::endpoints

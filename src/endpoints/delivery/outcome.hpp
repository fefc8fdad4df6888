#pragma once

#include <cstdint>

namespace headway::endpoints {

/// How a call ended. The values are those of include/headway/endpoint.h.
enum class outcome : std::int8_t {
  ok = 0,
  again,  ///< it would have to wait
  timed_out,
  not_found,  ///< no end-point has this name
  taken,      ///< another end-point has this name
  gone,       ///< the end-point was closed, or its process died
  no_memory,
  misuse,  ///< misuse of a buffer: see last_wrong
  bad_argument,
  not_joined,  ///< the job could not be joined, or was left
};

}  // namespace headway::endpoints

#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "report/merge.hpp"

namespace headway::report {

using base::ms;

/// What a rank reports that ran for 1 s.
inline part part_of(std::uint32_t rank, std::uint32_t size = 2, std::uint32_t node = 0) {
  return {.rank = rank,
          .size = size,
          .node = node,
          .began_ns = 0,
          .ended_ns = 1000 * ms,
          .host = "here",
          .program = "/bin/heat"};
}

/// Calls that were all timed.
inline call_row row_of(const std::string& function, std::uint64_t calls, std::uint64_t each_ns) {
  return {.function = function,
          .from = {.object = "", .offset = 1, .symbol = ""},
          .sums = {.calls = calls,
                   .timed = calls,
                   .timed_ns = calls * each_ns,
                   .timed_longest_ns = each_ns,
                   .longest_ns = each_ns}};
}

}  // namespace headway::report

#pragma once

#include <cstdint>
#include <optional>

#include "collectives/reducer.hpp"
#include "datatypes/number.hpp"

namespace headway::collectives {

enum class operation : std::uint8_t {
  max,
  min,
  sum,
  prod,
  land,
  band,
  lor,
  bor,
  lxor,
  bxor,
  maxloc,
  minloc,
  replace,  ///< right = left: accumulate only
  no_op,    ///< right stays: accumulate only
};

/// The predefined operator on elements of that kind; nothing if the standard does not allow it
/// (MPI-5.0 sections 6.9.2 and 6.9.4). `replace` and `no_op` are allowed on everything, and
/// MPI_CHAR is treated like a small integer, as in MPICH and Open MPI, because common benchmarks
/// reduce MPI_CHAR.
[[nodiscard]] std::optional<reducer> predefined(operation op, datatypes::number kind) noexcept;

}  // namespace headway::collectives

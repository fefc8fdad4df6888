#pragma once

#include <cstdint>

#include "rails/exposures.hpp"
#include "rails/memory_calls.hpp"
#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {

/// A request of a peer, and how much of the answer has been queued.
struct asked_request {
  std::uint64_t id = 0;  ///< of the exposure
  std::uint64_t offset = 0;
  memory_request what = {};
  std::uint64_t answered = 0;  ///< bytes
};

/// The tables for both sides of a driver's memory operations.
struct memory_tables {
  exposures exposed;
  memory_calls calls;
};

}  // namespace headway::rails::tcp

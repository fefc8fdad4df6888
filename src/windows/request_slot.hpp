#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collectives/operators.hpp"
#include "datatypes/number.hpp"
#include "windows/operation.hpp"
#include "windows/slot_turn.hpp"
#include "windows/wire.hpp"

namespace headway::windows {

/// A small operation that an origin asks of a target of its node, which carries it out when it
/// polls: for memory that the origin cannot map.
/// Shape:    the request and its answer of an element are in one cache line.
struct alignas(64) request_slot {
  static constexpr std::size_t data_bytes = 480;

  basic_slot_turn<std::atomic<std::uint32_t>> turn;
  action what = action::put;
  collectives::operation op = collectives::operation::replace;
  datatypes::number kind = datatypes::number::byte;
  status how = status::ok;      ///< the answer
  std::int64_t offset = 0;      ///< from the window's base
  std::uint32_t count = 0;      ///< elements of `kind`, in a row
  bool carried_out = false;     ///< the answer; false: other processes were changing elements there
  std::uint8_t unused[3] = {};  ///< fill the head
  alignas(16) std::array<std::byte, data_bytes> data = {};  ///< see slot_service.cpp
};
static_assert(sizeof(request_slot) == 512);

/// Those of a target, for all origins of its node. All zero is its initial state.
using request_slots = std::array<request_slot, 8>;

}  // namespace headway::windows

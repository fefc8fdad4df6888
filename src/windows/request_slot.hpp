#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "collectives/operators.hpp"
#include "datatypes/number.hpp"
#include "windows/operation.hpp"
#include "windows/slot_turn.hpp"

namespace headway::windows {

/// What an origin requests in a slot.
enum class slot_action : std::uint8_t {
  put,               ///< data: the bytes
  puts,              ///< data: several puts, see gathered_puts
  get,               ///< the answer has the bytes
  accumulate,        ///< data, or what is staged: the operand
  fetch,             ///< data: the operand; the answer has what was there behind it
  compare_and_swap,  ///< data: what is expected, the new value; the answer has what was there
  pull,              ///< data: `origin_memory`, from which the target copies
  push,              ///< data: `origin_memory`, to which the target copies
};

/// Bytes in the process of an origin.
struct origin_memory {
  std::uint64_t address = 0;
  std::int32_t rank = 0;
  std::int32_t unused = 0;
};

/// An operation that an origin requests of a target of its node, which carries it out when it
/// polls: for memory that the origin cannot map.
/// Shape:    the request and its answer of an element are in one cache line.
struct alignas(64) request_slot {
  static constexpr std::size_t data_bytes = 480;

  basic_slot_turn<std::atomic<std::uint32_t>> turn;
  slot_action what = slot_action::put;
  collectives::operation op = collectives::operation::replace;
  datatypes::number kind = datatypes::number::byte;
  status how = status::ok;      ///< the answer
  std::int64_t offset = 0;      ///< from the window's base
  std::uint32_t count = 0;      ///< elements of `kind`, in a row
  bool carried_out = false;     ///< the answer; false: it cannot be now, nothing was done
  std::uint8_t unused[3] = {};  ///< fill the head
  alignas(16) std::array<std::byte, data_bytes> data = {};  ///< see slot_service.cpp
};
static_assert(sizeof(request_slot) == 512);

/// What origins see of the target's threads. Hints, written by the target, so every access is
/// relaxed. In a line of its own, which the target has to itself while its slots are taken.
struct alignas(64) polling_sign {
  std::atomic<std::uint32_t> rounds{0};       ///< changes with each polling round
  std::atomic<std::uint32_t> wait_sleeps{0};  ///< 1: a waiting thread sleeps, and may be woken
};

/// Those of a target, for all origins of its node. All zero is its initial state.
struct request_slots {
  static constexpr std::size_t count = 8;

  polling_sign sign;
  std::array<request_slot, count> all;
};

/// Memory beside the slots of a target: operands that a slot has no room for. The n-th part belongs
/// to who has the n-th slot.
/// Shape:    none, or so many bytes, of which no page exists until an origin has reserved them
///           (node_block::reserve).
struct staging {
  static constexpr std::size_t part_bytes = 16 * 1024;
  static constexpr std::size_t bytes = request_slots::count * part_bytes;

  std::byte* at = nullptr;
  [[nodiscard]] std::byte* part_of(const request_slots& of,
                                   const request_slot& slot) const noexcept {
    HEADWAY_DEBUG_ASSERT(at != nullptr && of.all.data() <= &slot && &slot <= &of.all.back());
    return at + static_cast<std::size_t>(&slot - of.all.data()) * part_bytes;
  }
};

}  // namespace headway::windows

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collectives/operators.hpp"
#include "datatypes/number.hpp"
#include "windows/element_runs.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// What an origin requests of a target. A message of the tag messages::window_request_tag has one
/// request or several, one behind the other; the target serves those of one origin in their order.
enum class action : std::uint8_t {
  put,               ///< payload: the bytes. Of this and the next two, elements are bytes
  put_message,       ///< the bytes of one run come as a message with `tag`
  get,               ///< the answer has the bytes
  accumulate,        ///< payload: the operand, in array form
  fetch,             ///< the same, and the answer has what was there, in array form
  compare_and_swap,  ///< payload: what is expected, the new value; the answer has what was there
  flush,             ///< answered when all earlier requests of the origin have had their effect
  lock,              ///< answered when the lock is granted
  unlock,            ///< answered as a flush
  released,          ///< a lock was released that others wait for; no answer
  look,              ///< wakes a thread, so that it polls; no answer
  lock_rest,         ///< what follows in the message is served once the lock is granted; no answer
  complete,          ///< the origin's accesses have ended (MPI_Win_complete); no answer
};

/// The head of a request. Runs follow it, then the payload, padded to 16 bytes. Plain data, for
/// processes that run the same build.
struct request_head {
  action what = action::flush;
  collectives::operation op = collectives::operation::replace;
  datatypes::number kind = datatypes::number::byte;
  lock_type lock = lock_type::shared;
  std::uint32_t runs = 0;
  std::uint32_t payload_bytes = 0;
  std::int32_t tag = 0;  ///< of the answer, or of the message with the bytes
};
static_assert(sizeof(request_head) == 16);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + 15) & ~std::size_t{15};
}

/// The longest message with requests.
inline constexpr std::size_t request_bytes_max = 64 * 1024;

/// A request in a message.
struct request_view {
  request_head head;
  std::span<const element_run> runs;
  std::span<const std::byte> payload;
};

/// Whether requests can be taken from where this message lies.
[[nodiscard]] inline bool lies_aligned(std::span<const std::byte> message) noexcept {
  return reinterpret_cast<std::uintptr_t>(message.data()) % alignof(element_run) == 0;
}

/// Takes the first request out of `rest`, which `lies_aligned`. Nothing: it makes no sense. What is
/// returned is as its sender says; its offsets are not checked, its lengths are.
[[nodiscard]] std::optional<request_view> take_request(std::span<const std::byte>& rest) noexcept;

/// The elements of all runs; nothing: the payload or answer of such a request would have a wrong or
/// excessive length; or it puts or gets other elements than bytes, or compares pairs with a gap.
[[nodiscard]] std::optional<std::int64_t> elements_of(const request_view& request) noexcept;

}  // namespace headway::windows

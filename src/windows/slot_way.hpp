#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "processes/process.hpp"
#include "rails/memory.hpp"
#include "windows/operation.hpp"
#include "windows/request_slot.hpp"
#include "windows/slot_service.hpp"
#include "windows/wire_way.hpp"

namespace headway::windows {

/// Small operations on a target of this node whose memory is not mapped here, carried out by the
/// target if a thread of it polls: two cache lines travel, where a copy by the kernel takes a
/// system call.
/// Shape:    of an origin, for one target.
/// Threads:  any.
/// Progress: an operation waits for the target for about as long as a copy by the kernel takes,
///           then withdraws. Meanwhile this process serves its own slots, because the target may
///           wait for those. A target that has begun is waited for until it has finished or ended.
/// Errors:   `lost`: the target ended while it carried out the operation.
class slot_way {
 public:
  struct target {
    request_slots& slots;
    slot_service& own;  ///< of this process
    wire_way& wire;     ///< wakes the target
    int rank;
    rails::memory& copies;
    processes::peer_id process;
    std::uint64_t base;  ///< of the window, in its process
  };
  explicit slot_way(const target& of) noexcept : of_(of) {}

  // Nothing: the operation does not fit, or the target did not take it. Nothing has been done then.
  [[nodiscard]] std::optional<status> put(const local_data& from, const remote_data& to) noexcept;
  [[nodiscard]] std::optional<status> get(const local_data& to, const remote_data& from) noexcept;
  /// `operand` is not read for MPI_NO_OP; `before` may be null.
  [[nodiscard]] std::optional<status> change_elements(const local_data* operand,
                                                      const local_data* before,
                                                      const remote_data& where, const change& how);
  [[nodiscard]] std::optional<status> compare_and_swap(const std::byte* value,
                                                       const std::byte* expected, std::byte* before,
                                                       const remote_data& where) noexcept;

 private:
  enum class outcome : std::uint8_t {
    answered,
    not_answered,
    lost,  ///< the slot stays as it is
  };
  /// A free slot. Null: there is none, or the target has not taken the last requests.
  [[nodiscard]] request_slot* claim() noexcept;
  /// Has the target carry out what is in the slot. `take` copies the answer.
  template <class Take>
  [[nodiscard]] std::optional<status> ask(request_slot& slot, Take take) noexcept;
  [[nodiscard]] outcome await(request_slot& slot) noexcept;
  [[nodiscard]] outcome await_end(request_slot& slot) noexcept;

  const target of_;
  // Operations since the target took one. Relaxed: a hint.
  std::atomic<std::uint32_t> not_taken_{0};
};

}  // namespace headway::windows

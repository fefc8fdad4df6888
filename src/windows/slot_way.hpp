#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "windows/gathered_puts.hpp"
#include "windows/operation.hpp"
#include "windows/request_slot.hpp"
#include "windows/slot_client.hpp"

namespace headway::windows {

/// Operations on a target of this node whose memory is not mapped here, with the target's help if a
/// thread of it polls. Small ones travel in a slot: two cache lines, where a copy by the kernel
/// takes a system call. Of large copies both processes have the kernel make a part. Of a large
/// accumulate this process copies the operand to memory of the node, and the target changes its
/// elements meanwhile.
///
/// Puts of up to 64 bytes are gathered, and carried out together: when a slot is full, before
/// another operation of this process on the target, or by `finish_puts`.
/// Shape:    of an origin, for one target.
/// Threads:  any.
/// Progress: as slot_client.
/// Errors:   `lost`: the target ended while it carried out the operation. `finish_puts`
///           returns how gathered puts ended.
class slot_way {
 public:
  /// `gathering`: counts the ways of a window that have puts to finish.
  slot_way(const slot_client::target& of, std::atomic<std::uint32_t>& gathering) noexcept
      : client_(of), gathering_(gathering) {}

  /// Afterwards all puts that this thread knows of have ended at the target. The worst status of
  /// those since the last call.
  [[nodiscard]] status finish_puts() noexcept;

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

  /// Copies `bytes` from `here` into the window (slot_action::pull), or the other way (push).
  /// False: the target has ended.
  [[nodiscard]] bool copy(slot_action what, std::byte* here, std::int64_t offset,
                          std::size_t bytes) noexcept;
  /// From so many bytes on it is worth to share a copy.
  static constexpr std::size_t shared_copy_min = 64 * 1024;

  /// Changes `count` elements of the target, the first of them the `first` of the operation,
  /// without its help. False: a process has ended.
  using alone = std::function<bool(std::int64_t first, std::int64_t count)>;
  /// An accumulate that does not fit into a slot. `operand` is in array form.
  [[nodiscard]] std::optional<status> accumulate_large(const std::byte* operand,
                                                       const remote_data& where, const change& how,
                                                       const alone& rest);

 private:
  void gather(const local_data& from, const remote_data& to) noexcept;
  /// Before other operations.
  void carry_out_puts() noexcept;
  void carry_out_gathered() noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] status put_alone(std::span<const std::byte> puts) noexcept;

  struct request {
    slot_action what;
    std::int64_t offset = 0;
    std::uint32_t count = 0;
    datatypes::number kind = datatypes::number::byte;
    collectives::operation op = collectives::operation::replace;
  };
  static void write(request_slot& slot, const request& wanted) noexcept;
  /// Has the target carry out what is wanted. `fill` writes the data, `take` copies the answer.
  template <class Fill, class Take>
  [[nodiscard]] std::optional<status> carry_out(const request& wanted, Fill fill,
                                                Take take) noexcept;
  [[nodiscard]] bool has_staging() noexcept;

  class shared_copy;
  class staged_accumulate;

  enum class reserved : std::uint8_t { unknown, yes, no };
  slot_client client_;
  std::atomic<std::uint32_t>& gathering_;
  // Some were gathered since `finish_puts`. Changed under the lock; relaxed, as the count: a thread
  // that finishes the puts of another one has been told of them.
  std::atomic<bool> has_puts_{false};
  base::mutex lock_;  // around the exchange with the target, too
  gathered_puts gathered_ HEADWAY_GUARDED_BY(lock_);
  status worst_ HEADWAY_GUARDED_BY(lock_) = status::ok;
  // Relaxed: threads that find out at the same time find the same.
  std::atomic<reserved> staging_{reserved::unknown};
};

}  // namespace headway::windows

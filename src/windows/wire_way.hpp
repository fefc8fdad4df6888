#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "windows/channel.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// One-sided operations as packets to the target's engine (target.hpp), over any rail.
///
/// Small data leaves in requests, which are collected; data in one block at the target that no
/// request has room for travels as a message of its own, straight into the window or the origin's
/// buffer. The rest is cut.
/// Shape:    nothing for a target that was not used.
/// Threads:  any of the program's.
/// Progress: synchronisations wait. Operations, and what starts synchronisations, do not, but while
///           a lock that was requested with earlier ones has not been granted.
class wire_way {
 public:
  wire_way(messages::exchange& exchange, messages::context& context) noexcept
      : exchange_(exchange), context_(context) {}

  // The operation, whose end is that at the origin; null: it has ended there already.
  [[nodiscard]] pending_ptr put(const local_data& from, const remote_data& to);
  [[nodiscard]] pending_ptr get(const local_data& to, const remote_data& from);
  [[nodiscard]] pending_ptr accumulate(const local_data& operand, const remote_data& to,
                                       change how);
  /// `operand` has no elements where `how` is MPI_NO_OP.
  [[nodiscard]] pending_ptr fetch(const local_data& operand, const local_data& before,
                                  const remote_data& from, change how);
  /// Of one element of a predefined type.
  [[nodiscard]] pending_ptr compare_and_swap(const std::byte* value, const std::byte* expected,
                                             std::byte* before, const remote_data& at);

  // Without waiting: the synchronisation is over when all of what is returned has ended, with the
  // worst of their states.
  [[nodiscard]] pending_list start_flush(int target);
  [[nodiscard]] pending_list start_lock(int target, lock_type how);
  /// All puts have been flushed whose data travels as a message of its own.
  [[nodiscard]] pending_list start_unlock(int target, lock_type how);
  /// Tells the target that this process's accesses have ended; over when they have ended here.
  [[nodiscard]] pending_list start_end(int target);
  [[nodiscard]] status await(int target, const pending_list& before);

  /// Waits until all operations have ended at the origin, and what they left to be sent is sent.
  [[nodiscard]] status flush_local(int target);
  /// Waits until they have ended at the target.
  [[nodiscard]] status flush(int target);
  /// As `flush`; afterwards no request is under way at all.
  [[nodiscard]] status settle(int target);
  /// Waits for the lock.
  [[nodiscard]] status lock(int target, lock_type how);
  /// Requests it with the first operations, so that a short epoch is one message and one answer.
  [[nodiscard]] status lock_with_operations(int target, lock_type how);
  /// Flushes, and releases it.
  [[nodiscard]] status unlock(int target, lock_type how);
  /// A lock was released by another way, for which others are queued.
  void report_release(int target) { tell(target, action::released); }
  /// Wakes a thread of the target that sleeps until its messages come.
  void wake(int target) { tell(target, action::look); }

  /// The targets that were used.
  [[nodiscard]] std::vector<int> used() const;

 private:
  [[nodiscard]] channel& channel_to(int target);
  [[nodiscard]] channel* find(int target) const;
  /// Sends what has no answer.
  void tell(int target, action what);
  template <class Write>
  void send_elements(channel& to, const remote_data& place, request_head head, std::int64_t extent,
                     Write write);

  messages::exchange& exchange_;
  messages::context& context_;
  mutable base::mutex lock_;
  std::unordered_map<int, std::unique_ptr<channel>> channels_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::windows

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "windows/pending_operation.hpp"
#include "windows/request_buffer.hpp"
#include "windows/wire.hpp"

namespace headway::windows {

/// The requests of this process to one target, in their order.
///
/// Requests that need no answer are collected, and leave together: before one that needs an answer,
/// with a synchronisation, or when a message is full. The lock of the target may be collected, too
/// (`defer_lock`): it then leaves with the requests behind it, which the target serves once the
/// lock is granted, and nothing else leaves before one of these has been answered.
/// Threads:  any of the program's; `lock` is held around what begins an operation.
/// Progress: `await` waits, and `begin` while a deferred lock has been requested and not granted.
class channel {
 public:
  channel(messages::exchange& exchange, messages::context& context, int target) noexcept;

  base::mutex lock;

  /// Takes `lock` for an operation or a synchronisation whose requests have so many bytes, heads
  /// and padding included.
  void begin(std::size_t bytes) HEADWAY_ACQUIRE(lock);
  static constexpr std::size_t any_bytes = SIZE_MAX;  ///< for `begin`: more than one message
  [[nodiscard]] static constexpr std::size_t request_bytes(std::size_t runs,
                                                           std::size_t payload) noexcept {
    return sizeof(request_head) + runs * sizeof(element_run) + padded(payload);
  }
  /// The lock is requested with the first requests that leave. False: some are collected already.
  [[nodiscard]] bool defer_lock(lock_type how) HEADWAY_REQUIRES(lock);

  /// Room for the runs and the payload of one request.
  [[nodiscard]] std::size_t room() const noexcept {
    return message_bytes_max_ - sizeof(request_head);
  }
  /// Collects a request; returns where its payload goes, of `head.payload_bytes`.
  [[nodiscard]] std::byte* append(request_head head, std::span<const element_run> runs)
      HEADWAY_REQUIRES(lock);
  /// Sends what was collected.
  void send() HEADWAY_REQUIRES(lock);
  /// The same where a request in it is answered, which ends `answered`.
  void send(const pending_ptr& answered) HEADWAY_REQUIRES(lock);
  /// Keeps an operation until it has ended.
  void keep(pending_ptr operation) HEADWAY_REQUIRES(lock);
  /// The same for one whose bytes travel as a message of their own: see `has_large`.
  void keep_large(pending_ptr operation) HEADWAY_REQUIRES(lock) {
    large_ = true;
    keep(std::move(operation));
  }

  /// Posts the receive of an answer, which must be there before its request leaves. Returns its
  /// tag.
  [[nodiscard]] std::int32_t expect_answer(pending_operation::piece& piece,
                                           std::span<std::byte> memory) noexcept;
  /// Sends bytes for a request action::put_message, under its tag.
  void send_data(pending_operation::piece& piece, std::span<const std::byte> bytes,
                 std::int32_t tag) noexcept;
  [[nodiscard]] std::int32_t next_data_tag() noexcept;

  /// Requests an answer without payload, behind all earlier requests: flush, lock, unlock. It is
  /// then among what is `under_way`.
  void synchronise(request_head head) HEADWAY_REQUIRES(lock);
  /// Something was changed there since the last `synchronise`, as far as is known here.
  [[nodiscard]] bool is_dirty() const noexcept HEADWAY_REQUIRES(lock) { return dirty_; }
  /// A request that has no answer was sent since then.
  [[nodiscard]] bool has_unanswered() const noexcept HEADWAY_REQUIRES(lock) { return unanswered_; }
  /// Bytes are under way as messages of their own, which an unlock would overtake.
  [[nodiscard]] bool has_large() const noexcept HEADWAY_REQUIRES(lock) { return large_; }

  /// The operations that were begun before and are kept: all that have not ended.
  [[nodiscard]] pending_list under_way() const HEADWAY_REQUIRES(lock) { return pending_; }
  /// Waits for them. Returns the worst of what has ended since the last call.
  [[nodiscard]] status await(const pending_list& before) HEADWAY_EXCLUDES(lock);

 private:
  /// Requests that leave together.
  struct message;

  void drop_ended() HEADWAY_REQUIRES(lock);
  /// Requests the deferred lock alone, before what is collected.
  void request_lock() HEADWAY_REQUIRES(lock);

  messages::exchange& exchange_;
  messages::context& context_;
  const int target_;
  const std::size_t message_bytes_max_;
  std::atomic<std::uint32_t> answers_{0}, data_{0};  // relaxed: numbers for tags

  request_buffer collected_ HEADWAY_GUARDED_BY(lock);
  // One that has left, for the next one; null: there is none.
  std::shared_ptr<message> sent_ HEADWAY_GUARDED_BY(lock);
  pending_list pending_ HEADWAY_GUARDED_BY(lock);
  status worst_ HEADWAY_GUARDED_BY(lock) = status::ok;
  // Its request is the first of those that are collected.
  std::optional<lock_type> deferred_ HEADWAY_GUARDED_BY(lock);
  // Ends after the deferred lock was granted.
  pending_ptr shows_grant_ HEADWAY_GUARDED_BY(lock);
  bool dirty_ HEADWAY_GUARDED_BY(lock) = false;
  bool unanswered_ HEADWAY_GUARDED_BY(lock) = false;
  bool large_ HEADWAY_GUARDED_BY(lock) = false;
};

}  // namespace headway::windows

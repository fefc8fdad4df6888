#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "messages/operation_log.hpp"
#include "packets/peer.hpp"

namespace headway::messages {

class context;
class request;
struct exchange_parts;
struct notice_head;
struct unexpected_message;

/// Detects collective operations that cannot succeed, and ends them on all ranks: messages of
/// another length than is due or of a rank that has none to send (given_up.cpp), and ranks that
/// call different operations (inquiries.cpp).
/// Shape:    no fields of its own; what it learns is in the contexts.
/// Threads:  `arrived_…` by the reaper; the rest any thread. No lock is held.
/// Progress: never waits.
class failing_operations {
 public:
  explicit failing_operations(exchange_parts& of) noexcept : parts_(of) {}

  /// A message for `r` has another length than is due.
  void wrong_length(const request& r, int tag) noexcept;
  /// Ends operations that wait for a message that no rank sends, and asks the others about those
  /// that have waited for a while. Called now and then.
  void look_in(context& where) noexcept;
  void arrived_given_up(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  void arrived_inquiry(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  void arrived_misfit(packets::peer& from, std::span<const std::byte> bytes) noexcept;
  /// Does what a notice says that has come before its context was open; frees it.
  void take_early_notice(context& where, unexpected_message& notice) noexcept;
  /// Receives nothing of a message, so that its sender does not wait for ever; frees it.
  void discard(context& where, unexpected_message& message) noexcept;

 private:
  /// Ends the operation with this tag here, and at all members of the context.
  void give_up(context& where, int tag) noexcept;
  /// Calls it if a message has come that its operation, which waits for others, does not expect.
  void look_for_misfit(context& where) noexcept;
  /// Sends the log to others if an operation has waited for a while.
  void inquire(context& where) noexcept;
  [[nodiscard]] static bool has_messages(context& where) noexcept;
  /// The context that this member's notice is about; null: it is closed here, or not open yet.
  [[nodiscard]] context* find(packets::peer& from, const notice_head& about) noexcept;
  /// Fails the receives of an operation that `rank` has given up, and discards its messages. False:
  /// it was given up before, or is no collective operation.
  bool end_operation(context& where, int rank, int tag) noexcept;
  /// Fails the receives with this tag, or those of all operations, and discards the messages.
  void end_receives(context& where, int rank, std::optional<int> tag) noexcept;
  /// Ends all operations that wait here.
  void break_operations(context& where, const operation_log::misfit& why) noexcept;

  exchange_parts& parts_;
};

}  // namespace headway::messages

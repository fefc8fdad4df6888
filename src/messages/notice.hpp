#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "messages/operation_log.hpp"
#include "messages/parts.hpp"
#include "messages/request.hpp"
#include "messages/wire.hpp"

namespace headway::messages {

/// A packet about the collective operations of a context, to one rank, which matches no receive.
/// Deletes itself.
struct notice final : request {
  static constexpr std::size_t bytes_max = sizeof(operation_log::copy);

  notice(packets::peer& to, const notice_head& as, std::span<const std::byte> content) noexcept;
  void post(exchange_parts& parts) noexcept;

  /// Sends one to a rank. Making a peer may take long.
  static void tell(context& where, int rank, wire_kind what, int tag,
                   std::span<const std::byte> content) noexcept;
  /// Sends one to all other ranks, soon, by an ltask.
  static void tell_all(context& where, wire_kind what, int tag,
                       std::span<const std::byte> content = {}) noexcept;

 private:
  std::array<std::byte, bytes_max> content_;
};

}  // namespace headway::messages

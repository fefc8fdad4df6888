#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "endpoints/delivery/delivery.hpp"
#include "endpoints/names/names.hpp"
#include "endpoints/wire/buffer_queue.hpp"
#include "endpoints/wire/bulk.hpp"
#include "endpoints/wire/packet_sender.hpp"
#include "endpoints/wire/region_offers.hpp"
#include "packets/peers.hpp"

namespace headway::endpoints {

/// Packets of end-points from other processes: parses each and passes it to the part that handles
/// it. No packet is trusted.
///
/// Threads:  `arrived` and `lost` by the reaper.
/// Progress: never waits.
class arrivals final : public packets::receiver {
 public:
  struct parts {
    pool& buffers;
    packet_sender& packets;
    delivery& here;
    buffer_queue& waiting;
    bulk_transfers& bulk;
    region_offers& regions;
    names& directory;
    loss_listener& losses;
  };
  arrivals(const parts& by, remote_processes& remotes, std::uint32_t window_units) noexcept
      : remotes_(remotes), buffers_(by.buffers), by_(by), window_units_(window_units) {}

  [[gnu::hot]] void arrived(packets::peer& from,
                            std::span<const std::byte> bytes) noexcept override;
  void lost(packets::peer& whom) noexcept override;

 private:
  /// Messages that come as bytes, and other packets with bytes behind the head.
  struct envelope {
    address from;
    std::uint32_t to = 0;
    std::int32_t tag = 0;
    std::uint16_t charge = 0;
  };
  void arrived_data(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_message(const envelope& what, std::span<const std::byte> payload) noexcept;
  [[gnu::noinline]] void wait_for_buffer(const envelope& what,
                                         std::span<const std::byte> payload) noexcept;
  /// Separate from messages, which are nearly all of what comes.
  [[gnu::noinline]] void arrived_other(std::uint32_t from, wire_kind kind,
                                       std::span<const std::byte> bytes) noexcept;
  void arrived_packed(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_shared(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void arrived_credit(std::uint32_t from, const message_head& head) noexcept;
  void arrived_gone(std::uint32_t from, const message_head& head) noexcept;

  remote_processes& remotes_;
  pool& buffers_;
  const parts by_;
  const std::uint32_t window_units_;
};

}  // namespace headway::endpoints

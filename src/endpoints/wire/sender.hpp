#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "endpoints/buffers/pool.hpp"
#include "endpoints/delivery/delivery.hpp"
#include "endpoints/wire/bulk.hpp"
#include "endpoints/wire/packet_sender.hpp"
#include "endpoints/wire/region_offers.hpp"

namespace headway::endpoints {

/// Sends messages: within this process by pointer, through shared memory by place, otherwise as
/// bytes, in one packet or by bulk_transfers.
///
/// Threads:  any.
/// Progress: `send` waits at the engine for room at the receiver; `send_at_once` never waits.
class sender {
 public:
  struct ways {
    pool& buffers;
    packet_sender& packets;
    delivery& here;
    bulk_transfers& bulk;
    region_offers& regions;
  };
  sender(const ways& by, remote_processes& remotes, std::uint32_t self,
         const settings& chosen) noexcept
      : buffers_(by.buffers),
        peers_(by.packets.peers()),
        remotes_(remotes),
        window_units_(chosen.window),
        self_(self),
        inline_max_(chosen.inline_bytes),
        packets_(by.packets),
        here_(by.here),
        bulk_(by.bulk),
        regions_(by.regions) {}

  /// A small message that the rail copies at once. `again`: the message is none, or a special case;
  /// nothing was done.
  [[nodiscard, gnu::hot]] outcome send_at_once(address to, std::int32_t tag, std::uint32_t from,
                                               const void* data, std::size_t bytes,
                                               bool keep) noexcept;
  [[nodiscard]] outcome send(const sending& what, std::uint64_t deadline_ns) noexcept;
  /// Nothing is sent to other processes any more. True: the first call.
  [[nodiscard]] bool stop() noexcept { return !stopped_.exchange(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] outcome send_here(const sending& what, const pool::found& f,
                                  std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] outcome send_there(const sending& what, const pool::found& f,
                                   std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] outcome get_credit(remote_endpoint& at, const sending& what, std::uint32_t charge,
                                   std::uint64_t deadline_ns) noexcept;
  /// `by_place`: the receiver's process reads the buffer in place.
  [[nodiscard]] outcome post_message(const sending& what, const pool::found& f,
                                     std::uint32_t charge, bool by_place) noexcept;
  [[nodiscard]] bool post_data_now(address to, std::int32_t tag, std::uint32_t from,
                                   const void* data, std::size_t bytes,
                                   std::uint32_t charge) noexcept;
  [[nodiscard]] outcome post_data(const sending& what, const pool::found& f,
                                  std::uint32_t charge) noexcept;
  [[nodiscard]] outcome post_shared(const sending& what, const pool::found& f,
                                    std::uint32_t charge) noexcept;

  pool& buffers_;
  packets::peers& peers_;
  remote_processes& remotes_;
  const std::uint32_t window_units_;
  const std::uint32_t self_;
  std::atomic<bool> stopped_{false};  // relaxed: one caller of `stop` goes on
  const std::size_t inline_max_;      // where the buffer could be handed over
  packet_sender& packets_;
  delivery& here_;
  bulk_transfers& bulk_;
  region_offers& regions_;
};

}  // namespace headway::endpoints

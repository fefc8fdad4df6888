#pragma once

#include <atomic>
#include <cstdint>

#include "packets/bundle/lane_health.hpp"
#include "packets/bundle/lane_helper.hpp"
#include "packets/outgoing.hpp"
#include "packets/statistics.hpp"
#include "rails/driver.hpp"
#include "sampling/profile.hpp"
#include "sampling/rail_clock.hpp"

namespace headway::packets {

/// One of the rails to a peer that has several.
/// Threads:  see the members; `bundle` names the sections S (sending), R (reaping), F (flows).
struct lane {
  lane(rails::driver& driver, std::size_t rail, const lane_health::limits& limits,
       progress::ltask::body help) noexcept
      : via(driver), rail_index(rail), what(driver.query()), helper(help), health(limits) {}

  rails::driver& via;
  const std::size_t rail_index;  ///< among all rails of this process
  const rails::limits what;

  std::atomic<bool> up{true};  ///< written in R; a hint elsewhere, carries nothing
  /// Bytes have come through in both directions: it may carry data. Written in R, a hint elsewhere.
  std::atomic<bool> proved{true};
  std::atomic<bool> refused{false};          ///< S was answered `down`: R will find out
  std::atomic<std::uint32_t> pieces_out{0};  ///< given to the driver, no event yet; a count

  // S:
  bool blocked = false;  ///< told `retry`; until its driver has been reaped again
  outgoing* first_piece = nullptr;
  outgoing* last_piece = nullptr;
  lane_helper helper;             ///< not `free`: `send` is not S's
  bool packets_measured = false;  ///< `profile.eager` is no guess; constant after the start

  // What it has carried and gone through, see `rail_use`; the first two written in S, the others
  // in R.
  statistics::count frames{0}, packets{0}, losses{0}, returns{0};

  // R:
  std::uint64_t heard_ns = 0;
  std::uint64_t answered_ns = 0;  ///< a word came: its process runs, and has looked at this rail
  lane_health health;
  std::uint64_t unproved_since_ns = 0;  ///< 0: nobody has asked it yet
  bool closed = false;                  ///< its connection has ended: `revive` may be called
  std::uint64_t revive_at_ns = 0;

  // F:
  sampling::profile profile;
  sampling::rail_clock clock;  ///< what we have asked the peer to send over it
  bool measured = false;
  std::uint32_t lessons = 0;  ///< pieces that it has learnt from
  std::uint64_t last_landed_ns = 0;
  std::uint64_t avoided_until_ns = 0;  ///< the peer has refused a piece for it
};

}  // namespace headway::packets

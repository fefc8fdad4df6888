#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/assert.hpp"
#include "packets/bundle/lane_health.hpp"
#include "packets/bundle/lane_helper.hpp"
#include "packets/bundle/rail_load.hpp"
#include "packets/rail_departures.hpp"
#include "packets/send_item.hpp"
#include "packets/statistics.hpp"
#include "packets/strategy.hpp"
#include "rails/health.hpp"
#include "sampling/profile.hpp"

namespace headway::packets {

/// One of the rails to a peer that has several.
/// Threads:  see the members. S: the holder of the scheduler's mask; R: in the set's section; F:
///           under the lock of `incoming_flows`.
struct lane {
  /// Counters of a rail, over all its peers.
  struct shared {
    rail_load& load;
    rail_departures& departures;
  };

  lane(rails::driver& driver, std::size_t rail, const shared& rails_own,
       const lane_health::limits& limits, progress::ltask::body help) noexcept
      : via(driver),
        rail_index(rail),
        load(rails_own.load),
        departures(rails_own.departures),
        what(driver.query()),
        helper(help),
        health(limits) {}

  rails::driver& via;
  const std::size_t rail_index;  ///< among all rails of this process
  rail_load& load;               ///< of the rail, shared by all its peers
  rail_departures& departures;   ///< the same
  const rails::limits what;

  std::atomic<bool> up{true};  ///< written in R; a hint elsewhere, carries nothing
  /// Bytes have come through in both directions: it may carry data. Written in R, a hint elsewhere.
  std::atomic<bool> proved{true};
  std::atomic<bool> refused{false};          ///< `send` answered `down` in S: R will find out
  std::atomic<std::uint32_t> pieces_out{0};  ///< given to the driver, no event yet; a count

  // S:
  bool blocked = false;  ///< `send` answered `retry`; until its driver has been reaped again
  lane_helper helper;    ///< while it is not `free`, S must not call `send`
  bool packets_measured = false;  ///< `profile.eager` is no guess; constant once the peer is known

  // Counters, see `lane_use`; the first two are written in S, the others in R.
  statistics::count frames{0}, packets{0}, losses{0}, returns{0};

  // R:
  std::uint64_t activity_ns = 0;  ///< when something came last
  /// when an `ack` came: the peer's process runs, and has polled this rail
  std::uint64_t answered_ns = 0;
  lane_health health;
  std::uint64_t unproved_since_ns = 0;  ///< since when it waits for its first answer; 0: not yet
  bool closed = false;                  ///< its connection has ended: `revive` may be called
  std::uint64_t revive_at_ns = 0;

  // F:
  sampling::profile profile;
  bool measured = false;
  std::uint32_t lessons = 0;  ///< samples that `profile` was updated with
  std::uint64_t last_landed_ns = 0;
  /// until then not used for pieces, because the peer has refused one
  std::uint64_t avoided_until_ns = 0;

  /// It may carry data.
  [[nodiscard]] bool usable() const noexcept {
    return up.load(std::memory_order_relaxed) && proved.load(std::memory_order_relaxed);
  }
  /// When a packet of so many bytes would be at the peer, from now; reads only `eager` of the
  /// profile.
  [[nodiscard]] double packet_ends_ns(std::uint64_t now_ns, std::size_t bytes) const noexcept {
    return departures.busy_ns(now_ns) + profile.eager.ns_for(bytes);
  }
  [[nodiscard]] bool is_up() const noexcept { return up.load(std::memory_order_relaxed); }
  /// [S] It takes a packet now.
  [[nodiscard]] bool takes_now() const noexcept { return usable() && !blocked && helper.free(); }
};

/// The rails to one peer, in an order that is the same at both ends.
/// Threads:  constant once the peer is known to other threads.
class lane_set {
 public:
  using list = std::vector<std::unique_ptr<lane>>;

  void add(std::unique_ptr<lane> made) {
    HEADWAY_ASSERT(all_.size() < rails_per_peer_max && !on_rail(made->rail_index));
    all_.push_back(std::move(made));
  }
  [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
  [[nodiscard]] lane& operator[](std::size_t number) const noexcept {
    HEADWAY_DEBUG_ASSERT(number < all_.size());
    return *all_[number];
  }
  [[nodiscard]] list::const_iterator begin() const noexcept { return all_.begin(); }
  [[nodiscard]] list::const_iterator end() const noexcept { return all_.end(); }

  /// Null: the peer is not reached over this rail.
  [[nodiscard]] lane* on_rail(std::size_t rail_index) const noexcept {
    for (const auto& l : all_)
      if (l->rail_index == rail_index) return l.get();
    return nullptr;
  }
  [[nodiscard]] std::uint32_t number_of(const lane& l) const noexcept {
    std::uint32_t i = 0;
    while (all_[i].get() != &l) ++i;
    return i;
  }

 private:
  list all_;
};

}  // namespace headway::packets

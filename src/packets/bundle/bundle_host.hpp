#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "packets/control.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class bundle_set;
class lane_set;
class scheduler;

/// What the parts of a bundle need of the whole. Tests of single parts implement it.
class bundle_host {
 public:
  /// [R] A packet for the modules above, in order.
  virtual void deliver(std::span<const std::byte> packet) noexcept = 0;
  /// [R] The peer violates the protocol: it is lost.
  virtual void broken(const char* what) noexcept = 0;
  virtual void lose() noexcept = 0;  ///< In R.
  /// Sends a packet to the peer's bundle, ahead of what waits. Not under a lock.
  virtual void send_control(const control& c) noexcept = 0;
  /// Sends what can leave, in this thread or in the one that is in S.
  virtual void pump() noexcept = 0;
  /// Something is under way: the clock of the set has to run.
  virtual void mark_active() noexcept = 0;
  /// [S] Whether something waits for a driver to be reaped.
  virtual void mark_waiting(bool is) noexcept = 0;
  /// [S] Gives waiting pieces to the drivers of their rails. False: some still wait.
  [[nodiscard]] virtual bool send_pieces() noexcept = 0;
  /// [S] Ends the waiting pieces, because the peer is lost.
  virtual void drop_pieces() noexcept = 0;

 protected:
  ~bundle_host() = default;
};

/// What all parts of a bundle share.
struct bundle_context {
  bundle_host& host;
  rails::peer_id to;
  lane_set& lanes;
  bundle_set& set;
  scheduler& queue;
  base::clock clock;
};

}  // namespace headway::packets

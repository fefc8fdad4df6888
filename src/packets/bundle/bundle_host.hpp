#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packets/control.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class bundle_set;
class lane_set;
class scheduler;

/// What the parts of a bundle need of the whole. A test of one part gives its own.
class bundle_host {
 public:
  /// A packet in its turn, for the modules above. In R.
  virtual void deliver(std::span<const std::byte> packet) noexcept = 0;
  /// The peer breaks the protocol, and is lost with that. In R.
  virtual void broken(const char* what) noexcept = 0;
  virtual void lose() noexcept = 0;  ///< In R.
  /// A packet to the other bundle, in front of what waits. Not under a lock.
  virtual void send_control(const control& c) noexcept = 0;
  /// Sends what can leave, now or by the thread that is in S.
  virtual void pump() noexcept = 0;
  /// Something is under way: the set's clock has to run.
  virtual void mark_active() noexcept = 0;
  /// In S: something waits for a driver to be reaped, or nothing does.
  virtual void mark_waiting(bool is) noexcept = 0;
  /// In S: gives the pieces that wait for a rail to its driver. False: some still wait.
  [[nodiscard]] virtual bool send_pieces() noexcept = 0;
  /// In S: the peer is lost, they end.
  virtual void drop_pieces() noexcept = 0;

 protected:
  ~bundle_host() = default;
};

/// What all parts of a bundle know.
struct bundle_context {
  bundle_host& host;
  rails::peer_id to;
  lane_set& lanes;
  bundle_set& set;
  scheduler& queue;
};

}  // namespace headway::packets

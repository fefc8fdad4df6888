#pragma once

#include <cstdint>

#include "rails/driver.hpp"

namespace headway::rails {

/// The connections of a driver that may be cut while their peer lives: a second rail beside it is
/// worth having.
/// Threads:  every function any thread, also beside all of the driver's but `open` and `close`.
/// Progress: never waits. What follows is reported by `reap`.
class health {
 public:
  /// Gives up the connection to `peer`, which is too slow or silent: `lost` follows, unless it was
  /// lost already.
  virtual void sever(peer_id peer) noexcept = 0;
  /// After `lost`: lets `peer` in again and calls it for a while. Ends in `restored` or in another
  /// `lost`. Does nothing to a peer that is not lost.
  virtual void revive(peer_id peer) noexcept = 0;
  /// When something of this peer or of its machine's kernel last arrived (base::now_ns); 0: not
  /// known.
  [[nodiscard]] virtual std::uint64_t last_activity_ns(peer_id peer) noexcept = 0;

 protected:
  ~health() = default;
};

}  // namespace headway::rails

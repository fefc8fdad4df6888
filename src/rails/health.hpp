#pragma once

#include <cstdint>

#include "rails/driver.hpp"

namespace headway::rails {

/// For drivers whose connections may be cut while their peer lives, so that a second rail to the
/// same peer is useful.
/// Threads:  every function any thread, at the same time as any function of the driver but `open`
///           and `close`.
/// Progress: never waits. `reap` reports the results.
class health {
 public:
  /// Gives up the connection to `peer`, which is too slow or silent: `lost` follows, unless it was
  /// lost already.
  virtual void sever(peer_id peer) noexcept = 0;
  /// After `lost`: accepts `peer` again and tries to connect to it for a while. Ends in `restored`
  /// or in another `lost`. Has no effect on a peer that is not lost.
  virtual void revive(peer_id peer) noexcept = 0;
  /// No other rail reaches `peer`: a connection that is cut is made again and goes on where it was,
  /// with nothing lost and nothing twice. `lost` follows only if that fails, because its process is
  /// gone or cannot be reached for long. After `connect` and before the first `send`, at both ends.
  virtual void resume_if_cut(peer_id) noexcept {}
  /// When something from this peer or from its machine's kernel last arrived, on the clock of
  /// `driver::tick`; 0: unknown.
  [[nodiscard]] virtual std::uint64_t last_activity_ns(peer_id peer) noexcept = 0;

 protected:
  ~health() = default;
};

}  // namespace headway::rails

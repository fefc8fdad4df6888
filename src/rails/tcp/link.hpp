#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"
#include "rails/tcp/input.hpp"
#include "rails/tcp/output.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// What this process has with one peer.
/// Threads:  `lock` guards what the sender and the reaper share. It is held across one non-blocking
///           `sendmsg`, at most a segment long: the two that may meet there are this peer's one
///           sender and the reaper, and the latter only tries the lock.
struct link {
  enum class state : std::uint8_t {
    unknown,  ///< `connect` has not been called
    apart,    ///< nothing was sent yet
    calling,  ///< packets wait for the connection
    early,    ///< the peer has called before it was known here: it is not listened to yet
    up,
    leaving,  ///< the peer has said good-bye; what was posted is being reported as failed
    left,
    losing,  ///< the peer is gone; what was posted is being reported as failed
    lost,
  };

  explicit link(std::size_t segment_bytes) noexcept : out(segment_bytes) {}

  base::spinlock lock;
  state now = state::unknown;
  bool write_failed = false;     // the reaper will find out why
  bool goodbye_said = false;     // by us, while closing
  bool watching_output = false;  // the watch set tells when the socket takes more
  bool sever = false;            // the reaper is to give the connection up
  bool revived = false;          // `restored` is due when it is up
  unique_fd fd;                  // changed by the reaper, under the lock
  output out;

  // The reaper's alone:
  std::unique_ptr<input> in;
  int low_water = 1;
  bool ready = false;    // in the list of links that have more to parse
  bool refused = false;  // the peer's machine says that nobody listens
  std::uint64_t up_since_ns = 0;
};

}  // namespace headway::rails::tcp

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/driver.hpp"

namespace headway::rails {

/// The memory of processes on this node whose program lets us: copied out of and into directly,
/// one copy and nothing for them to do (Linux: cross-memory attach, process_vm_readv(2)).
/// Threads:  every function any thread, also beside all of the driver's but `close`.
/// Progress: enters the kernel; takes as long as the copy.
/// Errors:   false, and some of it may have been copied: the peer is dead, or has no such memory.
class neighbours {
 public:
  /// It was tried when the peer was connected. Of this process: false.
  [[nodiscard]] virtual bool reaches(peer_id peer) noexcept = 0;
  [[nodiscard]] virtual bool read(peer_id peer, std::uint64_t from,
                                  std::span<std::byte> to) noexcept = 0;
  [[nodiscard]] virtual bool write(peer_id peer, std::uint64_t to,
                                   std::span<const std::byte> from) noexcept = 0;

 protected:
  ~neighbours() = default;
};

}  // namespace headway::rails

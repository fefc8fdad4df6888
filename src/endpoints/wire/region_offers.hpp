#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "endpoints/buffers/pool.hpp"
#include "endpoints/wire/packet_sender.hpp"
#include "endpoints/wire/remote_processes.hpp"

namespace headway::endpoints {

/// Determines which processes of this machine can read whose buffers in place: offers regions, and
/// maps those that are offered.
/// Threads:  `arrived` by the reaper; the rest any thread.
/// Errors:   a region that cannot be mapped is an ordinary case: its buffers are copied then.
class region_offers {
 public:
  /// `nodes`: of each process; equal numbers share memory. `share` false: no region is offered.
  region_offers(pool& buffers, packet_sender& out, remote_processes& remotes, std::uint32_t self,
                const std::vector<int>& nodes, bool share) noexcept
      : buffers_(buffers),
        out_(out),
        remotes_(remotes),
        nodes_(nodes),
        self_(self),
        share_(share) {}

  /// Whether `process` can read the buffers of `owner`. The first call asks it, and returns false.
  [[nodiscard]] bool maps(std::uint32_t process, std::uint32_t owner) noexcept;
  /// The region of `owner`, for a buffer that `from` sends in place; nullptr: it is not mapped.
  [[nodiscard]] region* shared_by(std::uint32_t from, std::uint32_t owner) noexcept {
    return share_ && same_node(from) ? buffers_.region_of(owner) : nullptr;
  }
  void arrived(std::uint32_t from, std::span<const std::byte> bytes) noexcept;

 private:
  [[nodiscard]] bool same_node(std::uint32_t process) const noexcept {
    return process < nodes_.size() && nodes_[process] == nodes_[self_];
  }

  pool& buffers_;
  packet_sender& out_;
  remote_processes& remotes_;
  const std::vector<int>& nodes_;
  const std::uint32_t self_;
  const bool share_;
};

}  // namespace headway::endpoints

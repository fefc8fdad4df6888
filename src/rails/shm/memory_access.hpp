#pragma once

#include "rails/exposures.hpp"
#include "rails/memory.hpp"
#include "rails/shm/incoming.hpp"
#include "rails/shm/peer_links.hpp"
#include "rails/shm/settings.hpp"

namespace headway::rails::shm {

/// The memory of processes on this node. What the kernel lets this process read and write
/// (process_vm_readv(2)) is copied directly, except puts that are notified. Those, and everything
/// if the kernel refuses, go through the peer's channel, as packets do. The peer's engine executes
/// atomics.
/// Threads:  as rails::memory says.
/// Errors:   the pid of a process that has ended may belong to another one: the process is checked
///           before each direct copy by its pid.
class memory_access final : public memory {
 public:
  memory_access(const peer_links& links, large_way large) noexcept
      : links_(&links), large_(large) {}
  /// Null: nothing is received any more.
  void serve(incoming* from) noexcept { from_ = from; }
  [[nodiscard]] exposures& exposed() noexcept { return exposed_; }

  [[nodiscard]] memory_limits limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] copy_costs costs_with(peer_id peer) const noexcept override;
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept override;
  void withdraw(const ticket& exposed) noexcept override;
  [[nodiscard]] post put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie) noexcept override;
  [[nodiscard]] post flush(peer_id peer, std::uint64_t cookie) noexcept override;

 private:
  const peer_links* links_;
  const large_way large_;
  incoming* from_ = nullptr;
  exposures exposed_;
};

}  // namespace headway::rails::shm

#pragma once

#include "rails/memory.hpp"
#include "rails/tcp/reaper.hpp"

namespace headway::rails::tcp {

/// Whether something may be written to a link now. Starts its connection on first use. False: its
/// peer is down.
[[nodiscard]] bool ready_to_write(link& l, wake_up& wake) noexcept HEADWAY_REQUIRES(l.lock);

/// Operations on peers' memory over TCP: frames that the target's engine serves while its program
/// computes. A put sends bytes for an exposure; a get and an atomic are requests whose reply is
/// such bytes.
/// Threads:  as rails::memory says.
class memory_access final : public memory {
 public:
  explicit memory_access(shared_state& shared) noexcept : shared_(&shared) {}

  [[nodiscard]] memory_limits limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept override;
  void withdraw(const ticket& exposed) noexcept override;
  [[nodiscard]] post put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post put_lent(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                              std::uint64_t cookie) noexcept override;
  [[nodiscard]] post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie) noexcept override;
  [[nodiscard]] post flush(peer_id peer, std::uint64_t cookie) noexcept override;

 private:
  [[nodiscard]] post write(peer_id peer, const remote_place& to,
                           const output::payload& from) noexcept;
  [[nodiscard]] post request(peer_id peer, const remote_place& at, memory_request what,
                             std::span<std::byte> to, std::uint64_t cookie) noexcept;

  shared_state* shared_;
};

}  // namespace headway::rails::tcp

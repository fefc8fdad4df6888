#pragma once

#include "rails/health.hpp"
#include "rails/tcp/reaper.hpp"

namespace headway::rails::tcp {

/// Cuts and restores connections: leaves a request, which the reaper executes.
/// Threads:  any.
class link_health final : public health {
 public:
  explicit link_health(shared_state& shared) noexcept : shared_(&shared) {}

  void sever(peer_id peer) noexcept override;
  void resume_if_cut(peer_id peer) noexcept override;
  void revive(peer_id peer) noexcept override;
  [[nodiscard]] std::uint64_t last_activity_ns(peer_id peer) noexcept override;

 private:
  shared_state* shared_;
};

}  // namespace headway::rails::tcp

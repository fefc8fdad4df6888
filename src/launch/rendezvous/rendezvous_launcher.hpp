#pragma once

#include <memory>
#include <vector>

#include "launch/launcher.hpp"
#include "launch/rendezvous/rendezvous_handshake.hpp"
#include "launch/rendezvous/rendezvous_settings.hpp"
#include "launch/settings.hpp"
#include "launch/stream_socket.hpp"

namespace headway::launch {

/// Replaces a launcher for processes that were started separately and have a common address and
/// secret. The first process that can listen at that address is the host and rank 0; the others are
/// guests, and get their ranks in the order in which they connect.
/// Threads:  as `launcher`.
/// Progress: `meet` waits until all processes have connected. While it waits, a process that dies
///           is replaced by the next that connects.
/// Errors:   `refused`: the other side has another secret; `timed_out`: the text has the number of
///           processes that came.
class rendezvous_launcher final : public launcher {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<launcher>> meet(
      const rendezvous_settings& where, const settings& how);

  [[nodiscard]] const identity& who() const noexcept override { return who_; }
  [[nodiscard]] std::optional<job_secret> secret() const override { return secret_; }
  [[nodiscard]] base::result<> publish(std::span<const std::byte> value) override;
  [[nodiscard]] base::result<> barrier() override;
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int rank) override;
  /// Sends nothing: the other processes find their connections to this process closed.
  void abort(int, std::string_view) noexcept override {}
  [[nodiscard]] base::result<> finish() override;

 private:
  explicit rendezvous_launcher(const settings& how) : how_(how) {}
  void begin(const rendezvous_key& key, std::span<const std::byte> nonce, int rank, int size);
  [[nodiscard]] base::result<std::vector<std::vector<std::byte>>> collect(
      std::span<const std::byte> own);

  const settings how_;
  identity who_;
  job_secret secret_{};
  std::vector<std::vector<std::byte>> values_;  // by rank, of the last exchange
  std::vector<stream_socket> others_;  // at the host: of ranks 1, 2, …; at a guest: of the host
};

}  // namespace headway::launch

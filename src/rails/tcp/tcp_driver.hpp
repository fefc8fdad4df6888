#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "rails/driver.hpp"
#include "rails/last_events.hpp"
#include "rails/tcp/handshake.hpp"
#include "rails/tcp/link_health.hpp"
#include "rails/tcp/memory_access.hpp"
#include "rails/tcp/reaper.hpp"
#include "rails/tcp/settings.hpp"

namespace headway::rails::tcp {

/// The constructor's arguments.
struct config {
  processes::table* known = nullptr;  ///< outlives the driver, which adds callers to it
  peer_id me{};                       ///< this process's number in it
  std::array<std::byte, 32> secret{};
  const job_keys* others = nullptr;       ///< outlives the driver; null: all jobs have that secret
  std::vector<net_interface> interfaces;  ///< as `select_rails` gives them; at least one
  settings how = {};
  int number = 1;          ///< of several rails on the same interface
  base::clock clock = {};  ///< that of `tick`
};

/// Carries messages over TCP: one connection for each pair of processes, made on first use, and
/// again when it was lost and both ends `revive` it, or was cut and both `resume_if_cut`.
///
/// Parts:    `link_writer` writes, `link_reader` reads, `reaper` does the rest of `reap`,
///           `connection_manager` makes connections, `wake_up` ends sleeps, `memory_access` and
///           `link_health` implement the optional contracts.
/// Shape:    one listening socket for each address of the chosen interfaces, one socket for each
///           peer in use, one epoll set.
/// Threads:  as the contracts say. What the sender and the reaper share is in `link`.
/// Progress: every socket is non-blocking. While few connections are busy the reaper reads their
///           sockets before it polls epoll; while a large payload comes in it waits some
///           microseconds for the rest.
/// Errors:   a reset, or an end without goodbye, is a loss, or the next connection goes on where
///           this one ended (see sent_log). What callers without the job's secret do has no effect
///           (see connection_manager). What follows the handshake may be encrypted (see record);
///           what does not verify then ends the connection, too.
/// Source:   the floor of overlap and the value of few large calls: docs/papers.md.
class tcp_driver final : public driver {
 public:
  explicit tcp_driver(config c);
  ~tcp_driver() override { close(); }
  tcp_driver(const tcp_driver&) = delete;
  tcp_driver& operator=(const tcp_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> bytes) override;
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override { reaper_->release(received); }
  void reclaim(peer_id peer) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return shared_.watch.fd(); }
  [[nodiscard]] bool arm(bool sleeping) noexcept override { return shared_.wake.arm(sleeping); }
  [[nodiscard]] bool unsent() const noexcept override { return shared_.writer.any_queued(); }
  void tick(std::uint64_t now_ns) noexcept override;
  [[nodiscard]] rails::memory* memory() noexcept override { return &memory_; }
  [[nodiscard]] rails::health* health() noexcept override { return &health_; }
  void close() noexcept override;

 private:
  config config_;
  credentials credentials_;
  std::array<std::byte, 16> loopback_key_{};
  shared_state shared_;
  memory_access memory_{shared_};
  link_health health_{shared_};
  std::optional<reaper> reaper_;
  bool open_ = false;
  std::atomic<std::uint64_t> checked_ns_{0};  // relaxed: when health was checked last
  last_events last_;                          // for `reap` after `close`
};

}  // namespace headway::rails::tcp

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "processes/table.hpp"
#include "rails/driver.hpp"
#include "rails/last_events.hpp"
#include "rails/shm/incoming.hpp"
#include "rails/shm/memory_access.hpp"
#include "rails/shm/peer_links.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/segment_slots.hpp"
#include "rails/shm/settings.hpp"
#include "rails/shm/sleeper.hpp"

namespace headway::rails::shm {

/// The constructor's arguments.
struct config {
  processes::table* known = nullptr;  ///< outlives the driver, which adds callers to it
  peer_id me{};                       ///< this process's number in it
  /// the beginning of the files' names, with the rank; characters other than letters, digits, '-',
  /// '_', '.' are replaced
  std::string job_name;
  std::uint32_t size = 1;  ///< at most so many processes attach; the rings are sized by it
  settings how = {};
  base::clock clock = {};  ///< that of `tick`
};

/// Shared memory between processes of one machine.
///
/// Every process has one segment, a file in memory, in which each peer has a slot: a ring for small
/// messages and buffers for pieces of large ones (layout.hpp). A peer is reached by mapping its
/// segment. If that fails, another rail carries the messages: `connect` answers `unsupported` for a
/// process in another container or on another machine, and the reason if this process has too few
/// descriptors or too little memory. The peer may have more, and may send here nevertheless: see
/// `admit`. A segment keeps its name while the driver is open, so that any process of the job may
/// attach at any time. What a peer has sent is in this process's segment: it is received also if
/// the peer has left, or died, before `connect`.
///
/// Shape:    less than a byte for a peer that was never met. For a pair of ranks, allocated on
///           first use: ring and pieces as in `shape_for`, by the number of processes: 2 and 1 MiB
///           for 2, 512 KiB and 1 MiB for 8, 64 KiB and 128 KiB beyond 32.
/// Threads:  as the contract says. While both ends are awake no call enters the kernel.
/// Progress: never waits; `close` up to a second for what was posted.
/// Errors:   a peer's death is detected by its lock on its segment file and by its pidfd. What
///           peers write is never trusted.
/// Source:   the record ring is our own (ring.hpp); piece buffers as D. Vyukov's bounded queue.
class shm_driver final : public driver {
 public:
  explicit shm_driver(config given);
  ~shm_driver() override { close(); }
  shm_driver(const shm_driver&) = delete;
  shm_driver& operator=(const shm_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override { return limits_; }
  /// Segments of processes of another job may be smaller.
  [[nodiscard]] limits packet_limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard]] base::result<> admit(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard, gnu::hot]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] bool takes_whole(peer_id peer, std::size_t bytes) const noexcept override;
  [[nodiscard, gnu::hot]] std::size_t reap(std::span<event> out) noexcept override;
  [[gnu::hot]] void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  [[nodiscard]] bool arm_for_hurried() noexcept override { return arm_for(arrivals::hurried); }
  void tick(std::uint64_t now_ns) noexcept override;
  [[nodiscard]] rails::memory* memory() noexcept override;
  [[nodiscard]] shm_slots* slots() noexcept override;
  void close() noexcept override;

  /// The sizes of a segment for so many processes on a file system of this capacity, as far as the
  /// settings leave them open.
  [[nodiscard]] static geometry shape_for(std::uint32_t size, const settings& how = {},
                                          std::optional<std::size_t> capacity = {});

 private:
  static constexpr std::size_t header_bytes_max = 128;
  static constexpr int lingering_looks = 16;  // bounded: the caller holds a mask

  /// Exists while the driver is open.
  struct opened {
    opened(std::unique_ptr<segment> made, const config& given, const peer_links& links,
           exposures& exposed, std::size_t record_bytes_max, bool enlisted)
        : mine(std::move(made)),
          in({.mine = *mine,
              .known = *given.known,
              .self = given.known->at(given.me),
              .links = links,
              .exposed = exposed,
              .record_bytes_max = record_bytes_max,
              .clock = given.clock}),
          sleep(*mine, enlisted),
          slots(*mine, given.me, links, sleep) {}
    std::unique_ptr<segment> mine;
    incoming in;
    sleeper sleep;
    segment_slots slots;
  };

  [[nodiscard]] processes::process_id process_of(peer_id peer) const noexcept {
    return config_.known->at(peer);
  }
  [[nodiscard]] base::result<> attach(peer_id peer, std::span<const std::byte> address);
  send_channel& add(peer_id peer, std::unique_ptr<attachment> way, pid_t readable_pid);
  [[nodiscard]] std::size_t advance_all(std::span<event> out) noexcept;
  [[nodiscard]] std::size_t report_losses(std::span<event> out) noexcept;
  [[nodiscard]] bool arm_for(arrivals what) noexcept;
  [[nodiscard]] bool anything_to_do(arrivals which) noexcept;

  std::optional<opened> now_;
  peer_links links_;
  std::atomic<std::uint32_t> posted_{0};  // transfers and atomics under way, to all peers
  std::atomic<bool> news_{false};         // a peer is lost or has closed
  // used by the reaper: where the next round of `advance_all` begins
  send_channel* next_link_ = nullptr;
  bool enlisted_ = false;
  memory_access memory_;
  config config_;
  last_events last_;  // for `reap` after `close`
  limits limits_;
};

}  // namespace headway::rails::shm

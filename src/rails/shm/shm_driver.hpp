#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "rails/board.hpp"
#include "rails/driver.hpp"
#include "rails/landing_zones.hpp"
#include "rails/last_events.hpp"
#include "rails/neighbours.hpp"
#include "rails/shm/incoming.hpp"
#include "rails/shm/outgoing.hpp"
#include "rails/shm/segment.hpp"

namespace headway::rails::shm {

/// What the driver must be told; the rest are tunables.
struct config {
  std::string job_id;  ///< letters, digits, '-', '_', '.'; others are replaced
  std::uint32_t rank = 0;
  std::uint32_t size = 1;        ///< processes of the job
  std::uint32_t local_size = 0;  ///< of them on this machine, 0: not known; it scales the rings
  std::string directory = {};    ///< empty: HEADWAY_SHM_DIR
};

/// Shared memory between processes of one machine.
///
/// Every process has one segment, a file in memory, in which each peer has a slot: a ring for small
/// messages and buffers for pieces of large ones (layout.hpp). A peer is reached by mapping its
/// segment; where that fails, because it is in another container or on another machine, `connect`
/// says `unsupported` and another rail carries the messages.
///
/// Shape:    per pair of ranks, touched on first use: ring and pieces as `shape_for` says, by the
///           number of processes: 128 KiB and 512 KiB up to 8, 32 KiB and 128 KiB beyond 32.
/// Threads:  as the contract says. While both ends are awake no call enters the kernel.
/// Progress: never waits; `close` up to a second for what was posted.
/// Errors:   a peer's death is seen by its lock on its segment file and by its pidfd. What peers
///           write is never trusted.
/// Source:   the record ring is our own (ring.hpp); piece buffers as D. Vyukov's bounded queue.
class shm_driver final : public driver, private board, private neighbours {
 public:
  explicit shm_driver(config given);
  ~shm_driver() override { close(); }
  shm_driver(const shm_driver&) = delete;
  shm_driver& operator=(const shm_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard, gnu::hot]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] bool land(peer_id peer, landing_id id,
                          std::span<std::byte> target) noexcept override;
  void unland(landing_id id) noexcept override;
  [[nodiscard, gnu::hot]] std::size_t reap(std::span<event> out) noexcept override;
  [[gnu::hot]] void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  void tick(std::uint64_t now_ns) noexcept override;
  [[nodiscard]] board* shared_board() noexcept override { return mine_ ? this : nullptr; }
  [[nodiscard]] neighbours* memory_nearby() noexcept override { return mine_ ? this : nullptr; }
  void close() noexcept override;

  /// Sizes of a segment for so many processes, tunables applied.
  [[nodiscard]] static geometry shape_for(std::uint32_t local_size);

 private:
  static constexpr std::size_t header_bytes_max = 128;
  static constexpr int lingering_looks = 16;           // bounded: the caller holds a mask
  static constexpr std::uint32_t awake_events = 4096;  // so many since the last sleep: long awake

  [[nodiscard]] base::result<> attach(peer_id peer, std::span<const std::byte> address);
  [[nodiscard]] outgoing* way_to(peer_id peer) const noexcept;
  [[nodiscard]] outgoing* owner_of(std::uint32_t slot) const noexcept;
  [[nodiscard, gnu::hot]] bool new_senders() const noexcept;
  void admit_senders() noexcept;
  void admit(std::uint32_t slot, outgoing& back) noexcept;
  [[nodiscard, gnu::hot]] std::size_t take_all(std::span<event> out) noexcept;
  [[nodiscard]] std::size_t advance_all(std::span<event> out) noexcept;
  [[nodiscard]] std::size_t report_losses(std::span<event> out) noexcept;
  void note_traffic(std::size_t count) noexcept;
  void drain_bell() noexcept;
  void hush_bell() noexcept;
  void get_up() noexcept;
  [[nodiscard]] bool anything_to_do() noexcept;

  [[nodiscard]] std::byte* lines_of(peer_id peer, std::uint32_t slot) noexcept override;
  void wake(peer_id peer) noexcept override;
  void watch(watcher& w) override;
  void unwatch(watcher& w) noexcept override;
  [[nodiscard]] bool watcher_ready() noexcept;

  [[nodiscard]] bool reaches(peer_id peer) noexcept override;
  [[nodiscard]] bool read(peer_id peer, std::uint64_t from,
                          std::span<std::byte> to) noexcept override;
  [[nodiscard]] bool write(peer_id peer, std::uint64_t to,
                           std::span<const std::byte> from) noexcept override;

  struct link {
    std::unique_ptr<outgoing> out;
    pid_t readable_pid = 0;
  };

  config config_;
  std::uint32_t word_count_ = 0;   // of the `active` bits
  std::uint32_t taker_count_ = 0;  // written by reap alone, and published by taken_
  std::uint32_t next_taker_ = 0;   // where the next round begins
  std::uint32_t events_awake_ = 0;
  std::atomic<std::uint32_t> posted_{0};  // transfers on their way out, of all peers
  std::atomic<bool> news_{false};         // somebody is lost or has closed
  std::atomic<bool> bell_rang_{false};    // there is, or will be, a byte of an old ringing
  std::unique_ptr<incoming*[]> takers_;   // in order of their first message
  std::atomic<std::uint32_t> taken_{0};
  std::unique_ptr<segment> mine_;
  std::array<std::atomic<std::uint64_t>, slots_max / 64> seen_{};  // active bits that are admitted
  std::unique_ptr<incoming[]> slots_;
  std::vector<link> ways_;  // by rank
  std::vector<outgoing*> connected_;
  std::size_t next_way_ = 0;
  landing_zones zones_;
  last_events last_;  // for `reap` after `close`
  limits limits_;
  bool enlisted_ = false;
  std::uint32_t asked_ = 0;  // calls of connect
  base::spinlock arming_;    // guards armed_; cold, taken around a sleep
  bool armed_ = false;       // somebody sleeps, or is about to
  base::spinlock watching_;  // guards watchers_; cold
  std::vector<watcher*> watchers_;
};

}  // namespace headway::rails::shm

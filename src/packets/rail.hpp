#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "packets/bundle/rail_load.hpp"
#include "packets/rail_departures.hpp"
#include "packets/rail_host.hpp"
#include "packets/unsent_packets.hpp"
#include "progress/background/event_source.hpp"
#include "progress/core/ltask.hpp"

namespace headway::packets {

/// When a rail begins to be polled.
enum class rail_use : std::uint8_t {
  from_start,    ///< peers that were not used here may send over it first
  on_first_use,  ///< when the first peer is connected over it
};

/// A driver at work: the ltask that reaps it and what a sleeping thread is woken by.
/// Threads:  the engine runs the ltask on one thread at a time: that thread is the reaper.
/// Progress: a run handles at most `events_max` events, so that work under the mask stays short.
class rail final : public progress::ltask, public progress::event_source {
 public:
  /// A look that costs so much is a system call; so is a packet.
  static constexpr std::uint32_t costly_ns = 100;

  rail(const rail_host& host, std::size_t index, std::unique_ptr<rails::driver> driver,
       rail_use use) noexcept;

  [[nodiscard]] int descriptor() const noexcept override { return driver_->descriptor(); }
  [[nodiscard]] bool arm() noexcept override;
  void disarm() noexcept override { static_cast<void>(driver_->arm(false)); }

  [[nodiscard]] std::uint64_t shortest_poll_period_ns() const noexcept override {
    return driver_->query().poll_period_ns;
  }

  [[nodiscard]] rails::driver& driver() noexcept { return *driver_; }
  /// After the driver's `close`, alone: ends what was posted as the driver says.
  void end_posted() noexcept;
  std::atomic<int> peer_count{0};  ///< processes reached over this rail
  const rail_use when;
  rail_load load;              ///< what its peers were asked to send
  rail_departures departures;  ///< what was given to it
  /// Null: what is `done` has left.
  [[nodiscard]] unsent_packets* unsent() noexcept { return queues_ ? &unsent_ : nullptr; }
  bool used_by_others = false;  ///< by another process than our own; under peers::creation_lock_
  bool at_work = false;         ///< the engine has the ltask; under peers::creation_lock_
  std::atomic<bool> nearer_in_use{false};  ///< a hint
  /// One of several rails to some peer. Set before the driver knows that peer, so that the
  /// thread that has reaped something of it sees it.
  std::atomic<bool> bundled{false};

 private:
  static constexpr std::size_t events_max = 16;
  /// A rail whose idle look costs a system call is looked at more rarely while it stays idle and
  /// nearer rails are in use: once in up to this many rounds (a few hundred nanoseconds).
  static constexpr std::uint32_t skip_max = 32;
  static constexpr std::uint32_t skip_bundled_max = 8;  ///< of several rails to the same peers
  static constexpr std::uint32_t looks_a_clock = 16;

  [[gnu::hot]] static progress::ltask_result run(progress::ltask& self) noexcept;
  [[nodiscard]] progress::ltask_result reap() noexcept;
  [[nodiscard]] bool reap_alone() noexcept;
  /// The same for a rail of a bundle: events are handled in the set's section; while another
  /// reaper is there they wait.
  [[nodiscard]] bool reap_bundled() noexcept;
  void handle_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  void handle_packet_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  [[gnu::hot]] void handle(const rails::event& what) noexcept;
  void end_item(const rails::event& what) noexcept;
  [[gnu::hot]] void handle_packet(const rails::event& what) noexcept;

  const rail_host host_;
  const std::size_t index_;
  std::unique_ptr<rails::driver> driver_;
  const bool costly_;
  const bool queues_;
  unsent_packets unsent_;
  // The reaper's, and cleared by the thread that arms; relaxed, they carry nothing.
  std::atomic<std::uint32_t> skip_{0};       // rounds still to pass over
  std::atomic<std::uint32_t> skip_next_{0};  // how many after the next idle look
  std::atomic<std::uint32_t> idle_looks_{0};
  std::array<rails::event, events_max> events_;
  /// Of a bundled rail: so many of them are not handled yet. The reaper's; a hint elsewhere.
  std::atomic<std::size_t> unhandled_{0};
};

}  // namespace headway::packets

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "packets/bundle/rail_load.hpp"
#include "packets/rail_departures.hpp"
#include "packets/rail_host.hpp"
#include "packets/unsent_packets.hpp"
#include "progress/background/event_source.hpp"
#include "progress/core/ltask.hpp"

namespace headway::packets {

/// When a rail begins to be polled.
enum class rail_use : std::uint8_t {
  from_start,    ///< peers that this process has not used may send over it first
  on_first_use,  ///< when the first peer is connected over it
};

/// A driver at work: the ltask that reaps it, and the descriptor on which a sleeping thread waits.
/// Threads:  the engine runs the ltask on one thread at a time: that thread is the reaper.
/// Progress: a run handles at most `events_max` events, to keep the mask for a short time; while
///           parts of a packet follow closely, as many again, `closely_max` times at most.
class rail final : public progress::ltask, public progress::event_source {
 public:
  /// A poll of this cost is a system call, and so is sending a packet.
  static constexpr std::uint32_t costly_ns = 100;

  rail(const rail_host& host, std::size_t index, std::unique_ptr<rails::driver> driver,
       rail_use use) noexcept;

  [[nodiscard]] int descriptor() const noexcept override { return driver_->descriptor(); }
  [[nodiscard]] bool arm(progress::wake_for what) noexcept override;
  void disarm() noexcept override { static_cast<void>(driver_->arm(false)); }

  [[nodiscard]] bool silent_unless_armed() const noexcept override {
    return driver_->query().silent;
  }
  [[nodiscard]] std::uint64_t shortest_poll_period_ns() const noexcept override {
    return driver_->query().poll_period_ns;
  }

  [[nodiscard]] rails::driver& driver() noexcept { return *driver_; }
  /// After the driver's `close`, with no other thread: ends what was posted, with the driver's last
  /// events.
  void end_posted() noexcept;
  std::atomic<int> peer_count{0};  ///< processes reached over this rail
  const rail_use when;
  /// Of a rail that is not at work: whether a process calls, with which this one exchanges packets
  /// over another rail, or an unauthenticated one. A system call; any thread.
  [[nodiscard]] bool is_called() const noexcept;
  std::atomic<bool> called{false};  ///< `is_called` was true: it is at work from then on
  rail_load load;                   ///< pieces that its peers were asked for
  rail_departures departures;       ///< what was given to it
  /// Null: what is `done` has left.
  [[nodiscard]] unsent_packets* unsent() noexcept { return queues_ ? &unsent_ : nullptr; }
  bool used_by_others = false;  ///< by another process than our own; under peers::creation_lock_
  bool at_work = false;         ///< the engine has the ltask; under peers::creation_lock_
  std::atomic<bool> nearer_in_use{false};  ///< a hint
  /// It is one of several rails to some peer. Set before the driver knows that peer: the thread
  /// that reaps its first packet sees it.
  std::atomic<bool> bundled{false};

 private:
  static constexpr std::size_t events_max = 16;
  static constexpr int closely_max = 16;  ///< parts of a packet that a run takes as they come
  /// A rail whose idle poll costs a system call is polled less often while it stays idle and nearer
  /// rails are in use: once in up to this many rounds (a few hundred nanoseconds).
  static constexpr std::uint32_t skip_max = 32;
  /// for one of several rails to the same peers
  static constexpr std::uint32_t skip_bundled_max = 8;
  static constexpr std::uint32_t looks_a_clock = 16;  ///< idle polls for each read of the clock

  [[gnu::hot]] static progress::ltask_result run(progress::ltask& self) noexcept;
  [[nodiscard]] progress::ltask_result reap() noexcept;
  [[nodiscard]] bool reap_alone() noexcept;
  /// The same for a rail of a bundle: events are handled in section R; while another reaper is
  /// there they wait.
  [[nodiscard]] bool reap_bundled() noexcept;
  void handle_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  void handle_packet_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  [[gnu::hot]] void handle(const rails::event& what) noexcept;
  void handle_other(const rails::event& what) noexcept;  // all events but `received`
  void end_item(const rails::event& what) noexcept;
  [[gnu::hot]] void handle_packet(const rails::event& what) noexcept;

  const rail_host host_;
  const base::clock clock_;
  const std::size_t index_;
  std::unique_ptr<rails::driver> driver_;
  const bool costly_;
  const bool queues_;
  unsent_packets unsent_;
  // Written by the reaper, and cleared by the thread that arms; relaxed, they carry no data.
  std::atomic<std::uint32_t> skip_{0};       // rounds still to skip
  std::atomic<std::uint32_t> skip_next_{0};  // rounds to skip after the next idle poll
  std::atomic<std::uint32_t> idle_looks_{0};
  std::array<rails::event, events_max> events_;
  /// Of a bundled rail: reaped events that are not handled yet. Written by the reaper; a hint
  /// elsewhere.
  std::atomic<std::size_t> unhandled_{0};
};

}  // namespace headway::packets

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "packets/peers.hpp"
#include "progress/event_source.hpp"
#include "progress/ltask.hpp"

namespace headway::packets {

/// A driver at work: the ltask that reaps it and what a sleeping thread is woken by.
/// Threads:  the engine runs the ltask on one thread at a time: that thread is the reaper.
/// Progress: a run handles at most `events_max` events, so that work under the mask stays short.
class rail final : public progress::ltask, public progress::event_source {
 public:
  rail(peers& all, std::size_t index, std::unique_ptr<rails::driver> driver) noexcept;

  [[nodiscard]] int descriptor() const noexcept override { return driver_->descriptor(); }
  [[nodiscard]] bool arm() noexcept override;
  void disarm() noexcept override { static_cast<void>(driver_->arm(false)); }

  [[nodiscard]] std::uint64_t shortest_poll_period_ns() const noexcept override {
    return driver_->query().poll_period_ns;
  }

  [[nodiscard]] rails::driver& driver() noexcept { return *driver_; }
  /// After the driver's `close`, alone: ends what was posted as the driver says.
  void end_posted() noexcept;
  int peer_count = 0;   ///< processes reached over this rail
  int other_count = 0;  ///< the same without ourselves
  bool nearer_in_use = false;
  bool bundled = false;  ///< one of several rails to some peer

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
  /// The same for a rail of a bundle: events are handled in the keeper's section; while another
  /// reaper is there they wait.
  [[nodiscard]] bool reap_bundled() noexcept;
  void handle_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  void handle_packet_in_section(const rails::event& what, std::uint64_t now_ns) noexcept;
  [[gnu::hot]] void handle(const rails::event& what) noexcept;
  void end_item(const rails::event& what) noexcept;
  [[gnu::hot]] void handle_packet(const rails::event& what) noexcept;

  peers& all_;
  const std::size_t index_;
  std::unique_ptr<rails::driver> driver_;
  const bool costly_;
  // The reaper's, and cleared by whoever arms; relaxed, they carry nothing.
  std::atomic<std::uint32_t> skip_{0};       // rounds still to pass over
  std::atomic<std::uint32_t> skip_next_{0};  // how many after the next idle look
  std::atomic<std::uint32_t> idle_looks_{0};
  std::array<rails::event, events_max> events_;
  /// Of a bundled rail: so many of them are not handled yet. The reaper's; a hint elsewhere.
  std::atomic<std::size_t> unhandled_{0};
};

}  // namespace headway::packets

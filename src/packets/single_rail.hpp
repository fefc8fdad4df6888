#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "packets/collected_frame.hpp"
#include "packets/credits.hpp"
#include "packets/packet_sender.hpp"
#include "packets/rail_departures.hpp"
#include "packets/unsent_packets.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class scheduler;

/// The only rail to a peer. Packets go as they are; small ones that have waited, or that follow
/// each other closely where sending is a system call, share a rail packet, which the receiving side
/// splits.
///
/// Shape:    a frame of packets that have waited is built on the stack; it holds at most
///           `frame_bytes_max` and no more than the rail takes at once without posting it. Packets
///           that follow each other are copied into a `collected_frame`, which leaves when it is
///           full, before anything else to this peer, and in the next polling round of any thread;
///           if no thread polls, the event thread does within its period.
/// Threads:  the holder of the scheduler's mask, except `tell_of_collected` and what is constant
///           once other threads can find the peer.
class single_rail final : public packet_sender {
 public:
  static constexpr std::size_t frame_bytes_max = 2048;

  single_rail(scheduler& of, rails::peer_id to, credit_account& credits,
              progress::engine& engine) noexcept
      : of_(of),
        to_(to),
        credits_(credits),
        engine_(engine),
        clock_(engine.clock()),
        collected_(clock_) {}

  /// Null `departures`: the rail is never one of several.
  struct way {
    rails::driver* via = nullptr;
    std::size_t index = 0;  ///< among the rails of this process
    rail_departures* departures = nullptr;
    unsent_packets* unsent = nullptr;  ///< null: what is `done` has left
    bool collects = false;             ///< collects packets that follow each other closely
    bool unwatched = false;            ///< also if no event thread would send the rest: for tests
  };
  void open(const way& over) noexcept;
  /// [any, once] From now on large messages go over this rail, over which the peer sends. Before
  /// the first packet of the peer is handled.
  void carry_large_over(const way& over) noexcept;
  /// False: the peer has no rail yet, or a bundle.
  [[nodiscard]] bool is_open() const noexcept { return way_.via != nullptr; }
  [[nodiscard]] rails::driver& driver() const noexcept { return *way_.via; }
  [[nodiscard]] bool lets_wait() const noexcept { return is_open() && way_.via->query().lets_wait; }
  /// [any] The rail of large messages; `driver` unless `carry_large_over` says otherwise.
  [[nodiscard]] rails::memory& memory() const noexcept {
    return *large_way_.load(std::memory_order_acquire)->via->memory();  // (L)
  }
  [[nodiscard]] std::size_t rail_index() const noexcept { return way_.index; }

  enum class taken : std::uint8_t {
    whole,    ///< sent: nothing of it is needed any more
    in_part,  ///< ended later, by an event or the peer's answer: it may be gone already
    not_yet,
    never,
  };
  [[nodiscard, gnu::hot]] taken transmit(send_item& item) noexcept;
  /// It may collect packets: `take` is called for packets that nothing waits before.
  [[nodiscard]] bool collects() const noexcept { return collected_.is_open(); }
  /// `transmit`, or collects the packet if it follows others closely and `how` lets it.
  [[nodiscard]] taken take(send_item& item, const strategy& how) noexcept;
  [[nodiscard]] bool has_collected() const noexcept { return !collected_.empty(); }
  /// A first packet was collected: call `tell_of_collected` without the mask. Resets the flag.
  [[nodiscard]] bool to_be_told() noexcept { return std::exchange(to_be_told_, false); }
  /// [any] Has the next polling round send what was collected.
  void tell_of_collected() noexcept;
  /// [any] No polling round follows any more.
  void stop_telling() noexcept { static_cast<void>(engine_.cancel(sending_)); }
  /// Sends a packet without an item: `done`, or not taken.
  [[nodiscard, gnu::hot]] bool transmit_now(const prompt_packet& what) noexcept;

  [[nodiscard]] bool prepare() noexcept override;
  [[nodiscard]] int idle_rail(std::uint32_t passed_over, std::size_t) const noexcept override {
    return passed_over == 0 ? 0 : -1;
  }
  [[nodiscard]] std::size_t describe(std::span<rail_state> states) const noexcept override;
  [[nodiscard]] limits room() const noexcept override;
  [[nodiscard]] bool send_in_parts(std::uint32_t, send_item&) noexcept override { return false; }
  [[nodiscard]] answer send(std::uint32_t on, std::span<send_item* const> chosen) noexcept override;
  void finish(bool flowing) noexcept override;
  void drop() noexcept override { collected_.clear(); }

 private:
  /// The ltask that sends what was collected, if no other thread has.
  struct sending : progress::ltask {
    explicit sending(scheduler& which) noexcept
        : ltask("send what was collected", &sending::run, progress::ltask_kind::one_shot),
          of(which) {}
    static progress::ltask_result run(progress::ltask& self) noexcept;
    scheduler& of;
    std::atomic<bool> queued{false};
  };

  /// For a message's payload.
  [[nodiscard]] bool has_room_for(const send_item& item) const noexcept;
  [[nodiscard]] taken collect(send_item& item) noexcept;
  [[nodiscard]] answer send_collected() noexcept;
  [[nodiscard]] answer send_frame(const frame_head& head,
                                  std::span<const std::byte> bytes) noexcept;
  void note_departure(const way& over, std::size_t bytes) const noexcept;
  [[nodiscard]] answer send_one(send_item& item) noexcept;
  [[nodiscard]] answer send_together(std::span<send_item* const> chosen) noexcept;

  scheduler& of_;
  const rails::peer_id to_;
  credit_account& credits_;
  progress::engine& engine_;
  const base::clock clock_;
  way way_;
  std::size_t eager_bytes_max_ = 0;
  way other_way_;
  // Edge (L): the thread that fills in `other_way_` publishes it here.
  std::atomic<const way*> large_way_{&way_};
  // of a frame; 0: the rail may post what it is given, so no frame is built
  std::size_t frame_room_ = 0;
  bool takes_ = false;  // the rail has taken something in this round
  bool to_be_told_ = false;
  collected_frame collected_;
  sending sending_{of_};
};

}  // namespace headway::packets

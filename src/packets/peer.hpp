#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "packets/credits.hpp"
#include "packets/receiver.hpp"
#include "packets/scheduler.hpp"
#include "packets/send_item.hpp"
#include "packets/strategy.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

class rendezvous;

/// A process with which packets are exchanged, as the modules above see it.
///
/// Threads:  every function any thread, except those marked [reaper]: the thread that runs the
///           rail's ltask.
/// Progress: never waits, except `post` after a loss. The holder of the scheduler's mask sends what
///           other threads submit meanwhile.
/// Source:   multirail08 (collect and transfer layers, mechanism 13).
class peer {
 public:
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  [[nodiscard]] rails::peer_id id() const noexcept { return id_; }
  [[nodiscard]] std::size_t eager_bytes_max() const noexcept { return eager_bytes_max_; }
  /// Whether a payload that is longer than `eager_bytes_max` may go by `post`, as the only payload
  /// of an item with `in_parts` and `fall_back_to_rts`: its only rail has room for it now.
  [[nodiscard]] bool takes_whole(std::size_t bytes) const noexcept {
    return bytes <= whole_bytes_max_ && scheduler_.direct().driver().takes_whole(id_, bytes);
  }
  /// Payloads from here on may be `lent`, if this is not larger than `eager_bytes_max`.
  [[nodiscard]] std::size_t lent_bytes_min() const noexcept { return lent_bytes_min_; }
  /// Payloads up to here may go by `post_now` and lose nothing by it: its only rail takes them
  /// whole, and collects none that follow each other closely. 0: none.
  [[nodiscard]] std::size_t prompt_bytes_max() const noexcept { return prompt_bytes_max_; }
  /// What was lent to the rail may change from now on (rails::driver). Any thread.
  void reclaim() noexcept { scheduler_.direct().driver().reclaim(id_); }
  [[nodiscard]] bool lost() const noexcept { return scheduler_.lost(); }
  /// As `scheduler::drained`.
  [[nodiscard]] bool drained() const noexcept { return scheduler_.drained(); }
  /// What was given to `peers::start`.
  [[nodiscard]] receiver& above() const noexcept { return *services_.above.first; }
  /// The payload that `post_now` can send at once; 0: none, because no rail or several reach it.
  [[nodiscard]] std::size_t inline_bytes_max() const noexcept;
  /// The cost of polling its only rail (rails::limits); 0: it has none, or several.
  [[nodiscard]] std::uint32_t poll_cost_ns() const noexcept;
  /// The strategy for packets and messages to this peer, unless the item names another.
  [[nodiscard]] const packets::strategy& strategy() const noexcept { return scheduler_.how(); }
  void use(const packets::strategy& how) noexcept { scheduler_.use(how); }

  /// Sends `item` after everything that this thread posted before. If the peer is lost meanwhile,
  /// `sent(false)` has been called before this returns or before `receiver::lost`.
  [[nodiscard, gnu::hot]] posted post(send_item& item) noexcept { return scheduler_.post(item); }
  /// Leaves `item` to the next thread that polls, after everything that this thread posted before;
  /// otherwise as `post`, but never `done`. Over several rails: as `post`.
  [[nodiscard]] posted post_later(send_item& item) noexcept;
  /// Sends a packet now, or not at all (false); needs no item. The payload has at most
  /// `inline_bytes_max`. False over several rails.
  [[nodiscard, gnu::hot]] bool post_now(const prompt_packet& what) noexcept {
    return scheduler_.post_now(what);
  }
  /// `post_later` in two steps, for a caller that orders packets by a lock of its own: `line_up`
  /// under that lock, which sends and calls nothing, then `send_lined_up` without it.
  void line_up(send_item& item) noexcept { scheduler_.line_up(item); }
  void send_lined_up() noexcept { scheduler_.send_lined_up(); }

  /// [reaper] `bytes` charged by the peer are no longer stored here.
  void consumed(std::uint32_t bytes) noexcept { credits_.consumed(bytes); }
  /// The same from any thread.
  void consumed_late(std::uint32_t bytes) noexcept;
  /// [reaper] Something that the peer has sent cannot be kept: it counts as lost, for the reason
  /// `why`, so that no thread waits for what is missing.
  void give_up(std::string_view why) noexcept;

 protected:
  /// What all peers of a process share.
  struct services {
    progress::engine& engine;
    receivers& above;
    rendezvous& large;
    stalled_list& stalled;
    class nudger& nudge;
  };

  peer(const services& shared, rails::peer_id id, const packets::strategy& how) noexcept
      : services_(shared), id_(id), scheduler_(id, credits_, shared.engine, shared.stalled, how) {}
  ~peer() = default;
  void return_credit_if_due() noexcept {
    if (credits_.return_due()) [[unlikely]]
      return_credit();
  }

  const services services_;
  const rails::peer_id id_;
  // Constant once other threads can find the peer:
  std::size_t eager_bytes_max_ = 0;
  std::size_t whole_bytes_max_ = 0;
  std::size_t lent_bytes_min_ = SIZE_MAX;
  std::size_t prompt_bytes_max_ = 0;
  alignas(64) packets::scheduler scheduler_;
  credit_account credits_;

 private:
  struct credit_return : send_item {
    peer* self = nullptr;
  };
  [[gnu::noinline]] void return_credit() noexcept;
  static void credit_sent(send_item& item, bool well) noexcept;

  std::atomic<bool> credit_flying_{false};
  credit_return credit_item_;
};

}  // namespace headway::packets

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/combining_mask.hpp"
#include "base/intrusive_list.hpp"
#include "packets/bundle/flows.hpp"
#include "packets/outgoing.hpp"
#include "packets/strategy.hpp"
#include "rails/driver.hpp"

namespace headway::packets {

enum class posted : std::uint8_t {
  done,     ///< taken whole: head and payload may be reused, `sent` is not called
  pending,  ///< `sent` is or was called, possibly before this answer is seen
  down,     ///< the peer is lost; nothing was taken
};

class bundle;
class peers;
class receiver;

/// A process of the job and the stream of packets to it.
///
/// One that several rails reach which may fail one by one has a `bundle`, which does what this
/// class does for others: see there. Nothing of it is on the way of a peer with one rail but one
/// comparison.
///
/// Threads:  every function any thread, except those marked [reaper]: whoever runs the
///           rail's ltask.
/// Progress: never waits. Whoever holds the stream's mask sends what others submit meanwhile.
/// Source:   multirail08 (collect and transfer layers, mechanism 13).
class peer : public base::list_hook<> {
  // Ownership: `first_`, `last_`, `charged_` belong to the holder of `mask_`.
  // Edges:
  //   (L) store of lost_, seq_cst -> loads of lost_ in `post`, behind its try_hold or submit:
  //       either the poster sees the loss, or `fail_waiting` sees what was posted.
  //   consumed_, consumed_late_, advertised_, returned_: relaxed; counts that carry nothing with
  //   them.
  //   telling_: relaxed; a thread looks for its own word, which it wrote itself or not at all.
 public:
  peer(peers& all, rails::peer_id id) noexcept;
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  [[nodiscard]] rails::peer_id id() const noexcept { return id_; }
  [[nodiscard]] std::size_t eager_bytes_max() const noexcept { return eager_bytes_max_; }
  [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }  // (L)
  /// Who was given to `peers::start`.
  [[nodiscard]] receiver& above() const noexcept;
  /// Of a peer that is not `bundled`.
  [[nodiscard]] rails::driver& rail() const noexcept { return *rail_; }
  /// Has several rails: large messages come by `pull`, not by a landing zone and a packet that
  /// names it.
  [[nodiscard]] bool bundled() const noexcept { return bundle_ != nullptr; }
  /// Of a bundled peer: asks for a message that it has offered. Ends in `receiver::pulled`,
  /// possibly before this returns. [any thread]
  void pull(const pull_order& order) noexcept;
  /// How packets and messages of this peer are given to rails, unless an order says otherwise.
  [[nodiscard]] const packets::strategy& strategy() const noexcept {
    return *strategy_.load(std::memory_order_relaxed);  // strategies do not change: carries nothing
  }
  void use(const packets::strategy& how) noexcept {
    strategy_.store(&how, std::memory_order_relaxed);
  }

  /// Sends `item` behind all that was posted before it by this thread. When the peer is lost
  /// meanwhile, `sent(false)` has been called before this returns or before `receiver::lost`.
  [[nodiscard, gnu::hot]] posted post(outgoing& item) noexcept;

  /// Leaves `item` to whoever polls next, behind all that was posted before it by this thread; else
  /// as `post`, and never `done`. A bundled peer: as `post`.
  [[nodiscard]] posted post_later(outgoing& item) noexcept;

  /// Sends a packet now, or not at all (false), for one who would keep no item for it: `head` is as
  /// an item's, the payload one that the rail never posts, and there is no charge. False of a
  /// bundled peer.
  [[nodiscard, gnu::hot]] bool post_now(std::span<std::byte> head,
                                        std::span<const std::byte> payload) noexcept;

  /// `post_later` in two steps, for one who keeps packets in order by a lock of his own: `line_up`
  /// under it, which sends nothing and calls nobody, then `send_lined_up` without it. Not of a
  /// bundled peer.
  void line_up(outgoing& item) noexcept { mask_.submit(item); }
  void send_lined_up() noexcept;

  /// `bytes` charged by the peer are stored no longer. [reaper]
  void consumed(std::uint32_t bytes) noexcept {
    consumed_.store(consumed_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// The same from any thread.
  void consumed_late(std::uint32_t bytes) noexcept;

 private:
  friend class bundle;
  friend class peers;
  friend class rail;

  enum class taken : std::uint8_t { whole, in_part, not_yet, never };
  /// `in_part`: an event or an answer ends it, do not touch it again.
  [[nodiscard, gnu::hot]] taken transmit(outgoing& item) noexcept;
  void adopt_submitted() noexcept;
  void append(outgoing& item) noexcept;
  /// Sends what is submitted, unless somebody else holds the mask and will.
  void flush() noexcept;
  /// Sends what waits, in order. False: the rail takes no more now. Under the mask.
  [[nodiscard]] bool drain() noexcept;
  /// After `lost_`: ends what waits with `sent(false)`. False: the mask is taken, try again.
  bool fail_waiting() noexcept;
  /// The end of `post`: what was submitted has its end before this returns, if the peer is lost.
  void end_if_lost() noexcept;
  void tell_sent(outgoing& item, bool well) noexcept;
  [[nodiscard]] std::uint32_t consumed_total() const noexcept {
    return consumed_.load(std::memory_order_relaxed) +
           consumed_late_.load(std::memory_order_relaxed);
  }
  [[gnu::hot]] void return_credit_if_due() noexcept;
  static void credit_sent(outgoing& item, bool well) noexcept;
  struct credit_return : outgoing {
    peer* self = nullptr;
  };

  peers& all_;
  const rails::peer_id id_;
  std::unique_ptr<bundle> bundle_;
  std::atomic<const packets::strategy*> strategy_;
  rails::driver* rail_ = nullptr;
  std::size_t rail_index_ = 0;
  std::size_t eager_bytes_max_ = 0;
  std::uint32_t credit_bytes_ = 0;

  alignas(64) base::combining_mask<outgoing, std::atomic, &outgoing::next> mask_;
  std::atomic<bool> lost_{false};
  std::atomic<const void*> telling_{nullptr};  // the thread that is inside a `sent`
  bool stalled_ = false;       // in peers::stalled_list_ or being retried; under that list's lock
  bool loss_told_ = false;     // the reaper's
  std::uint32_t charged_ = 0;  // eager bytes sent so far
  std::atomic<std::uint32_t> advertised_{0};  // consumed_total as last told to the peer
  outgoing* first_ = nullptr;
  outgoing* last_ = nullptr;
  std::atomic<std::uint32_t> returned_{0};  // of charged_, given back by the peer

  alignas(64) std::atomic<std::uint32_t> consumed_{0};
  std::atomic<std::uint32_t> consumed_late_{0};
  std::atomic<bool> credit_flying_{false};
  credit_return credit_item_;
};

}  // namespace headway::packets

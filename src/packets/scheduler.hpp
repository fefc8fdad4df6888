#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "base/combining_mask.hpp"
#include "base/thread_annotations.hpp"
#include "packets/credits.hpp"
#include "packets/send_list.hpp"
#include "packets/single_rail.hpp"
#include "packets/stalled_list.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

enum class posted : std::uint8_t {
  done,     ///< taken whole: head and payload may be reused, `sent` is not called
  pending,  ///< `sent` is or was called, possibly before this answer is seen
  down,     ///< the peer is lost; nothing was taken
};

/// Sends everything to one peer: collects what is posted, asks the strategy which packets leave
/// together and on which rail, and gives them to the peer's rail or bundle.
///
/// A packet goes straight to the only rail if no other waits. Otherwise it waits in order; the
/// holder of the mask also sends what other threads have submitted meanwhile.
///
/// Threads:  `post` and its variants any thread; those marked [mask] its holder.
/// Progress: never waits, except `post` after a loss, for the holder of the mask.
/// Source:   multirail08 (collect, optimise, transfer; mechanism 13).
class scheduler : public stalled_list::member {
  // Ownership: `waiting_`, `posting_`, `posting_done_` belong to the holder of `mask_`.
  // Edges:
  //   (L) store of lost_, seq_cst -> loads of lost_ in `post`, behind its try_hold or submit:
  //       either the poster sees the loss, or `end_waiting` sees what was posted.
  //   (G) store of again_, seq_cst -> load behind the mask's let_go: either the holder sees that
  //       another round is wanted, or the thread that wants it finds the mask free. As (P) and (E)
  //       of combining_mask.
  // telling_: relaxed; a thread compares it with its own address, which only itself writes.
 public:
  scheduler(rails::peer_id to, credit_account& credits, progress::engine& engine,
            stalled_list& stalled_ones, const strategy& used) noexcept
      : how_(&used), direct_(*this, to, credits, engine), stalled_(stalled_ones) {}
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Before other threads can find the peer: over one rail, or by another sender.
  void open(const single_rail::way& over) noexcept;
  void open(packet_sender& by) noexcept {
    HEADWAY_ASSERT(!sender_);
    sender_ = &by;
  }
  /// The only rail; not open if there is a bundle.
  [[nodiscard]] const single_rail& direct() const noexcept { return direct_; }
  /// As in `single_rail`.
  void carry_large_over(const single_rail::way& over) noexcept { direct_.carry_large_over(over); }

  [[nodiscard, gnu::hot]] posted post(send_item& item) noexcept;
  /// As in `peer`.
  [[nodiscard]] posted post_later(send_item& item) noexcept;
  [[nodiscard, gnu::hot]] bool post_now(const prompt_packet& what) noexcept;
  void line_up(send_item& item) noexcept {
    item.waits.store(true, std::memory_order_relaxed);  // the holder may send it at once
    mask_.submit(item);
  }
  void send_lined_up() noexcept;

  [[nodiscard]] const strategy& how() const noexcept {
    return *how_.load(std::memory_order_relaxed);  // strategies do not change: carries nothing
  }
  void use(const strategy& used) noexcept { how_.store(&used, std::memory_order_relaxed); }

  [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_seq_cst); }  // (L)
  /// True: it was not lost before.
  bool mark_lost() noexcept { return !lost_.exchange(true, std::memory_order_seq_cst); }  // (L)
  /// After `mark_lost`: ends what waits. Waits for the mask.
  void end_waiting() noexcept;
  /// `end_waiting` has ended every packet that was posted before. While only `lost` is true,
  /// another thread may still be sending a packet whose `post` has returned `pending`. Relaxed (D):
  /// `rendezvous::lost` comes after `end_waiting`; a thread that locks its tables after it has
  /// unlocked them sees this by their lock.
  [[nodiscard]] bool drained() const noexcept {
    return drained_.load(std::memory_order_relaxed);  // (D)
  }

  /// Runs `work` with the mask, then sends what waits; false: another thread holds it.
  template <class Work>
  bool within(Work work) noexcept {
    if (!mask_.try_hold()) return false;
    work();
    let_go();
    return true;
  }
  /// Sends what waits, now or by the thread that holds the mask.
  void pump() noexcept;
  /// Sends what was collected. False: it has not left, because the rail takes nothing now or
  /// another thread is sending.
  [[nodiscard]] bool send_collected() noexcept;
  /// At the end: from now on no polling round sends what is collected. Not inside an ltask.
  void stop() noexcept { direct_.stop_telling(); }
  /// [mask] Sends what waits and what was submitted.
  void round() noexcept;
  /// [mask] Nothing waits, and nothing was submitted.
  [[nodiscard]] bool idle() const noexcept { return waiting_.empty() && !mask_.any_submitted(); }
  /// [mask] The rails have taken the item, or never will.
  void ended(send_item& item, bool well) noexcept;
  /// [mask] Runs callbacks of other modules, which may post packets.
  template <class Call>
  void tell(Call call) noexcept {
    telling_.store(own_word(), std::memory_order_relaxed);
    call();
    telling_.store(nullptr, std::memory_order_relaxed);
  }
  /// [mask] Something waits until the only rail has been reaped.
  void stall() noexcept { stalled_.add(*this); }
  /// [reaper] It was stalled, and its rail was reaped. True: something has left.
  bool resume() noexcept;

 private:
  void adopt_submitted() noexcept;
  [[nodiscard]] posted post_straight(send_item& item) noexcept;
  [[nodiscard]] const strategy& how(const send_item& item) const noexcept {
    return item.how ? *item.how : how();
  }
  [[nodiscard]] posted post_behind(send_item& item) noexcept;
  [[nodiscard]] bool send_waiting() noexcept;
  [[nodiscard]] std::size_t choose(std::uint32_t on) noexcept;
  [[nodiscard]] bool fits_in_frame(std::size_t count, std::size_t bytes_max) const noexcept;
  void drop_waiting() noexcept;
  void let_go() noexcept HEADWAY_RELEASE(mask_) {
    mask_.let_go();
    if (more_wanted()) flush();
  }
  /// Sends what is submitted, unless another thread holds the mask and will do so.
  void flush() noexcept;
  [[nodiscard]] bool more_wanted() const noexcept {
    return mask_.any_submitted() || again_.load(std::memory_order_seq_cst);  // (G)
  }
  /// The end of a post: if the peer is lost, ends what was submitted before this returns.
  void end_if_lost() noexcept;
  /// Its address identifies the calling thread.
  [[nodiscard]] static const void* own_word() noexcept;

  base::combining_mask<send_item, std::atomic, &send_item::next> mask_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> drained_{false};
  std::atomic<bool> again_{false};  // another round is wanted
  bool posting_done_ = false;
  std::atomic<const void*> telling_{nullptr};  // the thread that runs a callback inside `tell`
  send_list waiting_;
  send_item* posting_ = nullptr;  // the item whose answer `post` waits for
  packet_sender* sender_ = nullptr;
  std::atomic<const strategy*> how_;
  single_rail direct_;
  stalled_list& stalled_;
};

}  // namespace headway::packets

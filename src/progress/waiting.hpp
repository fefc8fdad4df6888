#pragma once

#include <cstdint>

#include "progress/engine_core.hpp"
#include "progress/standing.hpp"
#include "progress/wait_set.hpp"

namespace headway::progress {

/// One wait of one thread.
///
/// The thread that finds the lead vacant takes it and polls for everybody; the others sleep on
/// their own futex at once, so that no more than one thread of a process spins. A leader who finds
/// another's message wakes that thread, gives the lead up and sleeps: the woken one returns to its
/// program, and takes the lead again when it waits next. That is one context switch a message, for
/// any number of threads. A leader whose patience ends becomes the guard and sleeps on the event
/// sources, without the lead: a thread that begins to wait then polls awake.
///
/// A vacant lead with sleepers behind is found by the event thread within its look; where none
/// runs, the sleepers look themselves from time to time.
class waiting {
 public:
  waiting(engine_core& core, wait_set& set, std::uint64_t deadline_ns) noexcept
      : core_(core),
        set_(set),
        me_(this_thread()),
        deadline_ns_(deadline_ns),
        preferred_(me_.in_kernel, base::thread_of(me_.ticket)) {}

  enum class outcome : std::uint8_t {
    complete,
    timed_out,
    woke_others,  ///< a round of ours completed what others sleep for
    exhausted,    ///< the spin was long enough
    relieved,     ///< somebody else does what we did, or the lead is vacant: begin again
  };

  /// The first round of a wait, and of most the last one: it needs no lead, which is for those who
  /// stay, and no object of this class. `only`: as `wait_set::only`.
  template <class Done>
  [[nodiscard]] static outcome look(engine_core& core, thread_record& me, const completion* only,
                                    Done done) noexcept {
    if (core.lead.holder() != 0) return outcome::relieved;  // who has it looks
    me.spins_for = only;
    static_cast<void>(
        core.round(me, round_kind::explicit_, me.rounds++ % sweep_period == sweep_period - 1));
    me.spins_for = nullptr;
    const bool woke_others = me.owed_count != 0;
    if (woke_others) me.pay_wake_ups();
    if (!done()) return woke_others ? outcome::woke_others : outcome::relieved;
    auto& recent = me.recent_wait_ns[only ? 0 : 1];
    recent -= recent / 8;  // as `learn` does where it ends before the first look at the clock
    if (roused_threads.load(std::memory_order_relaxed) > 0) [[unlikely]]
      be_fair(me);
    return outcome::complete;
  }
  /// What is left of the wait, after `look` came to `first`. False: the deadline passed.
  [[nodiscard, gnu::hot]] bool run(outcome first) noexcept;

 private:
  static constexpr std::uint32_t sweep_period = 64;  // rounds of a thread from sweep to sweep

  [[nodiscard]] outcome lead() noexcept;
  [[nodiscard]] outcome spin(std::uint64_t budget_ns) noexcept;
  [[nodiscard, gnu::hot]] outcome poll_for(std::uint64_t budget_ns) noexcept;
  [[nodiscard]] bool become_guard(outcome& how) noexcept;
  [[nodiscard]] outcome stand_guard() noexcept;
  [[nodiscard]] outcome follow(outcome why) noexcept;
  [[nodiscard]] std::uint64_t budget_ns(bool yields) const noexcept;
  std::uint64_t look_at_clock() noexcept;
  void learn(std::uint64_t woken_in_ns) noexcept;
  void end_idle_stretch(std::uint64_t woken_in_ns = 0) noexcept;
  [[nodiscard]] bool wants_weight() const noexcept;
  void be_preferred() noexcept;
  void keep_weight() noexcept;
  void note_company() noexcept;
  static void be_fair(thread_record& me) noexcept;
  [[nodiscard]] std::uint64_t& recent_ns() const noexcept;
  [[nodiscard]] bool crowd_of_others() const noexcept;
  [[nodiscard]] bool must_nap() const noexcept;

  engine_core& core_;
  wait_set& set_;
  thread_record& me_;
  const std::uint64_t deadline_ns_;
  bool moved_ = false;                     ///< by the last spin
  preferred preferred_;                    ///< in a crowd
  std::uint64_t has_weight_since_ns_ = 0;  ///< 0: it has none
  std::uint64_t began_ns_ = 0;         ///< the first look at the clock: short waits never take one
  std::uint64_t longest_idle_ns_ = 0;  ///< of this wait so far, between things that moved
};

}  // namespace headway::progress

#pragma once

#include <cstdint>

#include "progress/completion/wait_set.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/engine_core.hpp"
#include "progress/os/sched_boost.hpp"

namespace headway::progress {

/// One wait of one thread.
///
/// A thread that finds no wait leader becomes it and polls for all waiting threads. The others
/// follow: where processors are free, they watch what they wait for during a brief wait, and lead
/// if the wait leader stops; else they sleep at once, each on its own futex, so that at most one
/// thread of a process spins. When the wait leader completes what a sleeping thread waits for, it
/// wakes that thread, and where no processor is free it stops leading and sleeps; the woken thread
/// returns to its program, and leads again when it waits next. That is one context switch a
/// message, for any number of threads. A wait leader that has spun long enough becomes the kernel
/// sleeper: it sleeps on the event sources and does not lead, so that a thread that begins to wait
/// polls.
///
/// If threads sleep without a wait leader, the event thread polls for them at its next look; if
/// there is none, the sleepers themselves look from time to time.
class waiting {
 public:
  waiting(engine_core& core, wait_set& set, std::uint64_t deadline_ns) noexcept
      : core_(core),
        set_(set),
        me_(this_thread()),
        deadline_ns_(deadline_ns),
        boost_(me_.in_kernel, base::thread_of(me_.ticket)) {}

  enum class outcome : std::uint8_t {
    complete,
    timed_out,
    woke_others,  ///< a round of this thread completed what other threads sleep for; a thread
                  ///< with which this one answers in turns is woken by `sleep_on_futex`
    spun_enough,  ///< nothing came for as long as a spin may take
    retry,        ///< another thread polls or sleeps on the events, or none does: begin again
  };

  /// The first rounds of a wait, and usually the only ones: they need neither `wait_leader`, which
  /// is for threads that keep polling, nor an object of this class. `only`: as `wait_set::only`.
  template <class Done>
  [[nodiscard]] static outcome look(engine_core& core, thread_record& me, const completion* only,
                                    Done done) noexcept {
    auto& recent_ns = me.recent_wait_ns[only ? 0 : 1];
    for (int left = recent_ns < brief_ns ? looks_of_brief_waits : 1; left > 0; --left) {
      if (core.wait_leader.holder() != 0) return outcome::retry;  // the wait leader polls
      core.quiet.attend(me);
      me.spins_for = only;
      static_cast<void>(
          core.round(me, round_kind::explicit_, me.rounds++ % sweep_period == sweep_period - 1));
      me.spins_for = nullptr;
      const bool woke_others = me.owed_count != 0;
      if (woke_others) core.pay_wake_ups(me);
      if (done()) {
        me.slept_waits = 0;
        recent_ns -= recent_ns / 8;  // as in `learn`, if it ends before the first clock read
        if (woken_threads.load(std::memory_order_relaxed) > 0) [[unlikely]]
          yield_to_woken(core, me);
        return outcome::complete;
      }
      if (woke_others) return outcome::woke_others;
    }
    return outcome::retry;
  }
  /// The rest of the wait, after `look` returned `first`. False: the deadline passed.
  [[nodiscard, gnu::hot]] bool run(outcome first) noexcept;
  /// As `engine::wait` returns it.
  [[nodiscard]] clock_looks looks() const noexcept {
    return {.first_ns = first_looked_ns_, .last_ns = gave_way_ ? UINT64_MAX : looked_ns_};
  }

 private:
  static constexpr std::uint32_t sweep_period = 64;  // rounds of a thread between two sweeps
  // A thread whose recent waits took less than `brief_ns` polls so many times in `look`, about as
  // long as a small message takes between near cores. Any other thread polls once: if all polled
  // so often, one thread that sends to two would need 1.5 to 1.9 times as long
  // (bench/mpi/one_to_n.c with `--threads 2`, 2 cores), because both receivers would poll.
  static constexpr std::uint64_t brief_ns = 1000;
  static constexpr int looks_of_brief_waits = 16;

  [[nodiscard]] outcome poll_as_leader() noexcept HEADWAY_RELEASE(core_.wait_leader);
  [[nodiscard]] outcome follow() noexcept;
  [[nodiscard]] bool has_free_processor() const noexcept;
  void learn_to_follow() noexcept;
  [[nodiscard]] outcome spin(std::uint64_t budget_ns) noexcept;
  [[nodiscard, gnu::hot]] outcome poll_for(std::uint64_t budget_ns) noexcept;
  /// Whether another thread may need this processor, after so many rounds in a row that advanced
  /// nothing. This thread yields at once to a thread that was woken and has not run yet, and after
  /// sixteen rounds, which take some microseconds, to one that was waking others
  /// (`engine_core::pay_wake_ups`): among many pairs of threads a message arrives before that.
  [[nodiscard]] bool is_in_the_way(std::uint32_t idle_rounds) const noexcept {
    constexpr std::uint32_t rounds_before_waker = 16;
    return woken_threads.load(std::memory_order_relaxed) > 0 ||
           (idle_rounds >= rounds_before_waker &&
            core_.ready_wakers.load(std::memory_order_relaxed) > 0);
  }
  [[nodiscard]] bool try_to_keep_processor() noexcept;
  [[nodiscard]] bool count_kept_round() noexcept;
  void give_way() noexcept;
  void yield_to_others() noexcept;
  [[nodiscard]] bool become_kernel_sleeper(outcome& how) noexcept;
  [[nodiscard]] outcome sleep_on_events() noexcept;
  [[nodiscard]] bool may_sleep_on_events() const noexcept;
  [[nodiscard]] bool sleep_beside() noexcept;
  [[nodiscard]] outcome sleep_on_futex(outcome why) noexcept;
  bool make_way() noexcept;
  [[nodiscard]] static bool own_threads_compete() noexcept;
  [[nodiscard]] std::uint64_t setting_ns(bool yields) const noexcept {
    return yields ? core_.chosen.yield_ns : core_.chosen.spin_ns;
  }
  [[nodiscard]] std::uint64_t budget_ns(bool yields) const noexcept;
  [[nodiscard]] std::uint64_t budget_after_sleep_ns(std::uint64_t slept_since_ns) noexcept;
  std::uint64_t look_at_clock() noexcept;
  void learn(std::uint64_t woken_in_ns) noexcept;
  void end_idle_stretch(std::uint64_t woken_in_ns = 0) noexcept;
  void end_nap_for_the_rest() noexcept;
  void count_vain(outcome how) noexcept;
  [[nodiscard]] bool wants_weight() const noexcept;
  void boost() noexcept;
  void keep_boost() noexcept;
  static void yield_to_woken(engine_core& core, thread_record& me) noexcept;
  [[nodiscard]] std::uint64_t& recent_ns() const noexcept;

  engine_core& core_;
  wait_set& set_;
  thread_record& me_;
  const std::uint64_t deadline_ns_;
  bool beside_ = false;                  ///< sleeps beside the event thread, which is parked
  bool moved_ = false;                   ///< something advanced in the last spin
  bool asked_to_keep_ = false;           ///< its processor: see coscheduling.hpp
  bool woke_while_keeping_ = false;      ///< other threads of the process
  std::uint32_t keeps_for_ = 0;          ///< rounds from now
  std::uint32_t kept_for_ = 0;           ///< rounds, as granted
  scoped_boost boost_;                   ///< on an oversubscribed machine
  std::uint64_t boosted_since_ns_ = 0;   ///< with the greatest weight; 0: without
  std::uint64_t began_ns_ = 0;           ///< the first clock read: short waits make none
  std::uint64_t followed_since_ns_ = 0;  ///< since then another thread polled; 0: none has
  std::uint64_t watch_until_ns_ = 0;     ///< until then this thread may watch
  std::uint64_t first_looked_ns_ = 0;    ///< the first clock read of the whole wait
  std::uint64_t looked_ns_ = 0;          ///< the last one
  bool gave_way_ = false;                ///< has slept, or yielded the processor
  std::uint64_t longest_idle_ns_ = 0;  ///< of this wait, between two rounds that advanced something
};

}  // namespace headway::progress

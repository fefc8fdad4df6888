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

  /// False: the deadline passed.
  [[nodiscard]] bool run() noexcept;

 private:
  enum class outcome : std::uint8_t {
    complete,
    timed_out,
    woke_others,  ///< a round of ours completed what others sleep for
    exhausted,    ///< the spin was long enough
    relieved,     ///< somebody else does what we did, or the lead is vacant: begin again
  };

  [[nodiscard]] outcome look() noexcept;
  [[nodiscard]] outcome lead() noexcept;
  [[nodiscard]] outcome spin(std::uint64_t budget_ns) noexcept;
  [[nodiscard]] outcome poll_for(std::uint64_t budget_ns) noexcept;
  [[nodiscard]] bool become_guard(outcome& how) noexcept;
  [[nodiscard]] outcome stand_guard() noexcept;
  [[nodiscard]] outcome follow(outcome why) noexcept;
  [[nodiscard]] std::uint64_t budget_ns(bool yields) const noexcept;
  std::uint64_t look_at_clock() noexcept;
  void learn(std::uint64_t woken_in_ns) noexcept;
  [[nodiscard]] bool wants_weight() const noexcept;
  void be_preferred() noexcept;
  void keep_weight() noexcept;
  void note_company() noexcept;
  void be_fair() noexcept;
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
  std::uint64_t began_ns_ = 0;  ///< the first look at the clock: short waits never take one
};

}  // namespace headway::progress

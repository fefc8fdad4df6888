#pragma once

#include <atomic>
#include <cstddef>

#include "collectives/call.hpp"
#include "collectives/schedule.hpp"
#include "collectives/team.hpp"
#include "messages/request.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/ltask.hpp"

namespace headway::collectives {

/// A schedule, and how far it has run: complete when all its steps were done.
///
/// Shape:    may be run or started again when it is complete.
/// Threads:  started by one thread; after `start` any thread advances it, one at a time.
/// Progress: after `start` it advances by itself: the thread that completes the last message of a
///           round submits the ltask that runs the next one. `run` waits between the rounds
///           instead.
/// Errors:   when a message fails or has another size than is due, the remaining rounds still run,
///           with failure messages in place of data, so that no rank waits for one that has
///           failed. `how` says what failed first. Every rank whose result would be wrong has an
///           error. Where ranks have chosen different algorithms, because they were called with
///           different counts, `messages` ends the operation on all of them (given_up.cpp).
class schedule_run final : public schedule, public progress::completion {
 public:
  schedule_run() : turn_(*this) {}

  /// Draws the operation's number, on all ranks in the same order. Before the first `run` or
  /// `start`; one with exchanges, but for a persistent one, before each.
  void bind(team& ranks, const call& what = {}) noexcept;
  /// Runs all steps and waits for their end.
  messages::outcome run() noexcept;
  void start() noexcept;
  /// An exchange has ended, for which the schedule does not wait.
  void exchange_ended(const shared_exchange& what) noexcept;
  /// Called by the ltask that transport::submit was given.
  void take_turn() noexcept;
  [[nodiscard]] progress::ltask& task() noexcept { return turn_; }
  /// Valid once complete.
  [[nodiscard]] messages::outcome how() const noexcept { return how_; }
  /// The rank whose message failed first, or -1.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// For another operation: removes the steps and keeps the memory. Not while it runs.
  void recycle() noexcept;

 private:
  friend class schedule_cache;

  static bool on_message(messages::request& r) noexcept;
  static bool on_counted(messages::request& r) noexcept;
  static progress::ltask_result on_turn(progress::ltask& task) noexcept;

  void rewind() noexcept;
  void begin_round(const step& open, messages::request::finisher finish) noexcept;
  void post(const step& s) noexcept;
  void local(const step& s) noexcept;
  void advance() noexcept;
  void end() noexcept;
  void check_round() noexcept;
  void check(const shared_exchange& what) noexcept;
  void check(const messages::request& r, const step& s) noexcept;
  void fail(messages::outcome how, int rank) noexcept;
  void wait_round() noexcept;
  [[nodiscard]] bool last_of_round() noexcept;

  struct turn : progress::ltask {
    explicit turn(schedule_run& whose) noexcept;
    schedule_run& owner;
  };

  // Between rounds these belong to the thread that advances the schedule; `outstanding_` passes
  // them on.
  std::size_t next_ = 0;   ///< the step to run next
  std::size_t round_ = 0;  ///< the first step of this round
  int posted_ = 0;         ///< messages of this round so far
  transport* via_ = nullptr;
  messages::label label_ = 0;
  messages::outcome how_ = messages::outcome::ok;
  int failed_rank_ = -1;
  messages::request::finisher finish_ = nullptr;
  // Hazard: the next round reads requests while a completer still writes them.
  // Edge:   (M) every completer's decrement, release -> (N) the last one's, acquire.
  std::atomic<int> outstanding_{0};
  progress::completion round_over_;  ///< of `run`, in rounds of many messages
  turn turn_;
  schedule_run* cached_next_ = nullptr;  ///< owned by schedule_cache
};

}  // namespace headway::collectives

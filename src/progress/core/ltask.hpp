#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/mpsc_queue.hpp"

namespace headway::progress {

/// What the body of an ltask returns.
enum class ltask_result : std::uint8_t {
  idle,      ///< nothing to do now; run again in the next round (repeat ltasks)
  advanced,  ///< something moved; run again soon
  done,      ///< finished: the engine does not touch it any more
};

/// A one-shot ltask is finished after its run, whatever its body returns. It counts as pending from
/// `submit` to its run. A repeat ltask counts as pending only until its first run; if its work must
/// not be left alone, call `engine::pending_started`.
enum class ltask_kind : std::uint8_t { one_shot, repeat };

/// A small piece of communication work; any thread that reaches a polling point runs it.
/// Shape:    embedded in the object that it works on; the engine allocates nothing for it.
/// Threads:  the body runs on any thread, never on two at once (serialised with itself).
/// Progress: the body never waits, polls or cancels; if it does, the process aborts with its name.
///           It may submit ltasks, complete completions, and re-submit itself before it returns
///           `done`. A thread that learns from the body that it is done may free or re-submit it at
///           once.
/// Errors:   submitting an ltask that is submitted already aborts with its name; two concurrent
///           submissions are not detected.
/// Source:   pioman15 (docs/papers.md, mechanism 1).
class ltask : public base::list_hook<> {
 public:
  using body = ltask_result (*)(ltask& self) noexcept;

  ltask(const char* name, body run, ltask_kind kind = ltask_kind::repeat) noexcept
      : run_(run), name_(name), kind_(kind) {
    HEADWAY_DEBUG_ASSERT(run && name);
  }
  ltask(const ltask&) = delete;
  ltask& operator=(const ltask&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  friend class task_queue;
  friend class engine;

  /// The owner of the ltask: its user, a queue, or the round that runs it. `running` stays after
  /// the last run, because the engine does not touch a finished ltask.
  enum class state : std::uint8_t { idle, queued, running };
  static base::mpsc_link& link_of(ltask& t) noexcept { return t.submitted_; }

  base::mpsc_link submitted_;
  base::atomic<state> state_{state::idle};
  base::atomic<class task_queue*> home_{nullptr};  ///< where it was last submitted
  /// the queue whose main list it is in; used by the mask's holder
  base::atomic<task_queue*> listed_{nullptr};
  body run_;
  const char* name_;
  std::uint64_t submitted_ns_ = 0;  ///< only if threads are metered: progress/core/meter.hpp
  ltask_kind kind_;
  bool taken_count_ = false;  ///< used by the mask's holder: absorbed, and not run yet
};

}  // namespace headway::progress

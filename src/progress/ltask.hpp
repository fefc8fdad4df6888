#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/mpsc_queue.hpp"

namespace headway::progress {

/// What a run of an ltask says of itself.
enum class ltask_result : std::uint8_t {
  idle,      ///< nothing to do now; run me again at the next round (repeat ltasks)
  advanced,  ///< something moved; run me again soon
  done,      ///< finished: the engine forgets it and never touches it again
};

/// A one-shot ltask is finished after its run, whatever it says. It is something pending from
/// `submit` on; a repeat ltask only until it has run once: those that look for work say so by
/// `pending_started`.
enum class ltask_kind : std::uint8_t { one_shot, repeat };

/// A small piece of communication work that whoever reaches a polling point runs.
/// Shape:    embedded in the object that it works on; the engine allocates nothing for it.
/// Threads:  the body runs on any thread, never on two at once (serialised with itself).
/// Progress: the body never waits, polls or cancels; it is aborted with its name when it does.
///           It may submit ltasks, complete completions, and re-submit itself before it returns
///           `done`. Whoever it tells that it is done may free or re-submit it at once.
/// Errors:   submitting an ltask that is submitted already aborts with its name. By two threads at
///           once it is not found out.
/// Source:   pioman15 (PAPERS.md mechanism 1).
class ltask : public base::list_hook<> {
 public:
  using body = ltask_result (*)(ltask& self) noexcept;

  ltask(const char* name, body run, ltask_kind kind = ltask_kind::repeat) noexcept
      : run_(run), name_(name), kind_(kind) {}
  ltask(const ltask&) = delete;
  ltask& operator=(const ltask&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  friend class task_queue;
  friend class engine;

  /// Who owns the ltask: nobody, a queue, or the round that runs it. `running` stays after the last
  /// run, because the engine does not touch a finished ltask.
  enum class state : std::uint8_t { idle, queued, running };
  static base::mpsc_link& link_of(ltask& t) noexcept { return t.submitted_; }

  base::mpsc_link submitted_;
  base::atomic<state> state_{state::idle};
  base::atomic<class task_queue*> home_{nullptr};  ///< where it was submitted last
  base::atomic<task_queue*> listed_{nullptr};      ///< in whose main list it is; of its holder
  body run_;
  const char* name_;
  std::uint64_t submitted_ns_ = 0;  ///< only where somebody asks: progress/meter.hpp
  ltask_kind kind_;
  bool unrun_ = false;  ///< of the mask's holder: absorbed, and not run yet
};

}  // namespace headway::progress

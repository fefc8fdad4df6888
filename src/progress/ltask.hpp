#pragma once

#include <atomic>
#include <cstdint>

#include "base/intrusive_list.hpp"

namespace headway::progress {

/// What a run of an ltask says of itself.
enum class ltask_result : std::uint8_t {
  idle,      ///< nothing to do now; run me again at the next round (repeat ltasks)
  advanced,  ///< something moved; run me again soon
  done,      ///< finished: the engine forgets it and never touches it again
};

enum class ltask_kind : std::uint8_t { one_shot, repeat };

/// A small piece of communication work that whoever reaches a polling point runs.
/// Shape:    embedded in the object that it works on; the engine allocates nothing for it.
/// Threads:  the body runs on any thread, never on two at once (serialised with itself).
/// Progress: the body never waits and never polls; debug builds abort with both names when it does.
///           It may submit ltasks, complete completions, and re-submit itself after `done`.
/// Errors:   submitting an ltask that is submitted already aborts with its name.
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
  friend class engine;
  friend class task_queue;

  std::atomic<ltask*> submitted_next_{nullptr};
  std::atomic<std::uint8_t> state_{0};
  body run_;
  const char* name_;
  ltask_kind kind_;
};

}  // namespace headway::progress

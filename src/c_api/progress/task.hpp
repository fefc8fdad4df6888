#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/spinlock.hpp"
#include "c_api/progress/task_phase.hpp"
#include "headway/progress.h"
#include "progress/background/event_source.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/ltask.hpp"

namespace headway::progress_api {

class task_host;

/// The result of a call on a task; the caller decides which results are misuse.
enum class task_answer : std::uint8_t {
  ok,
  ended,         ///< the task had ended before
  was_busy,      ///< submitted or suspended already
  was_not_busy,  ///< not submitted
};

/// The ltask of include/headway/progress.h: it can be suspended, resumed and asked to end; several
/// threads may wait for it; it may have a descriptor and a blocking form.
/// Shape:    at most sizeof(headway_ltask), in whose storage it is built.
/// Threads:  every function any thread; `submit` of one task by one thread at a time.
/// Progress: `submit`, `resume`, `ask` never wait. `cancel` and `suspend` wait for a run under way,
///           and for a blocking form at most its limit.
/// Source:   pioman15 (mechanisms 1, 7).
class task final : private progress::ltask {
  // These change the phase: `submit`; the round that runs the task; a thread that has removed it
  // from its queue; a thread that claims it while suspended; the host's thread. Only one thread
  // removes it from the queue (progress/core/queue.hpp), so it ends once. Completing `ended_` is
  // the last step: a thread that sees it may free the task.
 public:
  explicit task(const headway_ltask_attributes& a) noexcept;
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  [[nodiscard]] static task& of(headway_ltask* storage) noexcept {
    return *reinterpret_cast<task*>(storage);
  }
  [[nodiscard]] static const task& of(const headway_ltask* storage) noexcept {
    return *reinterpret_cast<const task*>(storage);
  }

  /// Whether the storage holds a task, between construction and `retire`, and not other bytes.
  [[nodiscard]] bool alive() const noexcept { return alive_ == live; }
  void retire() noexcept { alive_ = dead; }
  using ltask::name;
  /// Whether it is submitted and has not ended.
  [[nodiscard]] bool busy() const noexcept { return !ended_.test(); }
  [[nodiscard]] int place() const noexcept { return place_; }
  [[nodiscard]] bool blocks() const noexcept { return block_ != nullptr; }
  [[nodiscard]] headway_ltask_outcome outcome() const noexcept;
  [[nodiscard]] progress::completion& ended() noexcept { return ended_; }
  [[nodiscard]] bool asked() const noexcept { return phase_.asked(requests::end_asked); }

  [[nodiscard]] task_answer submit(task_host& host) noexcept;
  [[nodiscard]] task_answer cancel() noexcept;
  [[nodiscard]] task_answer suspend() noexcept;
  [[nodiscard]] task_answer resume() noexcept;
  [[nodiscard]] task_answer ask() noexcept;

  /// For the host's thread: calls the blocking form until it does not answer IDLE or another thread
  /// wants the task back. `end_block` with the answer follows.
  [[nodiscard]] headway_ltask_result block() noexcept;
  void end_block(headway_ltask_result answer) noexcept;

 private:
  using requests = basic_task_phase<>;
  static constexpr std::uint32_t live = 0x1157a5c0, dead = 0xdead1157;
  [[nodiscard]] headway_ltask* handle() noexcept { return reinterpret_cast<headway_ltask*>(this); }

  class readable final : public progress::event_source {
   public:
    explicit readable(int descriptor) noexcept : descriptor_(descriptor) {}
    [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
    [[nodiscard]] bool arm(progress::wake_for) noexcept override { return true; }
    void disarm() noexcept override {}

   private:
    int descriptor_;
  };

  static progress::ltask_result turn(progress::ltask& self) noexcept;
  [[nodiscard]] progress::ltask_result idled() noexcept;
  [[nodiscard]] progress::ltask_result suspend_itself() noexcept;
  void end(headway_ltask_outcome how) noexcept;
  void enqueue() noexcept;
  [[gnu::noinline]] void enqueue_at_place() noexcept;
  void begin_watch() noexcept;
  void begin_blind() noexcept;
  void end_watch() noexcept;
  void cease_pending() noexcept;
  void resume_pending() noexcept;
  void recall_from_thread() noexcept;
  [[nodiscard]] task_answer not_submitted() const noexcept;

  progress::shared_completion ended_;
  basic_task_phase<> phase_;
  base::spinlock control_;  // excludes cancel and suspend; held while they wait for a run
  const bool repeats_, patient_;
  bool blind_ = false;  ///< `blind_started` was called; written by the thread that has the task
  base::atomic<std::uint8_t> outcome_{HEADWAY_LTASK_UNUSED};
  std::uint32_t alive_ = live;
  int place_;
  task_host* host_ = nullptr;
  headway_ltask_run body_;
  void* argument_;
  headway_ltask_block block_;
  void (*on_end_)(void*);
  std::uint64_t block_delay_ns_;
  std::uint64_t idle_since_ns_ = 0;  ///< 0: the last run advanced
  readable source_;
};

static_assert(sizeof(task) <= sizeof(headway_ltask) && alignof(task) <= alignof(headway_ltask));

}  // namespace headway::progress_api

#include "c_api/progress/task.hpp"

#include <ctime>
#include <utility>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "c_api/progress/task_host.hpp"

namespace headway::progress_api {
namespace {

constexpr std::uint64_t block_limit_ns = 10'000'000;  // the longest delay of a cancel
constexpr long recall_pause_ns = 50'000;

}  // namespace

task::task(const headway_ltask_attributes& a) noexcept
    : progress::ltask(a.name, &turn,
                      a.kind == HEADWAY_LTASK_ONE_SHOT ? progress::ltask_kind::one_shot
                                                       : progress::ltask_kind::repeat),
      repeats_(a.kind != HEADWAY_LTASK_ONE_SHOT),
      patient_(a.patient != 0),
      place_(a.place),
      body_(a.run),
      argument_(a.argument),
      block_(a.block),
      on_end_(a.ended),
      block_delay_ns_(a.block_delay_ns),
      source_(a.descriptor) {
  ended_.begin_done();
}

headway_ltask_outcome task::outcome() const noexcept {
  if (busy()) return HEADWAY_LTASK_PENDING;
  return static_cast<headway_ltask_outcome>(outcome_.load(std::memory_order_relaxed));
}

/// Registers a repeat task with the engine while it is queued: as pending, and its descriptor. The
/// engine counts one-shots itself.
void task::begin_watch() noexcept {
  idle_since_ns_ = 0;
  if (!repeats_) return;
  auto& e = host_->home();
  if (patient_) host_->add_unpending(+1);
  else e.pending_started();
  if (source_.descriptor() >= 0) e.add_source(source_);
}

/// Tells the engine that the task must be polled, because no descriptor announces its events. Only
/// after its first run: many tasks end in that, and no thread sleeps before it.
void task::begin_blind() noexcept {
  if (source_.descriptor() >= 0 || blind_) return;
  blind_ = true;
  host_->home().blind_started();
}

void task::end_watch() noexcept {
  if (!repeats_) return;
  auto& e = host_->home();
  if (source_.descriptor() >= 0) e.remove_source(source_);
  else if (std::exchange(blind_, false)) e.blind_ended();
  if (patient_) host_->add_unpending(-1);
  else e.pending_ended();
}

void task::cease_pending() noexcept {
  host_->add_unpending(+1);
  end_watch();
}

void task::resume_pending() noexcept {
  begin_watch();
  host_->add_unpending(-1);
}

void task::enqueue() noexcept {
  if (place_ != HEADWAY_LTASK_PLACE_MACHINE) [[unlikely]]
    return enqueue_at_place();
  host_->home().submit(*this);
}

void task::enqueue_at_place() noexcept {
  auto& e = host_->home();
  if (place_ == HEADWAY_LTASK_PLACE_SUBMITTER) e.submit_here(*this);
  else e.submit_at(static_cast<topology::place_id>(place_), *this);
}

task_answer task::submit(task_host& host) noexcept {
  HEADWAY_DEBUG_ASSERT(alive());
  if (busy()) return task_answer::was_busy;
  // A late request for the last submission may still read `host_`: written only if it changes.
  if (host_ != &host) host_ = &host;
  ended_.reset();
  phase_.begin();
  begin_watch();
  enqueue();
  return task_answer::ok;
}

progress::ltask_result task::turn(progress::ltask& self) noexcept {
  auto& me = static_cast<task&>(self);
  const auto answer = me.body_(me.handle(), me.argument_);
  if (answer == HEADWAY_LTASK_SUSPEND) return me.suspend_itself();
  if (me.repeats_ && answer == HEADWAY_LTASK_IDLE) return me.idled();
  if (me.repeats_ && answer == HEADWAY_LTASK_ADVANCED) {
    me.begin_blind();
    me.idle_since_ns_ = 0;
    return progress::ltask_result::advanced;
  }
  me.end(HEADWAY_LTASK_FINISHED);
  return progress::ltask_result::done;
}

/// Hands the task to the host's thread, for its blocking form, once it has been idle for
/// `block_delay_ns_`.
progress::ltask_result task::idled() noexcept {
  begin_blind();
  if (!block_) return progress::ltask_result::idle;
  const auto now = host_->home().clock().now_ns();
  if (idle_since_ns_ == 0) idle_since_ns_ = now;
  if (now - idle_since_ns_ < block_delay_ns_ || !host_->reserve())
    return progress::ltask_result::idle;
  auto* host = host_;
  cease_pending();
  if (phase_.leave(task_phase::blocking, requests::end_asked | requests::return_asked)) {
    host->send(*this);
    return progress::ltask_result::done;
  }
  resume_pending();
  host->unreserve();
  return progress::ltask_result::idle;
}

/// After a run whose body has answered SUSPEND.
progress::ltask_result task::suspend_itself() noexcept {
  cease_pending();  // before another thread can resume or end it
  if (phase_.leave(task_phase::suspended, requests::resumed_early | requests::end_asked))
    return progress::ltask_result::done;
  phase_.clear_resumed_early();
  resume_pending();
  if (repeats_) return progress::ltask_result::idle;
  enqueue();  // the engine removes a one-shot from the queue for its run
  return progress::ltask_result::done;
}

/// The last step: afterwards the task may be gone.
void task::end(headway_ltask_outcome how) noexcept {
  end_watch();
  auto* const call = on_end_;
  void* const argument = argument_;
  outcome_.store(static_cast<std::uint8_t>(how), std::memory_order_relaxed);
  phase_.end();
  ended_.complete();
  if (call) call(argument);
}

/// The task is inactive: waits until a concurrent `end` has published its outcome.
task_answer task::not_submitted() const noexcept {
  for (base::backoff until_ended; busy();) until_ended.wait();
  return outcome() == HEADWAY_LTASK_UNUSED ? task_answer::was_not_busy : task_answer::ended;
}

void task::recall_from_thread() noexcept {
  while (phase_.get() == task_phase::blocking) {
    static_cast<void>(phase_.ask(requests::return_asked));
    const timespec pause{0, recall_pause_ns};
    nanosleep(&pause, nullptr);
  }
}

task_answer task::suspend() noexcept {
  for (base::backoff until_run;; until_run.wait()) {
    recall_from_thread();
    const base::lock_guard hold(control_);
    const auto now = phase_.get();
    if (now == task_phase::inactive) return not_submitted();
    if (now == task_phase::suspended) return task_answer::ok;
    // `cancel` is false if the task has just ended, suspended, begun to block, or is not yet
    // queued.
    if (now == task_phase::blocking || !host_->home().cancel(*this)) continue;
    cease_pending();
    phase_.put(task_phase::suspended);
    return task_answer::ok;
  }
}

/// Takes no lock: a task's body may call it while another thread, in `suspend`, waits for that body
/// under the lock.
task_answer task::resume() noexcept {
  switch (phase_.resume()) {
    case basic_task_phase<>::resumed::inactive:
      return not_submitted();
    case basic_task_phase<>::resumed::continues:
      return task_answer::ok;
    case basic_task_phase<>::resumed::to_be_queued:
      break;
  }
  resume_pending();
  enqueue();
  return task_answer::ok;
}

task_answer task::ask() noexcept {
  if (!phase_.ask(requests::end_asked)) return not_submitted();
  return resume();
}

task_answer task::cancel() noexcept {
  for (base::backoff until_run;; until_run.wait()) {
    recall_from_thread();
    const base::lock_guard hold(control_);
    const auto now = phase_.get();
    if (now == task_phase::inactive) return not_submitted();
    if (now == task_phase::suspended && phase_.claim_suspended()) {
      resume_pending();
      break;
    }
    if (now == task_phase::active && host_->home().cancel(*this)) break;
  }
  end(HEADWAY_LTASK_CANCELLED);
  return task_answer::ok;
}

headway_ltask_result task::block() noexcept {
  for (;;) {
    const auto answer = block_(handle(), argument_, block_limit_ns);
    if (answer != HEADWAY_LTASK_IDLE || phase_.asked(requests::end_asked | requests::return_asked))
      return answer;
  }
}

void task::end_block(headway_ltask_result answer) noexcept {
  if (answer == HEADWAY_LTASK_SUSPEND &&
      phase_.leave(task_phase::suspended, requests::resumed_early | requests::end_asked))
    return;
  resume_pending();
  if (answer == HEADWAY_LTASK_DONE) return end(HEADWAY_LTASK_FINISHED);
  phase_.come_back();
  enqueue();
}

}  // namespace headway::progress_api

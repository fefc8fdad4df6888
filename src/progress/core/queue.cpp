#include "progress/core/queue.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "progress/core/meter.hpp"
#include "progress/core/misuse.hpp"

namespace headway::progress {

// Not analysed: no other thread uses it any more.
task_queue::~task_queue() HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
  absorb();
  while (auto* task = pop_listed())
    task->state_.store(ltask::state::idle, std::memory_order_relaxed);  // carries no data now
}

void task_queue::submit(ltask& task) noexcept {
  // A load and two stores, because no other thread has it. (H): a thread that reads this queue from
  // it (`engine::cancel`) also sees that it is queued; the queue's own edges publish the rest.
  if (task.state_.load(std::memory_order_relaxed) == ltask::state::queued)
    misuse("ltask '{}' is submitted, but it is submitted already", task.name());
  task.state_.store(ltask::state::queued, std::memory_order_relaxed);
  task.home_.store(this, std::memory_order_release);  // (H)
  if (meter::on()) [[unlikely]]
    task.submitted_ns_ = base::machine_now_ns();
  submissions_.push(task);
}

void task_queue::absorb() noexcept {
  std::uint32_t count = 0;
  taken_count_.taking();
  while (auto* task = submissions_.pop()) {
    list(*task, true);
    ++count;
  }
  taken_count_.took(count);
  set_count(main_count_.load(std::memory_order_relaxed) + count);
}

task_queue::outcome task_queue::visit_some(thread_record& me, round_kind kind) noexcept {
  // Relaxed: the claim only helps cancellers between rounds, the mask alone excludes.
  if (claims_.load(std::memory_order_relaxed) != 0 || !try_hold(me)) {
    skips_.fetch_add(1, std::memory_order_relaxed);  // a count, carries no data
    return {found::taken, 0};
  }
  const auto since_ns = me.measured ? base::machine_now_ns() : 0;
  bump(kind == round_kind::explicit_ ? explicit_rounds_ : background_rounds_);
  const auto result = run_all(me);
  if (result.what == found::advanced) bump(hits_);
  if (since_ns != 0) [[unlikely]]
    note_tenure(me, kind, since_ns);
  mask_.unlock();
  return result;
}

void task_queue::note_tenure(thread_record& me, round_kind kind, std::uint64_t since_ns) noexcept {
  const auto held_ns = base::machine_now_ns() - since_ns;
  bump(masked_ns_, held_ns);
  me.measured->under_mask(kind, held_ns);
}

/// First the ltasks that have run before, then those submitted until now, directly from their
/// queue, because most of these run once and are never listed. They include what the former have
/// submitted, so that a message and what follows from it need one round.
task_queue::outcome task_queue::run_all(thread_record& me) noexcept {
  const auto before = main_count_.load(std::memory_order_relaxed);
  tally sum;
  if (before != 0) run_listed(me, before, sum);
  if (submissions_.fresh()) {
    taken_count_.taking();
    submissions_.take();
  }
  while (auto* task = submissions_.next()) run_and_keep(me, *task, sum);
  if (sum.kept != before) set_count(sum.kept);
  if (taken_count_.any()) taken_count_.all_ran();
  bump(runs_, sum.runs);
  return {sum.advanced ? found::advanced : found::idle, sum.one_shots};
}

void task_queue::run_listed(thread_record& me, std::uint32_t count, tally& sum) noexcept {
  while (count-- > 0) {
    ltask* const task = pop_listed();
    HEADWAY_DEBUG_ASSERT(task);  // `main_count_` counts the list
    run_and_keep(me, *task, sum);
  }
}

/// Unlinked before it runs: when the body returns `done`, the ltask may be gone.
inline void task_queue::run_and_keep(thread_record& me, ltask& task, tally& sum) noexcept {
  ++sum.runs;
  const bool repeats = task.kind_ == ltask_kind::repeat;
  const auto said = run_one(me, task);
  sum.advanced |= said != ltask_result::idle || !repeats;
  if (repeats && said != ltask_result::done) {
    keep(task);
    ++sum.kept;
  } else {
    sum.one_shots += repeats ? 0 : 1;
  }
}

ltask_result task_queue::run_one(thread_record& me, ltask& task) noexcept {
  HEADWAY_DEBUG_ASSERT(me.running == nullptr);  // a body never polls
  HEADWAY_DEBUG_ASSERT(task.state_.load(std::memory_order_relaxed) == ltask::state::queued);
  task.state_.store(ltask::state::running, std::memory_order_relaxed);  // under the mask
  me.running = &task;
  const auto said = me.measured ? run_measured(me, task) : task.run_(task);
  me.running = nullptr;
  return said;
}

ltask_result task_queue::run_measured(thread_record& me, ltask& task) noexcept {
  const auto began_ns = base::machine_now_ns();
  const bool repeats = task.kind_ == ltask_kind::repeat;
  // 0: it ran before, or was submitted before threads were metered.
  if (const auto since_ns = std::exchange(task.submitted_ns_, 0); since_ns != 0) {
    const auto waited_ns = began_ns - since_ns;
    if (waited_ns > longest_wait_ns_.load(std::memory_order_relaxed))
      longest_wait_ns_.store(waited_ns, std::memory_order_relaxed);
    me.measured->ran_after(waited_ns);
  }
  std::array<char, 32> name{};  // the ltask and its name may be gone after its run
  if (me.measured->has_timeline()) std::strncpy(name.data(), task.name_, name.size() - 1);
  const auto said = task.run_(task);
  if (said != ltask_result::idle || !repeats)
    me.measured->note(happening::sort::stretch, name.data(), began_ns, base::machine_now_ns());
  return said;
}

void task_queue::keep(ltask& task) noexcept {
  // Only the body itself, or a thread that learnt from it that it is done, may have submitted it
  // meanwhile.
  if (task.state_.load(std::memory_order_relaxed) != ltask::state::running)
    misuse("ltask '{}' was submitted while it ran, but it is not done", task.name());
  task.state_.store(ltask::state::queued, std::memory_order_relaxed);
  list(task, false);
}

void task_queue::list(ltask& task, bool taken_count) noexcept {
  task.taken_count_ = taken_count;
  task.listed_.store(this, std::memory_order_relaxed);
  main_.push_back(task);
}

ltask* task_queue::pop_listed() noexcept {
  auto* const task = main_.pop_front();
  if (task) task->listed_.store(nullptr, std::memory_order_relaxed);
  return task;
}

bool task_queue::take_back(thread_record& me, ltask& task) noexcept {
  claims_.fetch_add(1, std::memory_order_relaxed);
  const bool taken = search(me, task);
  claims_.fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

bool task_queue::search(thread_record& me, ltask& task) noexcept {
  for (base::backoff until_here;; until_here.wait()) {
    if (try_hold(me)) {
      absorb();
      // Under the mask no body of this queue runs, so `running` means that it was the last run. But
      // the ltask may have moved to another queue and belong to it: nothing in it is changed.
      const bool here = task.home_.load(std::memory_order_relaxed) == this;
      const bool queued = task.state_.load(std::memory_order_relaxed) == ltask::state::queued;
      // Its links belong to the queue that has listed it. Relaxed: only a holder of this mask
      // writes `this` and clears it again; other queues write other values.
      const bool found_it = task.listed_.load(std::memory_order_relaxed) == this;
      if (found_it) {
        HEADWAY_DEBUG_ASSERT(main_count_.load(std::memory_order_relaxed) > 0);
        HEADWAY_DEBUG_ASSERT(!task.taken_count_ || taken_count_.any());
        main_.erase(task);
        task.listed_.store(nullptr, std::memory_order_relaxed);
        if (task.taken_count_) taken_count_.withdrawn();
        set_count(main_count_.load(std::memory_order_relaxed) - 1);
        // it belongs to the caller now
        task.state_.store(ltask::state::idle, std::memory_order_relaxed);
      }
      mask_.unlock();
      if (found_it || !here || !queued) return found_it;
    }  // otherwise it is queued, but its submitter is between its two steps: look again
  }
}

task_queue::counters task_queue::count() const noexcept {
  return {.explicit_rounds = explicit_rounds_.load(std::memory_order_relaxed),
          .background_rounds = background_rounds_.load(std::memory_order_relaxed),
          .hits = hits_.load(std::memory_order_relaxed),
          .runs = runs_.load(std::memory_order_relaxed),
          .skips = skips_.load(std::memory_order_relaxed),
          .masked_ns = masked_ns_.load(std::memory_order_relaxed),
          .longest_wait_ns = longest_wait_ns_.load(std::memory_order_relaxed)};
}

}  // namespace headway::progress

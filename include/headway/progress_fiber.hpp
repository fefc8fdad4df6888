// Ready-made hooks of headway/progress.h for Boost.Fiber: a scheduler that polls ltasks while no
// fiber is ready, and otherwise once a round, and that runs other fibers while one waits.
//
//   boost::fibers::use_scheduling_algorithm<headway::fiber_scheduler>();  // once, in each thread
//
// Ltasks may use condition variables, mutexes and promises of Boost.Fiber, if that does not wait.
// Header only; a program that includes it links Boost.Fiber. Fibers stay on the thread that made
// them.
#pragma once

#include <boost/fiber/algo/round_robin.hpp>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/fss.hpp>
#include <boost/fiber/mutex.hpp>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "headway/progress.h"

namespace headway {

class fiber_scheduler final : public boost::fibers::algo::round_robin {
  using base = boost::fibers::algo::round_robin;
  using clock = std::chrono::steady_clock;

 public:
  fiber_scheduler() {
    of_thread() = this;
    headway_progress_set_scheduler(&hooks());
  }
  ~fiber_scheduler() override {
    headway_progress_set_scheduler(nullptr);
    of_thread() = nullptr;
  }

  /// Boost.Fiber calls this at every switch. Polls only in the dispatcher's turn, one per round
  /// over the ready fibers: a fiber that suspends itself may hold a lock of Boost.Fiber's that an
  /// ltask needs.
  boost::fibers::context* pick_next() noexcept override {
    if (boost::fibers::context::active()->is_context(boost::fibers::type::dispatcher_context)) {
      headway_progress_on_switch();
      wake_parked();
    }
    return base::pick_next();
  }

  /// No fiber is ready: the idle polling point.
  void suspend_until(clock::time_point const& until) noexcept override {
    for (int round = 1; !notified_.exchange(false, std::memory_order_acquire); ++round) {  // (N)
      const bool pending = headway_progress_on_idle() != 0;
      wake_parked();
      if (base::has_ready_fibers()) return;
      const auto now = clock::now();
      if (now >= until) return;
      if (!pending) return base::suspend_until(until);
      if (round < spins_max) continue;
      base::suspend_until(std::min(until, now + nap));  // others may want this processor
    }
  }

  /// From any thread: a fiber became ready, or is in the list of those to be woken.
  void notify() noexcept override {
    notified_.store(true, std::memory_order_release);  // (N)
    base::notify();
  }

 private:
  static constexpr int spins_max = 200;
  static constexpr std::chrono::microseconds nap{50};

  /// How a fiber waits. Its fiber owns it; the scheduler's list has it between the wake and the
  /// next switch. Only the scheduler's thread accesses `woken` and the members below it.
  struct parking {
    explicit parking(fiber_scheduler& s) noexcept : owner(&s) {}
    ~parking() {
      if (owner == of_thread() && owner) owner->wake_parked();  // it may still be in the list
    }
    fiber_scheduler* owner;
    std::atomic<bool> listed{false};
    parking* next = nullptr;
    bool woken = false;
    boost::fibers::mutex lock;
    boost::fibers::condition_variable changed;
  };

  static fiber_scheduler*& of_thread() noexcept {
    static thread_local fiber_scheduler* mine = nullptr;
    return mine;
  }
  static boost::fibers::fiber_specific_ptr<parking>& parkings() {
    static boost::fibers::fiber_specific_ptr<parking> all;
    return all;
  }

  static void* current() {
    auto* scheduler = of_thread();
    if (!scheduler) return nullptr;
    if (!parkings().get()) parkings().reset(new parking(*scheduler));
    return parkings().get();
  }
  static void block(void* thread, uint64_t limit_ns) {
    auto& me = *static_cast<parking*>(thread);
    std::unique_lock<boost::fibers::mutex> hold(me.lock);
    const auto is_woken = [&me] { return me.woken; };
    if (limit_ns == HEADWAY_PROGRESS_FOREVER) me.changed.wait(hold, is_woken);
    else me.changed.wait_for(hold, std::chrono::nanoseconds(limit_ns), is_woken);
    me.woken = false;
  }
  /// Any thread. Only puts it in the list: Boost's objects may be used by the scheduler's thread
  /// alone.
  static void wake(void* thread) {
    auto& it = *static_cast<parking*>(thread);
    if (it.listed.exchange(true, std::memory_order_acq_rel)) return;  // already in the list
    auto& list = it.owner->to_wake_;
    it.next = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(it.next, &it, std::memory_order_release,  // (W)
                                       std::memory_order_relaxed)) {
    }
    it.owner->notify();
  }
  void wake_parked() noexcept {
    if (!to_wake_.load(std::memory_order_relaxed)) return;
    auto* one = to_wake_.exchange(nullptr, std::memory_order_acquire);  // (W)
    while (one) {
      auto* next = one->next;
      one->listed.store(false, std::memory_order_release);
      one->woken = true;
      one->changed.notify_one();
      one = next;
    }
  }

  static const headway_progress_scheduler& hooks() noexcept {
    static const headway_progress_scheduler all{current, block, wake};
    return all;
  }

  std::atomic<parking*> to_wake_{nullptr};
  std::atomic<bool> notified_{false};
};

}  // namespace headway

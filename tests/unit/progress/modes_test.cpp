// Modes that are chosen at the start: locking, and the scheduling class of the event thread.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "mailbox.hpp"
#include "progress/background/polling_points.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress::testing::modes_tests {
namespace {

struct counted_task : ltask {
  counted_task() : ltask("counted", &run, ltask_kind::one_shot) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<counted_task&>(self);
    ++me.runs;  // plain: ordered by the completion of `ended`
    me.ended.complete();
    return ltask_result::done;
  }
  int runs = 0;
  completion ended;
};

TEST(locking, of_none_runs_everything_on_the_one_thread_there_is) {
  running e(polling::automatic, waiting_policy::adaptive, {}, 1, locking::none);
  for (const auto point : {polling_point::event, polling_point::timer, polling_point::idle}) {
    EXPECT_FALSE(e->points().is_on(point));
    e->points().turn(point, true);
    EXPECT_FALSE(e->points().is_on(point));
  }
  mailbox box(*e);
  for (int i = 0; i < 100; ++i) {
    counted_task task;
    e->submit(task);
    e->wait(task.ended);
    EXPECT_EQ(task.runs, 1);
    completion c;
    box.post(c);
    e->wait(c);
  }
  EXPECT_EQ(e->statistics().background_rounds, 0u);
}

TEST(locking, of_one_lock_serialises_calls_and_rounds) {
  running e(polling::automatic, waiting_policy::adaptive, {}, 1, locking::coarse);
  mailbox box(*e);
  int inside = 0;  // plain: the lock of the library keeps it whole
  std::vector<std::jthread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        e->enter();
        e->enter();  // a call may call in
        ++inside;
        EXPECT_EQ(inside, 1);
        --inside;
        e->leave();
        e->leave();
        counted_task task;
        e->submit(task);
        completion c;
        box.post(c);
        e->wait(task.ended);
        e->wait(c);
        EXPECT_EQ(task.runs, 1);
      }
    });
}

TEST(locking, of_one_lock_lets_ltasks_submit_and_be_cancelled) {
  struct parent : ltask {
    parent(engine& e, counted_task& c) : ltask("parent", &run), where(e), child(c) {}
    static ltask_result run(ltask& self) noexcept {
      auto& me = static_cast<parent&>(self);
      me.where.submit(me.child);
      return ltask_result::done;
    }
    engine& where;
    counted_task& child;
  };
  running e(polling::off, waiting_policy::adaptive, {}, 1, locking::coarse);
  counted_task child, never;
  parent task(*e, child);
  e->submit(task);
  e->wait(child.ended);
  e->submit(never);
  EXPECT_TRUE(e->cancel(never));
  EXPECT_EQ(never.runs, 0);
}

/// The thread id of this process's event thread; 0: it has none.
int event_thread_id() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    if (name == "hw-event") return std::stoi(entry.path().filename());
  }
  return 0;
}

/// The timer slack of the event thread; none where the kernel does not show it to this user.
std::optional<std::uint64_t> slack_ns_of_event_thread() {
  std::uint64_t slack = 0;
  std::ifstream from("/proc/" + std::to_string(event_thread_id()) + "/timerslack_ns");
  if (from >> slack) return slack;
  return std::nullopt;
}

/// The nice value of the event thread, less that of this thread, once it has looked for work.
int nice_of_event_thread(running& e) {
  e->pending_started();
  EXPECT_TRUE(eventually([&] { return e->statistics().event_looks > 0; }));
  e->pending_ended();
  return getpriority(PRIO_PROCESS, static_cast<id_t>(event_thread_id())) -
         getpriority(PRIO_PROCESS, 0);
}

TEST(event_thread, has_three_times_its_weight_where_permitted) {
  running e(settings{.points = polling::event});
  EXPECT_EQ(nice_of_event_thread(e), may_take_greatest_weight() ? -5 : 0);
}

TEST(event_thread, has_an_ordinary_weight_if_waiting_threads_are_to_have_their_own) {
  running e(settings{.points = polling::event, .greatest_weight = false});
  EXPECT_EQ(nice_of_event_thread(e), 0);
}

/// Always advances: in a real-time class it would take a whole processor.
struct restless_task : ltask {
  restless_task() : ltask("restless", &run) {}
  static ltask_result run(ltask&) noexcept { return ltask_result::advanced; }
};

TEST(event_thread, in_a_real_time_class_does_not_take_a_processor) {
  sched_param lowest{.sched_priority = 1};
  bool allowed = false;
  std::thread([&] { allowed = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0; }).join();
  if (!allowed) GTEST_SKIP() << "real-time classes are not permitted here";
  running e(settings{.points = polling::event, .event_thread = event_class::fifo});
  EXPECT_TRUE(eventually([] {
    const int thread = event_thread_id();
    return thread != 0 && sched_getscheduler(thread) == SCHED_FIFO;
  }));
  e->pending_started();
  restless_task task;
  e->submit(task);
  EXPECT_TRUE(eventually([&] { return e->statistics().demotions >= 2; }));
  static_cast<void>(e->cancel(task));
  e->pending_ended();
}

TEST(event_thread, among_more_ranks_than_processors_has_a_timer_slack_in_long_pauses) {
  const int ranks = topology::machine::read().value()->node_processors() + 1;
  running e(settings{.points = polling::event}, {}, ranks);
  EXPECT_TRUE(eventually([] { return event_thread_id() != 0; }));
  if (!slack_ns_of_event_thread())
    GTEST_SKIP() << "the kernel does not show the timer slack of a thread here";
  mailbox box(*e);
  e->pending_started();
  EXPECT_TRUE(eventually([&] {
    e->poll();  // so that the pauses grow
    return slack_ns_of_event_thread() == 4'000'000u;
  }));
  // No thread polls any more, and the pauses are short again.
  EXPECT_TRUE(eventually([] { return slack_ns_of_event_thread() == least_timer_slack_ns; }));
  e->pending_ended();
}

}  // namespace
}  // namespace headway::progress::testing::modes_tests

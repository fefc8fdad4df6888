#include "progress/core/meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "progress/completion/completion.hpp"
#include "progress/core/engine.hpp"
#include "progress/core/queue.hpp"
#include "progress/waiting/thread_record.hpp"
#include "tests/unit/progress/fixture.hpp"

namespace headway::progress {
namespace {

using testing::running;

constexpr std::size_t timeline_entries = 65'536;
constexpr auto calls = static_cast<std::size_t>(round_kind::explicit_);
constexpr auto ours = static_cast<std::size_t>(round_kind::background);

meter::report of_this_thread() {
  for (auto& r : meter::all())
    if (r.thread == gettid()) return r;
  return {};
}

struct counting : ltask {
  counting() : ltask("counting", &counting::run, ltask_kind::one_shot) {}
  static ltask_result run(ltask& self) noexcept {
    static_cast<counting&>(self).finished.complete();
    return ltask_result::done;
  }
  completion finished;
};

// This program's threads are metered, and have timelines, from here on; the tests' order matters
// to none of them.
struct meters : ::testing::Test {
  static void SetUpTestSuite() { meter::switch_on(timeline_entries); }
};

TEST_F(meters, count_rounds_and_hits_of_the_thread_that_made_them) {
  running engine(polling::off);
  const auto before = of_this_thread();
  counting task;
  engine->submit(task);
  engine->poll();
  engine->poll();
  const auto after = of_this_thread();
  EXPECT_EQ(after.rounds[calls].rounds - before.rounds[calls].rounds, 2u);
  EXPECT_EQ(after.rounds[calls].hits - before.rounds[calls].hits, 1u);
  EXPECT_EQ(after.rounds[ours].rounds, before.rounds[ours].rounds);
  EXPECT_GT(after.rounds[calls].busy_ns, before.rounds[calls].busy_ns);
}

TEST_F(meters, time_a_queue_under_its_mask_and_the_longest_way_of_an_ltask) {
  running engine(polling::off);
  counting task;
  engine->submit(task);
  testing::pass_time(5);
  engine->poll();
  const auto queues = engine->queues();
  ASSERT_FALSE(queues.empty());
  EXPECT_EQ(queues.front().place, "machine");
  EXPECT_GE(queues.front().longest_wait_ns, 5'000'000u);
  EXPECT_GT(queues.front().masked_ns, 0u);
  EXPECT_EQ(queues.front().hits, 1u);
  EXPECT_GE(of_this_thread().rounds[calls].longest_wait_ns, 5'000'000u);
  EXPECT_GT(of_this_thread().rounds[calls].masked_ns, 0u);
}

TEST_F(meters, time_waits_and_the_sleeps_within) {
  running engine(polling::off, waiting_policy::block);
  const auto before = of_this_thread();
  completion never;
  EXPECT_FALSE(engine->wait_until(never, base::machine_now_ns() + 20'000'000));
  const auto after = of_this_thread();
  EXPECT_EQ(after.waits - before.waits, 1u);
  EXPECT_GE(after.waited_ns - before.waited_ns, 20'000'000u);
  EXPECT_GT(after.sleeps, before.sleeps);
  EXPECT_GT(after.slept_ns, before.slept_ns);
}

TEST_F(meters, tell_background_rounds_from_calls) {
  running engine(polling::timer);
  engine->pending_started();
  struct forever : ltask {
    forever() : ltask("forever", [](ltask&) noexcept { return ltask_result::idle; }) {}
  } task;
  engine->submit(task);
  const auto background = [] {
    std::uint64_t sum = 0;
    for (const auto& r : meter::all()) sum += r.rounds[ours].rounds;
    return sum;
  };
  const auto before = background();
  EXPECT_TRUE(testing::eventually([&] { return background() > before; }));
  engine->cancel(task);
  engine->pending_ended();
}

TEST_F(meters, note_what_advanced_with_its_name_and_time) {
  running engine(polling::off);
  counting task;
  engine->submit(task);
  const auto began_ns = base::machine_now_ns();
  engine->poll();
  const auto ended_ns = base::machine_now_ns();
  const auto all = meter::timelines();
  const auto mine = std::ranges::find(all, gettid(), &meter::timeline::thread);
  ASSERT_NE(mine, all.end());
  const auto seen = std::ranges::count_if(mine->entries, [&](const happening& h) {
    return std::string(h.name.data()) == "counting" && h.begin_ns >= began_ns &&
           h.end_ns >= h.begin_ns && h.end_ns <= ended_ns;
  });
  EXPECT_EQ(seen, 1);
}

TEST_F(meters, drop_what_does_not_fit_and_count_it) {
  std::size_t kept = 0;
  std::uint64_t dropped = 0;
  std::thread([&] {
    auto* const mine = this_thread().measured;
    ASSERT_NE(mine, nullptr);
    const auto fit = timeline_entries;
    for (std::size_t i = 0; i < fit + 7; ++i) mine->note(happening::sort::stretch, "one", i, i + 1);
    for (const auto& t : meter::timelines()) {
      if (t.thread != gettid()) continue;
      kept = t.entries.size();
      dropped = t.dropped;
    }
    EXPECT_EQ(kept, fit);
  }).join();
  EXPECT_EQ(dropped, 7u);
}

TEST_F(meters, of_a_thread_that_has_ended_keep_their_numbers) {
  running engine(polling::off);
  pid_t ended = 0;
  std::thread([&] {
    ended = gettid();
    counting task;
    engine->submit(task);
    engine->poll();
  }).join();
  std::uint64_t hits = 0;
  for (const auto& r : meter::all())
    if (r.thread == ended) hits += r.rounds[calls].hits;
  EXPECT_EQ(hits, 1u);
}

TEST(stretches, of_a_thread_without_meter_do_nothing) {
  const stretch none(nullptr, "nothing", &meter::waits, &meter::waited_ns);
}

}  // namespace
}  // namespace headway::progress

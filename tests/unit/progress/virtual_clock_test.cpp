// Engines on separate virtual clocks, as a simulation of many processes in one thread needs.

#include <gtest/gtest.h>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "fixture.hpp"
#include "progress/completion/completion.hpp"

namespace headway::progress::testing::virtual_clock_tests {
namespace {

constexpr std::uint64_t start_ns = 1'000'000'000, period_ns = 100'000'000;

struct process {
  explicit process(const topology::machine& machine)
      : the(engine::start(machine, {.points = polling::off}, 1, base::clock(now)).value()) {
    the->add_tick(&process::count, this);
  }
  ~process() {
    the->remove_tick(&process::count, this);
    the.reset();
  }
  static void count(void* self) noexcept { ++static_cast<process*>(self)->ticks; }
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  base::atomic<std::uint64_t> now{start_ns};
  int ticks = 0;
  std::unique_ptr<engine> the;
};

TEST(virtual_clock, decides_when_the_ticks_of_its_engine_are_due) {
  const auto machine = topology::machine::read().value();
  process one(*machine), other(*machine);
  one.the->poll_everywhere();
  other.the->poll_everywhere();
  EXPECT_EQ(one.ticks, 1);
  one.the->poll_everywhere();
  EXPECT_EQ(one.ticks, 1);  // its time stands still
  one.now.store(start_ns + period_ns, std::memory_order_relaxed);
  one.the->poll_everywhere();
  other.the->poll_everywhere();
  EXPECT_EQ(one.ticks, 2);
  EXPECT_EQ(other.ticks, 1);
}

TEST(virtual_clock, lets_a_wait_end_whose_message_comes_in_its_first_round) {
  const auto machine = topology::machine::read().value();
  process one(*machine);
  struct finishing : ltask {
    finishing() : ltask("finishing", &run, ltask_kind::one_shot) {}
    static ltask_result run(ltask& self) noexcept {
      static_cast<finishing&>(self).finished.complete();
      return ltask_result::done;
    }
    completion finished;
  } task;
  one.the->submit(task);
  one.the->wait(task.finished);
  EXPECT_TRUE(task.finished.test());
}

TEST(virtual_clock, refuses_background_threads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto machine = topology::machine::read().value();
  const base::atomic<std::uint64_t> now{start_ns};
  EXPECT_DEATH(
      static_cast<void>(engine::start(*machine, {.points = polling::event}, 1, base::clock(now))),
      "is_virtual");
}

}  // namespace
}  // namespace headway::progress::testing::virtual_clock_tests

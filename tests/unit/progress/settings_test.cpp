// Settings are values: the environment is read by `from_environment` and nowhere else.

#include "progress/core/settings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "base/tunable.hpp"
#include "fixture.hpp"

namespace headway::progress::testing::settings_tests {
namespace {

/// In a child process, because the environment is read once.
[[noreturn]] void leave(bool good) { std::_Exit(good ? 0 : 1); }

bool without_variables_they_are_the_defaults() {
  for (const auto* one : base::tunable::all()) unsetenv(one->name());
  return settings::from_environment() == settings{};
}

bool with_variables_they_are_what_those_say() {
  for (const auto* one : base::tunable::all()) unsetenv(one->name());
  setenv("HEADWAY_PROGRESS", "timer", 1);
  setenv("HEADWAY_WAIT", "block", 1);
  setenv("HEADWAY_LOCKING", "coarse", 1);
  setenv("HEADWAY_EVENT_CLASS", "rr", 1);
  setenv("HEADWAY_IDLE_LEVEL", "package", 1);
  setenv("HEADWAY_IDLE_PLACES", "odd", 1);
  setenv("HEADWAY_SPIN_US", "7", 1);
  return settings::from_environment() == settings{.points = polling::timer,
                                                  .waits = waiting_policy::block,
                                                  .locks = locking::coarse,
                                                  .event_thread = event_class::rr,
                                                  .idle_level = topology::level::package,
                                                  .idle_places = placing::odd,
                                                  .spin_ns = 7'000};
}

TEST(settings_of_an_engine, without_variables_are_the_defaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave(without_variables_they_are_the_defaults()), ::testing::ExitedWithCode(0), "");
}

TEST(settings_of_an_engine, are_what_the_variables_say) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave(with_variables_they_are_what_those_say()), ::testing::ExitedWithCode(0), "");
}

TEST(settings_of_an_engine, differ_between_two_engines_of_a_process) {
  const running one(settings{.points = polling::off, .waits = waiting_policy::block});
  const running other(settings{.points = polling::off, .waits = waiting_policy::busy});
  EXPECT_EQ(one->chosen().waits, waiting_policy::block);
  EXPECT_EQ(other->chosen().waits, waiting_policy::busy);
}

}  // namespace
}  // namespace headway::progress::testing::settings_tests

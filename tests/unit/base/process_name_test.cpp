#include "base/process_name.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/no_descriptors.hpp"

namespace headway::base {
namespace {

pid_t child_that_waits() {
  const auto child = fork();
  if (child == 0)
    while (true) pause();
  return child;
}

process_name name_of(pid_t child) {
  auto name = process_name::own();
  name.pid = static_cast<std::uint32_t>(child);
  return name;
}

TEST(process_name, of_a_process_that_runs_has_not_ended) {
  EXPECT_FALSE(has_ended(process_name::own()));
}

TEST(process_name, of_a_process_that_was_killed_has_ended_before_and_after_its_parent_waits) {
  const auto child = child_that_waits();
  const auto name = name_of(child);
  EXPECT_FALSE(has_ended(name));
  kill(child, SIGKILL);
  for (int i = 0; i < 1000 && !has_ended(name); ++i) usleep(10'000);
  EXPECT_TRUE(has_ended(name));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_ended(name));
}

TEST(process_name, is_looked_up_without_a_descriptor) {
  const auto child = child_that_waits();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const headway::testing::no_descriptors now;
  EXPECT_FALSE(has_ended(process_name::own()));
  EXPECT_TRUE(has_ended(name_of(child)));
}

TEST(process_name, of_another_namespace_is_not_said_to_have_ended) {
  EXPECT_FALSE(has_ended({.pid_namespace = 1, .pid = 1}));
  EXPECT_FALSE(has_ended({.pid_namespace = 0, .pid = 1}));
}

}  // namespace
}  // namespace headway::base

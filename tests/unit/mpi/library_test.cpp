#include "mpi/environment/library.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace headway::mpi {
namespace {

// The library starts once in a process: each thread level in a process of its own.
void exit_with_whether_one_waits(int thread_level) {
  if (open_world(thread_level) != MPI_SUCCESS) std::_Exit(2);
  std::_Exit(engine().expects_one_waiter() ? 1 : 0);
}

TEST(library, expects_one_waiter_only_below_thread_multiple) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED})
    EXPECT_EXIT(exit_with_whether_one_waits(level), testing::ExitedWithCode(1), "") << level;
  EXPECT_EXIT(exit_with_whether_one_waits(MPI_THREAD_MULTIPLE), testing::ExitedWithCode(0), "");
}

TEST(library, expects_several_waiters_while_a_session_is_open) {
  ASSERT_EQ(open_world(MPI_THREAD_SERIALIZED), MPI_SUCCESS);
  EXPECT_TRUE(engine().expects_one_waiter());
  ASSERT_EQ(open_session(), MPI_SUCCESS);
  EXPECT_FALSE(engine().expects_one_waiter());
  ASSERT_EQ(open_session(), MPI_SUCCESS);
  ASSERT_EQ(close_session(), MPI_SUCCESS);
  EXPECT_FALSE(engine().expects_one_waiter());
  ASSERT_EQ(close_session(), MPI_SUCCESS);
  EXPECT_TRUE(engine().expects_one_waiter());
  EXPECT_EQ(close_world(), MPI_SUCCESS);
}

}  // namespace
}  // namespace headway::mpi

#include "endpoints/delivery/dispatcher.hpp"

#include <gtest/gtest.h>

namespace headway::endpoints {
namespace {

TEST(dispatcher, that_pauses_only_yields_while_most_threads_wait) {
  EXPECT_TRUE(most_wait(4, 4));
  EXPECT_TRUE(most_wait(2, 4));
  EXPECT_FALSE(most_wait(1, 4));
  EXPECT_FALSE(most_wait(0, 1));
  EXPECT_TRUE(most_wait(1, 1));
}

}  // namespace
}  // namespace headway::endpoints

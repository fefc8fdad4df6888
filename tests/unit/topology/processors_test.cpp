#include "topology/processors.hpp"

#include <gtest/gtest.h>

namespace headway::topology {
namespace {

TEST(processors, reads_the_quota_of_a_control_group) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max(""), std::nullopt);
  EXPECT_EQ(parse_cpu_max("7"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("-1 100000"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("100000 0"), std::nullopt);
}

TEST(processors, reads_how_many_threads_run) {
  EXPECT_EQ(parse_runnable("0.00 0.02 0.00 3/101 7132\n"), 3);
  EXPECT_EQ(parse_runnable("0.00 0.02"), std::nullopt);
  EXPECT_EQ(parse_runnable("0.00 0.02 0.00 many"), std::nullopt);
  EXPECT_EQ(parse_runnable(""), std::nullopt);
}

TEST(processors, are_at_least_one) { EXPECT_GE(allowed_processors(), 1); }

}  // namespace
}  // namespace headway::topology

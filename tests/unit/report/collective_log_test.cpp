#include "report/collective_log.hpp"

#include <gtest/gtest.h>

namespace headway::report {
namespace {

void call(collective_log& log, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i)
    log.note({.number = log.next(), .entered_ns = i, .left_ns = i});
}

TEST(collective_log, keeps_every_call_until_it_is_full) {
  collective_log log;
  call(log, collective_log::entries_max);
  EXPECT_EQ(log.entries().size(), collective_log::entries_max);
  EXPECT_EQ(log.stride(), 1u);
}

TEST(collective_log, that_is_full_keeps_calls_evenly_and_never_grows) {
  collective_log log;
  call(log, 100 * collective_log::entries_max + 17);
  EXPECT_EQ(log.calls(), 100 * collective_log::entries_max + 17);
  EXPECT_EQ(log.stride(), 128u);
  EXPECT_LE(log.entries().size(), collective_log::entries_max);
  ASSERT_EQ(log.entries().size(), log.calls() / 128 + 1);
  for (std::size_t i = 0; i < log.entries().size(); ++i)
    EXPECT_EQ(log.entries()[i].number, i * 128);
}

}  // namespace
}  // namespace headway::report

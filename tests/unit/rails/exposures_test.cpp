#include "rails/exposures.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headway::rails::exposures_tests {
namespace {

constexpr std::size_t mib = 1024 * 1024;

struct exposures_test : ::testing::Test {
  std::uint64_t add(std::size_t bytes, access rights, std::size_t from = 0) {
    const auto id = all.add({.bytes = std::span(memory).subspan(from, bytes), .rights = rights});
    EXPECT_TRUE(id);
    return id.value_or(exposures::never);
  }
  std::vector<std::byte> memory{32 * mib};
  exposures all;
};

TEST_F(exposures_test, of_messages_count_as_awaited_until_they_are_removed) {
  const auto half = add(16 * mib, access::put | access::notified);
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
  const auto other = add(16 * mib, access::put | access::notified, 16 * mib);
  EXPECT_TRUE(all.awaits_more_than_caches_hold());
  EXPECT_EQ(all.remove(half), 0u);
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
  EXPECT_EQ(all.remove(half), 0u);  // unknown by now
  EXPECT_EQ(all.remove(other), 0u);
  EXPECT_EQ(all.remove(add(32 * mib, access::put | access::notified)), 0u);
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
}

TEST_F(exposures_test, of_one_buffer_count_as_awaited_once) {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(add(16 * mib, access::put | access::notified));
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
  const auto other = add(16 * mib, access::put | access::notified, 16 * mib);
  EXPECT_TRUE(all.awaits_more_than_caches_hold());
  // Each removes what it has added, in any order.
  for (const auto id : ids) EXPECT_EQ(all.remove(id), 0u);
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
  EXPECT_EQ(all.remove(other), 0u);
  EXPECT_EQ(all.remove(add(16 * mib, access::put | access::notified)), 0u);
  static_cast<void>(add(16 * mib, access::put | access::notified, 16 * mib));
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
  static_cast<void>(add(16 * mib, access::put | access::notified));
  EXPECT_TRUE(all.awaits_more_than_caches_hold());
}

TEST_F(exposures_test, of_one_buffer_one_after_the_other_count_each_time) {
  for (int i = 0; i < 3; ++i) {
    const auto id = add(32 * mib, access::put | access::notified);
    EXPECT_TRUE(all.awaits_more_than_caches_hold());
    EXPECT_EQ(all.remove(id), 0u);
  }
}

TEST_F(exposures_test, of_windows_are_not_awaited) {
  static_cast<void>(add(32 * mib, access::put | access::get));
  EXPECT_FALSE(all.awaits_more_than_caches_hold());
}

}  // namespace
}  // namespace headway::rails::exposures_tests

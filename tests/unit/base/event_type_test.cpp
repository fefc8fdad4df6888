#include "base/event_type.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headway::base {
namespace {

std::vector<std::uint64_t> seen;

TEST(event_type, calls_its_observer_with_the_values_and_nothing_without_one) {
  event_type type("test.happened", {"first", "second"}, "to be tested");
  ASSERT_EQ(type.elements().size(), 2u);
  EXPECT_STREQ(type.elements()[1], "second");
  EXPECT_FALSE(type.observed());
  type.raise({1, 2});
  EXPECT_TRUE(seen.empty());
  type.observe([](const event_type& what, const event_type::values& with) noexcept {
    if (std::string_view(what.name()) == "test.happened") seen = {with[0], with[1]};
  });
  EXPECT_TRUE(type.observed());
  type.raise({3, 4});
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{3, 4}));
  type.observe(nullptr);
  type.raise({5, 6});
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{3, 4}));
}

TEST(event_type, lists_all_types_by_name) {
  static event_type last("test.z", {}, "to be tested"), first("test.a", {}, "to be tested");
  const auto all = event_type::all();
  EXPECT_LT(std::ranges::find(all, &first), std::ranges::find(all, &last));
}

}  // namespace
}  // namespace headway::base

#include "base/copy_between_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace headway::base {
namespace {

using copy = void (*)(std::byte* to, const std::byte* from, std::size_t size);

class copying : public ::testing::TestWithParam<copy> {};

TEST_P(copying, copies_every_byte_and_no_other_at_any_size_and_place) {
  std::mt19937 random(1);
  constexpr std::size_t around = 64;
  const std::byte untouched{0xee};
  std::vector<std::byte> from(300'000 + 2 * around), to(from.size());
  for (auto& b : from) b = static_cast<std::byte>(random());
  std::vector<std::size_t> sizes{0,    1,    63,   64,     65,      2047,
                                 2048, 2049, 4096, 65'536, 262'144, 262'145};
  for (int i = 0; i < 50; ++i) sizes.push_back(262'145 + random() % 30'000);
  for (int i = 0; i < 200; ++i) sizes.push_back(2000 + random() % 6000);
  for (const auto size : sizes) {
    const auto of = random() % around, at = random() % around;
    std::fill(to.begin(), to.end(), untouched);
    GetParam()(to.data() + at, from.data() + of, size);
    const auto end = to.begin() + static_cast<std::ptrdiff_t>(at + size);
    ASSERT_TRUE(std::equal(to.begin() + static_cast<std::ptrdiff_t>(at), end,
                           from.begin() + static_cast<std::ptrdiff_t>(of)))
        << size;
    ASSERT_EQ(std::count(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at), untouched),
              static_cast<std::ptrdiff_t>(at));
    ASSERT_EQ(std::count(end, to.end(), untouched), to.end() - end) << size;
  }
}

TEST(copying, knows_which_places_stall_the_string_instruction) {
  alignas(4096) static std::byte pages[3 * 4096];
  const auto stalls = [](std::size_t to, std::size_t from) {
    return stalls_strings(pages + to, pages + from);
  };
  EXPECT_TRUE(stalls(4096 + 1, 0));
  EXPECT_TRUE(stalls(8192 + 16, 0));
  EXPECT_TRUE(stalls(0 + 47, 4096 + 16));
  EXPECT_TRUE(stalls(15, 4096 + 4095)) << "across the beginning of a page";
  EXPECT_FALSE(stalls(4096, 0));
  EXPECT_FALSE(stalls(4096 + 32, 0));
  EXPECT_FALSE(stalls(0, 4096 + 16));
}

INSTANTIATE_TEST_SUITE_P(between_cores, copying,
                         ::testing::Values(&copy_between_cores, &copy_from_writer,
                                           &copy_past_caches));

}  // namespace
}  // namespace headway::base

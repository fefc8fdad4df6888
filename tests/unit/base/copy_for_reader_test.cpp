#include "base/copy_for_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace headway::base {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t quick_ns = 100, slow_ns = 2000;  // of a page

constexpr auto compares = copy_for_reader::slow_copies::compare;

/// A slow copy, and if it is to be compared, a quick one by a stream.
void learn_slow(copy_for_reader& c) {
  c.learn(page_bytes, slow_ns);
  if (!c.compares_next()) return;
  c.learn_streamed(page_bytes, slow_ns / 4);
  EXPECT_FALSE(c.compares_next());
}

TEST(copy_for_reader, streams_after_two_slow_copies_in_a_row) {
  copy_for_reader c;
  EXPECT_FALSE(c.streams());
  learn_slow(c);
  EXPECT_FALSE(c.streams());
  learn_slow(c);
  EXPECT_TRUE(c.streams());
  learn_slow(c);
  EXPECT_TRUE(c.streams());
}

TEST(copy_for_reader, does_not_stream_where_a_stream_is_as_slow) {
  copy_for_reader c(compares);
  for (int i = 0; i < 10; ++i) {
    c.learn(page_bytes, slow_ns);
    EXPECT_TRUE(c.times_next());
    EXPECT_TRUE(c.compares_next());
    c.learn_streamed(16 * page_bytes, 16 * slow_ns * 9 / 10);
    EXPECT_FALSE(c.streams());
  }
  for (int i = 0; i < 2; ++i) learn_slow(c);
  EXPECT_TRUE(c.streams());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(c.streams());
    c.learn(page_bytes, slow_ns);
    c.learn_streamed(page_bytes, slow_ns);
  }
  EXPECT_FALSE(c.streams());
}

TEST(copy_for_reader, compares_only_copies_of_which_the_end_is_not_awaited) {
  copy_for_reader c(compares);
  c.learn(2048, slow_ns);
  EXPECT_FALSE(c.compares_next());
  c.learn(2048, slow_ns);
  EXPECT_TRUE(c.streams());
  // A shorter copy behind a slow one is timed as usual, and ends the comparison.
  c.learn(page_bytes, slow_ns);
  c.learn(2048, quick_ns);
  EXPECT_FALSE(c.compares_next());
}

TEST(copy_for_reader, does_not_stream_after_single_slow_copies) {
  copy_for_reader c;
  for (int i = 0; i < 10; ++i) {
    learn_slow(c);
    c.learn(page_bytes, quick_ns);
    EXPECT_FALSE(c.streams());
  }
}

TEST(copy_for_reader, goes_back_to_the_caches_after_two_quick_copies_in_a_row) {
  copy_for_reader c;
  learn_slow(c);
  learn_slow(c);
  for (int i = 0; i < 10; ++i) {
    c.learn(page_bytes, quick_ns);
    EXPECT_TRUE(c.streams());
    learn_slow(c);
    EXPECT_TRUE(c.streams());
  }
  c.learn(page_bytes, quick_ns);
  c.learn(page_bytes, quick_ns);
  EXPECT_FALSE(c.streams());
}

TEST(copy_for_reader, judges_by_the_time_of_a_line) {
  copy_for_reader c;
  for (int i = 0; i < 2; ++i) c.learn(16 * page_bytes, slow_ns);  // 2 ns a line
  EXPECT_FALSE(c.streams());
  for (int i = 0; i < 2; ++i) c.learn(2048, slow_ns);  // 62 ns a line
  EXPECT_TRUE(c.streams());
}

/// Copies of every kind of beginning and end, in a state that streams and in one that does not.
TEST(copy_for_reader, copies_every_byte_and_no_other_at_any_size_and_place) {
  std::mt19937 random(1);
  constexpr std::size_t around = 128, most = 70'000;
  const std::byte untouched{0xee};
  std::vector<std::byte> from(most + 2 * around), to(from.size());
  for (auto& b : from) b = static_cast<std::byte>(random());
  int streamed = 0;
  for (int i = 0; i < 2000; ++i) {
    copy_for_reader c(i % 2 == 0 ? compares : copy_for_reader::slow_copies::stream);
    for (int slow = 0; slow < i % 3; ++slow) learn_slow(c);
    if (i % 7 == 0) c.learn(page_bytes, slow_ns);  // the next one is compared
    streamed += c.streams();
    const auto size = i % 5 == 0 ? random() % most : random() % 3000;
    const auto of = random() % around, at = random() % around;
    std::ranges::fill(to, untouched);
    c.copy(to.data() + at, from.data() + of, size);
    const auto begin = to.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    ASSERT_TRUE(std::equal(begin, end, from.begin() + static_cast<std::ptrdiff_t>(of))) << size;
    ASSERT_EQ(std::count(to.begin(), begin, untouched), begin - to.begin());
    ASSERT_EQ(std::count(end, to.end(), untouched), to.end() - end) << size;
  }
  EXPECT_GT(streamed, 100);
}

}  // namespace
}  // namespace headway::base

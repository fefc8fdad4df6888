#include "packets/bundle/reorder_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace headway::packets::reorder_window_tests {
namespace {

using answer = reorder_window::answer;

std::vector<std::byte> frame_of(std::uint32_t number) {
  return std::vector<std::byte>(1 + number % 50, static_cast<std::byte>(number));
}

TEST(reorder_window, gives_every_frame_once_and_in_order_whatever_the_order_of_arrival) {
  constexpr std::uint32_t frames = 5000;
  auto w = std::make_unique<reorder_window>();
  std::mt19937 random(1);
  std::vector<std::uint32_t> given;
  while (given.size() < frames) {
    // Any of those that the sender may have sent by now, again and again.
    const auto low = static_cast<std::uint32_t>(given.size() > 20 ? given.size() - 20 : 0);
    const auto high = std::min<std::uint32_t>(frames, low + reorder_window::frame_count);
    const auto number = low + static_cast<std::uint32_t>(random() % (high - low));
    const auto bytes = frame_of(number);
    const auto said = w->arrived(number, static_cast<std::uint16_t>(number), bytes);
    if (number < given.size()) {
      ASSERT_EQ(said, answer::duplicate);
    }
    if (said != answer::now) continue;
    given.push_back(number);
    w->taken();
    while (const auto* kept = w->next()) {
      const auto due = static_cast<std::uint32_t>(given.size());
      ASSERT_EQ(kept->bytes, frame_of(due));
      ASSERT_EQ(kept->packets, static_cast<std::uint16_t>(due));
      given.push_back(due);
      w->taken();
    }
  }
  for (std::uint32_t i = 0; i < frames; ++i) ASSERT_EQ(given[i], i);
}

TEST(reorder_window, refuses_numbers_that_may_not_be_sent_yet) {
  auto w = std::make_unique<reorder_window>();
  EXPECT_EQ(w->arrived(reorder_window::frame_count, 1, {}), answer::nonsense);
  EXPECT_EQ(w->arrived(reorder_window::frame_count - 1, 1, {}), answer::early);
  EXPECT_EQ(w->arrived(reorder_window::frame_count - 1, 1, {}), answer::duplicate);
}

}  // namespace
}  // namespace headway::packets::reorder_window_tests

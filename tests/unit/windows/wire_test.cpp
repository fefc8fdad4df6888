#include "windows/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

namespace headway::windows {
namespace {

using datatypes::number;

/// A message as `channel` writes it.
class message {
 public:
  message& add(request_head head, const std::vector<element_run>& runs, std::size_t payload) {
    head.runs = static_cast<std::uint32_t>(runs.size());
    head.payload_bytes = static_cast<std::uint32_t>(payload);
    append(&head, sizeof head);
    append(runs.data(), runs.size() * sizeof(element_run));
    bytes_.resize(bytes_.size() + padded(payload), std::byte{7});
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> all() const { return bytes_; }

 private:
  void append(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes_;
};

TEST(window_requests, are_taken_out_of_a_message_one_after_the_other) {
  message sent;
  sent.add({.what = action::put}, {{.offset = 8, .count = 5}, {.offset = 64, .count = 4}}, 9)
      .add({.what = action::flush, .tag = 77}, {}, 0);
  auto rest = sent.all();
  const auto put = take_request(rest);
  ASSERT_TRUE(put);
  EXPECT_EQ(put->head.what, action::put);
  ASSERT_EQ(put->runs.size(), 2u);
  EXPECT_EQ(put->runs[1].offset, 64);
  EXPECT_EQ(put->payload.size(), 9u);
  EXPECT_EQ(elements_of(*put), 9);
  const auto flush = take_request(rest);
  ASSERT_TRUE(flush);
  EXPECT_EQ(flush->head.tag, 77);
  EXPECT_TRUE(rest.empty());
}

TEST(window_requests, that_are_cut_short_are_refused) {
  message sent;
  sent.add({.what = action::put}, {{.offset = 0, .count = 20}}, 20);
  for (std::size_t bytes = 0; bytes < sent.all().size(); ++bytes) {
    auto rest = sent.all().first(bytes);
    EXPECT_FALSE(take_request(rest)) << bytes;
  }
}

std::optional<std::int64_t> elements(const request_head& head, const std::vector<element_run>& runs,
                                     std::size_t payload) {
  message sent;
  sent.add(head, runs, payload);
  auto rest = sent.all();
  const auto taken = take_request(rest);
  return taken ? elements_of(*taken) : std::nullopt;
}

TEST(window_requests, whose_lengths_contradict_each_other_are_refused) {
  const request_head sum{
      .what = action::accumulate, .op = collectives::operation::sum, .kind = number::int32};
  EXPECT_EQ(elements(sum, {{0, 3}}, 12), 3);
  EXPECT_FALSE(elements(sum, {{0, 3}}, 11));
  EXPECT_FALSE(elements(sum, {{0, -3}}, 12));
  EXPECT_FALSE(elements(sum, {{0, INT64_MAX}, {0, INT64_MAX}}, 12));
  request_head swap{.what = action::compare_and_swap, .kind = number::int64};
  EXPECT_EQ(elements(swap, {{0, 1}}, 16), 1);
  EXPECT_FALSE(elements(swap, {{0, 2}}, 32));
  EXPECT_FALSE(elements(swap, {{0, 1}}, 8));
  request_head fetch{
      .what = action::fetch, .op = collectives::operation::no_op, .kind = number::int64};
  EXPECT_EQ(elements(fetch, {{0, 4}}, 0), 4) << "nothing is needed to change nothing";
  fetch.op = collectives::operation::sum;
  EXPECT_FALSE(elements(fetch, {{0, 4}}, 0));
  swap.kind = static_cast<number>(200);
  EXPECT_FALSE(elements(swap, {{0, 1}}, 16));
  EXPECT_FALSE(elements({.what = static_cast<action>(99)}, {}, 0));
  EXPECT_FALSE(elements({.what = action::put_message}, {{0, 1}, {8, 1}}, 0));
}

TEST(window_requests, for_elements_that_their_action_does_not_have_are_refused) {
  constexpr auto pair = number::double_int;
  EXPECT_EQ(elements({.what = action::put}, {{0, 16}}, 16), 16);
  EXPECT_FALSE(elements({.what = action::put, .kind = pair}, {{0, 1}}, 16));
  EXPECT_FALSE(elements({.what = action::put_message, .kind = pair}, {{0, 1}}, 0));
  EXPECT_FALSE(elements({.what = action::get, .kind = pair}, {{0, 1}}, 0));
  EXPECT_FALSE(elements({.what = action::compare_and_swap, .kind = pair}, {{0, 1}}, 32));
}

}  // namespace
}  // namespace headway::windows

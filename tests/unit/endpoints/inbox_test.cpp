#include "endpoints/delivery/inbox.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wthread-safety-analysis"  // see box_test
#endif

namespace headway::endpoints::inbox_tests {
namespace {

constexpr address here{0, 1}, there{1, 1};

/// An inbox, and messages for it. One thread plays all parts, so the locks are left alone.
struct box_test : ::testing::Test {
  inbox box;
  std::deque<block> blocks;

  box_test() { box.open(1); }
  parcel& message(std::int32_t tag, address from = here, bool ready = true) {
    parcel& p = blocks.emplace_back().waits;
    p.contents = &blocks.back();
    p.tag = tag;
    p.from = from;
    p.ready = ready;
    return p;
  }
  void put(std::int32_t tag, address from = here) {
    woken then;
    EXPECT_TRUE(box.put(message(tag, from), then));
  }
  /// As a receiver does: aside first.
  std::int32_t take(const filter& wanted = {}) {
    parcel* p = box.take_aside(wanted);
    if (!p) p = box.take(wanted);
    return p ? p->tag : -1;
  }
};

TEST_F(box_test, gives_messages_in_the_order_of_their_arrival) {
  for (int i = 1; i <= 3; ++i) put(i);
  EXPECT_EQ(take(), 1);
  for (int i = 4; i <= 6; ++i) put(i);
  for (int i = 2; i <= 6; ++i) EXPECT_EQ(take(), i);
  EXPECT_EQ(take(), -1);
}

TEST_F(box_test, messages_moved_aside_are_taken_without_a_look_at_later_ones) {
  for (int i = 1; i <= 3; ++i) put(i);
  EXPECT_EQ(box.take_aside({}), nullptr);
  EXPECT_EQ(take(), 1);
  put(4);
  EXPECT_EQ(box.take_aside({})->tag, 2);
  EXPECT_EQ(box.take_aside({})->tag, 3);
  EXPECT_EQ(box.take_aside({}), nullptr);
  EXPECT_EQ(take(), 4);
}

TEST_F(box_test, finds_the_oldest_with_a_tag_or_a_sender_aside_or_not) {
  put(7);
  put(8, there);
  put(7, there);
  EXPECT_EQ(take({.from = {}, .tag = 8}), 8);  // the others are set aside now
  put(8);
  put(9);
  EXPECT_EQ(take({.from = there, .tag = any_tag}), 7);
  EXPECT_EQ(take({.from = {}, .tag = 9}), 9);
  EXPECT_EQ(take({.from = {}, .tag = 9}), -1);
  EXPECT_EQ(take(), 7);
  EXPECT_EQ(take(), 8);
}

TEST_F(box_test, gives_a_message_to_the_receiver_that_waits_for_it) {
  put(1);
  put(2);
  EXPECT_EQ(take(), 1);
  waiting_thread me;
  me.wanted.tag = 3;
  box.add_receiver(me);
  {
    woken then;
    EXPECT_TRUE(box.put(message(4), then));
    EXPECT_FALSE(box.put(message(3), then));
  }
  ASSERT_NE(me.received, nullptr);
  EXPECT_EQ(me.received->tag, 3);
  EXPECT_EQ(take(), 2);
  EXPECT_EQ(take(), 4);
}

TEST_F(box_test, nothing_overtakes_a_message_whose_bytes_are_under_way) {
  put(1);
  put(2);
  EXPECT_EQ(take(), 1);
  parcel& large = message(3, there, false);
  {
    woken then;
    EXPECT_TRUE(box.put(large, then));
    EXPECT_TRUE(box.put(message(4, there), then));
  }
  EXPECT_EQ(take({.from = there, .tag = any_tag}), -1);
  EXPECT_EQ(take(), 2);
  EXPECT_EQ(take(), -1);
  {
    woken then;
    box.now_ready(large, then);
  }
  EXPECT_EQ(take(), 3);
  EXPECT_EQ(take(), 4);
}

TEST_F(box_test, a_withdrawn_message_holds_later_ones_back_no_more) {
  parcel& large = message(1, there, false);
  {
    woken then;
    EXPECT_TRUE(box.put(large, then));
  }
  put(2);
  EXPECT_EQ(take(), -1);
  box.withdraw(large);
  EXPECT_EQ(take(), 2);
}

TEST_F(box_test, its_descriptor_is_readable_while_a_message_waits_aside_or_not) {
  put(1);
  put(2);
  EXPECT_EQ(take(), 1);
  box.open_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int descriptor = box.descriptor();
  const auto readable = [&] {
    std::uint64_t count = 0;
    const bool yes = read(descriptor, &count, sizeof count) == sizeof count;
    if (yes) {
      EXPECT_EQ(write(descriptor, &count, sizeof count), static_cast<ssize_t>(sizeof count));
    }
    return yes;
  };
  EXPECT_TRUE(readable());
  put(3);
  EXPECT_EQ(take(), 2);
  EXPECT_TRUE(readable());
  EXPECT_EQ(take(), 3);
  EXPECT_FALSE(readable());
  put(4);
  EXPECT_TRUE(readable());
  EXPECT_EQ(box.take_descriptor(), descriptor);
  close(descriptor);
  EXPECT_EQ(take(), 4);
}

TEST_F(box_test, closing_wakes_waiting_threads_and_returns_waiting_messages_in_order) {
  for (int i = 1; i <= 3; ++i) put(i);
  EXPECT_EQ(take(), 1);
  put(4);
  waiting_thread me;
  me.wanted.tag = 9;
  box.add_receiver(me);
  for (int i = 2; i <= 4; ++i) EXPECT_EQ(box.pop()->tag, i);
  EXPECT_EQ(box.pop(), nullptr);
  {
    woken then;
    box.close(then);
  }
  EXPECT_TRUE(me.test());
  EXPECT_EQ(me.received, nullptr);
}

}  // namespace
}  // namespace headway::endpoints::inbox_tests

#ifdef __clang__
#pragma clang diagnostic pop
#endif

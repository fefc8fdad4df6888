#include "packets/send_list.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "packets/cookies.hpp"
#include "packets/credits.hpp"

namespace headway::packets::send_list_tests {
namespace {

struct items_that_wait : ::testing::Test {
  /// Appends the next item.
  void add(bool urgent = false, std::uint32_t flow = 0) {
    auto& item = items.emplace_back();
    item.urgent = urgent;
    item.flow = flow;
    list.append(item);
  }
  [[nodiscard]] std::vector<std::size_t> order() const {
    std::vector<std::size_t> all;
    for (const send_item* i = list.first(); i; i = i->next.load(std::memory_order_relaxed))
      all.push_back(number_of(i));
    EXPECT_EQ(all.size(), list.count());
    return all;
  }
  [[nodiscard]] std::size_t number_of(const send_item* item) const {
    std::size_t number = 0;
    while (&items[number] != item) ++number;
    return number;
  }
  [[nodiscard]] std::vector<send_item*> take(std::size_t count) {
    std::vector<send_item*> taken;
    for (std::size_t i = 0; i < count; ++i) taken.push_back(list.pop_front());
    return taken;
  }
  using numbers = std::vector<std::size_t>;

  std::deque<send_item> items;
  send_list list;
};

TEST_F(items_that_wait, leave_in_the_order_in_which_they_came) {
  for (int i = 0; i < 3; ++i) add();
  EXPECT_EQ(order(), (numbers{0, 1, 2}));
  EXPECT_TRUE(items[1].waits.load());
  list.put_back(take(2));
  EXPECT_EQ(order(), (numbers{0, 1, 2}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(list.pop_front(), &items[i]);
  EXPECT_FALSE(items[1].waits.load());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
  add();
  EXPECT_EQ(order(), (numbers{3}));
}

TEST_F(items_that_wait, leave_first_where_they_are_urgent) {
  add();
  add(true);
  add();
  add(true);
  EXPECT_EQ(order(), (numbers{1, 3, 0, 2}));
  list.put_back(take(1));
  add(true);
  EXPECT_EQ(order(), (numbers{1, 3, 4, 0, 2}));
  list.put_back(take(4));
  add(true);
  add();
  EXPECT_EQ(order(), (numbers{1, 3, 4, 5, 0, 2, 6}));
  static_cast<void>(take(7));
  add();
  add(true);
  EXPECT_EQ(order(), (numbers{8, 7}));
}

TEST_F(items_that_wait, never_pass_those_of_their_own_flow) {
  add(false, 7);
  add(false, 8);
  add(true, 7);
  EXPECT_FALSE(items[2].urgent) << "an item of its flow waits that is not";
  add(true, 9);
  add(false, 9);
  add(true, 23);  // in the bucket of 7
  EXPECT_EQ(order(), (numbers{3, 5, 0, 1, 2, 4}));
  add(true, 9);
  EXPECT_EQ(order(), (numbers{3, 5, 0, 1, 2, 4, 6}));
  static_cast<void>(take(5));
  add(true, 7);
  EXPECT_EQ(order(), (numbers{7, 4, 6})) << "nothing of its flow waits any more";
}

TEST(credit_account, fits_what_the_peer_has_room_for_and_no_more) {
  credit_account credits;
  credits.open(1000);
  EXPECT_TRUE(credits.fits(1000));
  EXPECT_FALSE(credits.fits(1001));
  EXPECT_FALSE(credits.fits(600, 401));
  credits.spend(900);
  EXPECT_FALSE(credits.fits(101));
  EXPECT_TRUE(credits.fits(0)) << "what need not be stored always fits";
  credits.returned(500);
  EXPECT_TRUE(credits.fits(600));
}

TEST(credit_account, wants_a_separate_packet_when_half_of_the_credit_was_not_reported) {
  credit_account credits;
  credits.open(1000);
  credits.consumed(300);
  credits.consumed_late(200);
  EXPECT_FALSE(credits.return_due());
  credits.consumed(1);
  EXPECT_TRUE(credits.return_due());
  EXPECT_EQ(credits.to_tell(), 501u);
  credits.told(501);
  EXPECT_FALSE(credits.return_due());
}

TEST(cookie, is_the_address_of_an_item_or_of_a_frame_which_says_what_it_is) {
  send_item item;
  replay_ring::frame frame;
  EXPECT_EQ(frame_of(cookie_of(item)), nullptr);
  EXPECT_EQ(&item_of(cookie_of(item)), &item);
  EXPECT_EQ(frame_of(cookie_of(frame)), &frame);
}

}  // namespace
}  // namespace headway::packets::send_list_tests

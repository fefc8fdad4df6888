#include "packets/send_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "packets/cookies.hpp"
#include "packets/credits.hpp"

namespace headway::packets::send_list_tests {
namespace {

struct send_list_of_five : ::testing::Test {
  send_list_of_five() {
    for (auto& item : items) list.append(item);
  }
  [[nodiscard]] std::vector<long> order() const {
    std::vector<long> all;
    for (const send_item* i = list.first(); i; i = i->next.load(std::memory_order_relaxed))
      all.push_back(i - items.data());
    return all;
  }
  std::array<send_item, 5> items;
  send_list list;
};

TEST_F(send_list_of_five, keeps_the_order_of_those_that_stay_when_others_are_taken_out) {
  send_item* const chosen[] = {&items[3], &items[1]};
  list.unlink(chosen);
  EXPECT_EQ(order(), (std::vector<long>{0, 2, 4}));
  EXPECT_EQ(list.count(), 3u);
  list.put_back(chosen);
  EXPECT_EQ(order(), (std::vector<long>{3, 1, 0, 2, 4}));
}

TEST_F(send_list_of_five, is_empty_when_all_are_taken_out_and_takes_new_ones) {
  send_item* const chosen[] = {&items[0], &items[1], &items[2], &items[4], &items[3]};
  list.unlink(chosen);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
  list.append(items[2]);
  EXPECT_EQ(order(), (std::vector<long>{2}));
}

TEST_F(send_list_of_five, takes_out_the_last_and_appends_behind_what_is_left) {
  send_item* const chosen[] = {&items[4]};
  list.unlink(chosen);
  list.append(items[4]);
  EXPECT_EQ(order(), (std::vector<long>{0, 1, 2, 3, 4}));
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

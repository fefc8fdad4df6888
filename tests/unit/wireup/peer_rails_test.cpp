#include "wireup/peer_rails.hpp"

#include <gtest/gtest.h>

namespace headway::wireup {
namespace {

rail_address address(int number) { return rail_address(1, static_cast<std::byte>(number)); }

opened_rail rail(std::string driver, std::string interface, int connection, int number) {
  opened_rail made;
  made.driver = std::move(driver);
  made.interface = std::move(interface);
  made.connection = connection;
  made.wishes.usual = 2;
  made.address = address(number);
  return made;
}

/// shm, and two interfaces of tcp with two connections each; addresses from `first` on.
std::vector<opened_rail> some_rails(int first) {
  std::vector<opened_rail> all;
  all.push_back(rail("shm", "", 1, first));
  for (int connection = 1; connection <= 2; ++connection)
    for (const auto* interface : {"eth0", "eth1"})
      all.push_back(rail("tcp", interface, connection, first + static_cast<int>(all.size())));
  return all;
}

TEST(own_rails, each_rail_meets_its_like_and_both_processes_number_the_pairs_alike) {
  const auto here = some_rails(0), there = some_rails(100);
  const own_rails ours(here), theirs(there);
  const process_record our_record{.host = "a", .addresses = ours.addresses()};
  const process_record their_record{.host = "b", .addresses = theirs.addresses()};
  const auto to_them = ours.to(their_record, true), to_us = theirs.to(our_record, false);
  ASSERT_EQ(to_them.size(), here.size());
  ASSERT_EQ(to_us.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(to_them[i].address, there[i].address) << i;
    EXPECT_EQ(to_us[i].address, here[i].address) << i;
    EXPECT_EQ(to_them[i].turn, to_us[i].turn) << i;
  }
}

TEST(own_rails, a_driver_that_the_peer_has_not_reaches_nothing) {
  const auto here = some_rails(0);
  const own_rails ours(here);
  auto theirs = ours.addresses();
  theirs.erase("shm");
  const auto found = ours.to({.addresses = theirs}, true);
  EXPECT_FALSE(found[0].address);
  EXPECT_TRUE(found[1].address);
}

}  // namespace
}  // namespace headway::wireup

#include "wireup/nic_addresses.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/hash.hpp"

namespace headway::wireup {
namespace {

rail_address some_bytes(std::size_t count) { return rail_address(count, std::byte{7}); }

nic_address with(std::size_t connections, connection_wishes wishes) {
  return {.connections = std::vector(connections, some_bytes(38)), .wishes = std::move(wishes)};
}

connection_wishes usually(int count) { return {.usual = count, .of_host = {}}; }

connection_wishes only_to(std::string_view host, int count) {
  return {.usual = 1, .of_host = {{base::hash_of(host), count}}};
}

TEST(nic_addresses, come_back_as_they_were_packed) {
  auto many = only_to("node7", 4);
  for (std::uint64_t host = 0; host < 300; ++host) many.of_host[host] = 2;
  const std::vector all{with(1, {}), with(8, many), nic_address{.connections = {some_bytes(0)}},
                        nic_address{.connections = {some_bytes(3000)}, .wishes = usually(3)}};
  const auto back = unpack_nic_addresses(pack_nic_addresses(all));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, all);
  EXPECT_EQ(*unpack_nic_addresses(pack_nic_addresses({})), std::vector<nic_address>{});
}

TEST(nic_addresses, every_truncation_and_extension_is_refused) {
  auto bytes = pack_nic_addresses(std::vector{with(2, only_to("a", 2)), with(1, {})});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(unpack_nic_addresses(std::span(bytes).first(cut))) << cut;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(unpack_nic_addresses(bytes));
}

TEST(nic_addresses, without_a_rail_are_refused) {
  EXPECT_FALSE(unpack_nic_addresses(pack_nic_addresses(std::vector{nic_address{}})));
}

TEST(nic_addresses, any_bytes_are_read_or_refused) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random() % 40);
    for (auto& b : bytes) b = static_cast<std::byte>(random() % 4 == 0 ? random() % 256 : 1);
    if (const auto nic_addresses = unpack_nic_addresses(bytes))
      for (const auto& d : *nic_addresses) {
        const auto count = connections_between(with(8, usually(8)), "a", d, "b");
        ASSERT_GE(count, 1u);
        ASSERT_LE(count, d.connections.size());
      }
  }
}

TEST(connections_between, are_what_both_want) {
  const auto wants = [](int count) { return with(4, only_to("there", count)); };
  EXPECT_EQ(connections_between(wants(4), "here", with(4, only_to("here", 4)), "there"), 4u);
  EXPECT_EQ(connections_between(wants(4), "here", with(4, only_to("here", 2)), "there"), 2u);
  EXPECT_EQ(connections_between(wants(4), "here", with(4, only_to("elsewhere", 4)), "there"), 1u);
  EXPECT_EQ(connections_between(wants(4), "here", with(4, usually(8)), "there"), 4u);
}

TEST(connections_between, are_never_more_than_one_of_them_has) {
  EXPECT_EQ(connections_between(with(3, usually(8)), "a", with(8, usually(8)), "b"), 3u);
  EXPECT_EQ(connections_between(with(1, {}), "a", with(8, usually(8)), "b"), 1u);
}

TEST(connections_between, are_the_same_number_from_either_side) {
  std::mt19937 random(1);
  const auto any = [&](std::string_view host) {
    auto wishes = usually(static_cast<int>(random() % 3));
    if (random() % 2) wishes.of_host[base::hash_of(host)] = static_cast<int>(random() % 10);
    return with(1 + random() % 8, wishes);
  };
  for (int round = 0; round < 2000; ++round) {
    const auto one = any("b");
    const auto other = any("a");
    const auto count = connections_between(one, "a", other, "b");
    ASSERT_EQ(count, connections_between(other, "b", one, "a"));
    ASSERT_GE(count, 1u);
  }
}

}  // namespace
}  // namespace headway::wireup

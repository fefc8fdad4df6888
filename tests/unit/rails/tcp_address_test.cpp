#include <gtest/gtest.h>

#include "rails/tcp/address.hpp"

namespace headway::rails::tcp::tcp_address_tests {
namespace {

ip_address v4(unsigned a, unsigned b, unsigned c, unsigned d, unsigned prefix_bits = 24) {
  ip_address made{.family = ip_family::v4, .prefix_bits = static_cast<std::uint8_t>(prefix_bits)};
  made.bytes[0] = static_cast<std::byte>(a);
  made.bytes[1] = static_cast<std::byte>(b);
  made.bytes[2] = static_cast<std::byte>(c);
  made.bytes[3] = static_cast<std::byte>(d);
  return made;
}

ip_address v6(unsigned first, unsigned last) {
  ip_address made{.family = ip_family::v6, .prefix_bits = 64};
  made.bytes[0] = static_cast<std::byte>(first);
  made.bytes[15] = static_cast<std::byte>(last);
  return made;
}

ip_address loopback6() {
  ip_address made{.family = ip_family::v6, .prefix_bits = 128};
  made.bytes[15] = std::byte{1};
  return made;
}

constexpr std::array<std::byte, 16> here{std::byte{1}};
constexpr std::array<std::byte, 16> elsewhere{std::byte{2}};

net_interface with(std::vector<ip_address> addresses) {
  return {.name = "eth0", .usable = true, .addresses = std::move(addresses)};
}

TEST(tcp_address, comes_back_as_it_was_written) {
  const address a{
      .loopback_key = here,
      .endpoints = {{.ip = v4(10, 0, 0, 1), .port = 4711}, {.ip = v6(0xfd, 9), .port = 1}}};
  const auto back = address::decode(a.encode());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->endpoints, a.endpoints);
  EXPECT_EQ(back->loopback_key, a.loopback_key);
}

TEST(tcp_address, every_truncation_and_extension_is_refused) {
  auto bytes =
      address{.loopback_key = here, .endpoints = {{.ip = v4(10, 0, 0, 1), .port = 4711}}}.encode();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(address::decode(std::span(bytes).first(cut))) << cut;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(address::decode(bytes));
}

TEST(tcp_address, families_prefixes_and_ports_that_cannot_be_are_refused) {
  const auto refused = [](const endpoint& e) {
    return !address::decode(address{.loopback_key = here, .endpoints = {e}}.encode());
  };
  EXPECT_TRUE(refused({.ip = v4(10, 0, 0, 1), .port = 0}));
  EXPECT_TRUE(refused({.ip = v4(10, 0, 0, 1, 33), .port = 1}));
  EXPECT_TRUE(refused({.ip = {.family = ip_family{5}}, .port = 1}));
}

TEST(tcp_routes, a_common_subnet_comes_first_and_is_left_by_its_interface) {
  const address theirs{
      .loopback_key = elsewhere,
      .endpoints = {{.ip = v4(192, 168, 7, 1), .port = 1}, {.ip = v4(10, 0, 0, 2), .port = 2}}};
  const net_interface ours[] = {with({v4(172, 16, 0, 1)}), with({v4(10, 0, 0, 1)})};
  const auto routes = routes_to(theirs, ours, here);
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[0].to.port, 2);
  EXPECT_EQ(routes[0].from, v4(10, 0, 0, 1));
  EXPECT_EQ(routes[1].to.port, 1);
  EXPECT_FALSE(routes[1].from) << "the kernel's routes know better";
}

TEST(tcp_routes, loopback_serves_within_one_host_only) {
  const address theirs{
      .loopback_key = elsewhere,
      .endpoints = {{.ip = v4(127, 0, 0, 1, 8), .port = 1}, {.ip = loopback6(), .port = 2}}};
  const net_interface ours[] = {with({v4(10, 0, 0, 1)})};
  EXPECT_TRUE(routes_to(theirs, ours, here).empty());
  EXPECT_EQ(routes_to(theirs, ours, elsewhere).size(), 2u);
}

TEST(tcp_routes, a_family_that_we_do_not_have_is_no_way) {
  const address theirs{.loopback_key = elsewhere, .endpoints = {{.ip = v6(0xfd, 1), .port = 1}}};
  const net_interface four[] = {with({v4(10, 0, 0, 1)})};
  const net_interface six[] = {with({v6(0xfc, 1)})};
  EXPECT_TRUE(routes_to(theirs, four, here).empty());
  EXPECT_EQ(routes_to(theirs, six, here).size(), 1u);
}

TEST(tcp_routes, one_that_has_loopback_alone_reaches_no_other_host) {
  const address theirs{.loopback_key = elsewhere,
                       .endpoints = {{.ip = v4(10, 0, 0, 2), .port = 1}}};
  auto lo = with({v4(127, 0, 0, 1, 8)});
  lo.loopback = true;
  EXPECT_TRUE(routes_to(theirs, std::span(&lo, 1), here).empty());
}

address listening(const std::array<std::byte, 16>& key, std::vector<ip_address> on) {
  address a{.loopback_key = key, .endpoints = {}};
  for (const auto& ip : on) a.endpoints.push_back({.ip = ip, .port = 1});
  return a;
}

TEST(tcp_closeness, is_by_subnet_then_by_family) {
  const auto ours = listening(here, {v4(10, 0, 0, 1), v6(0xfd, 1)});
  EXPECT_EQ(closeness_of(ours, listening(elsewhere, {v4(10, 0, 0, 2)})), closeness::same_subnet);
  EXPECT_EQ(closeness_of(ours, listening(elsewhere, {v6(0xfd, 2)})), closeness::same_subnet);
  EXPECT_EQ(closeness_of(ours, listening(elsewhere, {v4(10, 0, 1, 2)})), closeness::same_family);
  EXPECT_EQ(closeness_of(listening(here, {v4(10, 0, 0, 1)}), listening(elsewhere, {v6(0xfd, 2)})),
            closeness::apart);
}

TEST(tcp_closeness, networks_that_every_host_has_for_itself_lead_nowhere) {
  EXPECT_EQ(closeness_of(listening(here, {v4(172, 17, 0, 1, 16)}),
                         listening(elsewhere, {v4(172, 17, 0, 1, 16)})),
            closeness::apart);
  EXPECT_EQ(closeness_of(listening(here, {v4(127, 0, 0, 1, 8)}),
                         listening(elsewhere, {v4(127, 0, 0, 1, 8)})),
            closeness::apart);
}

TEST(tcp_closeness, within_one_host_interfaces_prefer_themselves) {
  const auto first = listening(here, {v4(10, 0, 0, 1)});
  EXPECT_EQ(closeness_of(first, first), closeness::same_address);
  EXPECT_EQ(closeness_of(first, listening(here, {v4(10, 0, 0, 9)})), closeness::same_host);
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_address_tests

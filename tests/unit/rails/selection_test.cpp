#include "rails/selection.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::rails {
namespace {

ip_address v4(unsigned a, unsigned b, unsigned c, unsigned d, unsigned prefix_bits) {
  ip_address made{.family = ip_family::v4, .prefix_bits = static_cast<std::uint8_t>(prefix_bits)};
  made.bytes[0] = static_cast<std::byte>(a);
  made.bytes[1] = static_cast<std::byte>(b);
  made.bytes[2] = static_cast<std::byte>(c);
  made.bytes[3] = static_cast<std::byte>(d);
  return made;
}

net_interface up(std::string name) {
  return {.name = std::move(name), .usable = true, .addresses = {v4(10, 0, 0, 1, 24)}};
}

net_interface down(std::string name) { return {.name = std::move(name), .addresses = {}}; }

net_interface loopback() {
  return {.name = "lo", .usable = true, .loopback = true, .addresses = {v4(127, 0, 0, 1, 8)}};
}

const driver_kind drivers[] = {
    {.name = "self"}, {.name = "shm"}, {.name = "tcp", .networked = true}};

/// "self shm tcp:eth0+eth1", or the fault's text.
std::string chosen(std::string_view text, const std::vector<net_interface>& interfaces) {
  const auto made = select_rails(text, interfaces, drivers);
  if (!made) return made.error().text;
  std::string said;
  for (const auto& c : *made) {
    said += fmt::format("{}{}", said.empty() ? "" : " ", c.driver);
    if (c.interface) said += ":" + c.interface->name;
  }
  return said;
}

const std::vector<net_interface> server{loopback(),   up("eth0"),    up("docker0"),
                                        up("virbr0"), up("br-1234"), down("wlan0"),
                                        up("ib0"),    up("cni0"),    up("vnet7")};

TEST(selection, default_is_self_shared_memory_and_tcp_on_interfaces_that_reach_others) {
  EXPECT_EQ(chosen("", server), "self shm tcp:eth0 tcp:ib0");
}

TEST(selection, loopback_is_used_by_default_only_when_it_is_the_only_way) {
  EXPECT_EQ(chosen("", {loopback(), down("eth0")}), "self shm tcp:lo");
  EXPECT_EQ(chosen("", {loopback(), up("docker0")}), "self shm tcp:lo");
}

TEST(selection, a_machine_without_any_network_has_no_tcp_and_no_fault) {
  EXPECT_EQ(chosen("", {}), "self shm");
}

TEST(selection, keeps_the_order_given_and_puts_self_first) {
  EXPECT_EQ(chosen("tcp:eth0,shm", server), "self tcp:eth0 shm");
  EXPECT_EQ(chosen(" shm , tcp:eth* ", server), "self shm tcp:eth0");
}

TEST(selection, each_word_is_a_rail_of_its_own) {
  EXPECT_EQ(chosen("tcp:ib0,tcp:eth0", server), "self tcp:ib0 tcp:eth0");
}

TEST(selection, what_is_left_out_by_default_can_be_asked_for_by_name) {
  EXPECT_EQ(chosen("tcp:docker0", server), "self tcp:docker0");
  EXPECT_EQ(chosen("tcp:lo", server), "self tcp:lo");
}

TEST(selection, exclusions_take_away_drivers_and_interfaces) {
  EXPECT_EQ(chosen("!eth0", server), "self shm tcp:ib0");
  EXPECT_EQ(chosen("^shm", server), "self tcp:eth0 tcp:ib0");
  EXPECT_EQ(chosen("tcp,!ib*", server), "self tcp:eth0");
  EXPECT_EQ(chosen("!docker0", {loopback(), up("eth0")}), "self shm tcp:eth0")
      << "one list of exclusions serves machines with and without docker";
}

TEST(selection, an_interface_can_be_excluded_for_one_driver) {
  EXPECT_EQ(chosen("^tcp:eth0", server), "self shm tcp:ib0");
  EXPECT_EQ(chosen("!tcp:i*,tcp", server), "self tcp:eth0");
  EXPECT_THAT(chosen("!udp:eth0", server), ::testing::HasSubstr("'!udp:eth0' is no driver"));
}

TEST(selection, an_interface_is_one_rail_however_often_it_is_named) {
  EXPECT_EQ(chosen("tcp:ib0,tcp,tcp:*0,shm,shm,!docker0,!virbr0,!cni0", server),
            "self tcp:ib0 tcp:eth0 shm");
}

TEST(selection, a_port_of_a_bridge_is_left_out) {
  auto port = up("veth12");
  port.enslaved = true;
  EXPECT_EQ(chosen("", {loopback(), port, up("eth0")}), "self shm tcp:eth0");
}

TEST(selection, a_veth_with_an_address_is_an_interface_like_any_other) {
  EXPECT_EQ(chosen("", {loopback(), up("veth-a")}), "self shm tcp:veth-a");
}

TEST(selection, an_unknown_driver_is_a_fault_that_names_what_there_is) {
  EXPECT_EQ(chosen("shm,infiniband", server),
            "HEADWAY_RAILS: 'infiniband' is no driver, there are: self, shm, tcp");
}

TEST(selection, an_unknown_or_dead_interface_is_a_fault_that_names_what_there_is) {
  const auto said = chosen("tcp:eth7", {loopback(), up("eth0"), down("wlan0")});
  EXPECT_EQ(said,
            "HEADWAY_RAILS: 'tcp:eth7' names no interface in use here, there are: lo, eth0, "
            "wlan0 (down)");
  EXPECT_THAT(chosen("tcp:wlan0", server), ::testing::HasSubstr("'tcp:wlan0' names no interface"));
  EXPECT_THAT(chosen("!etho", server), ::testing::HasSubstr("'!etho' is no driver"));
  EXPECT_THAT(chosen("shm:eth0", server), ::testing::HasSubstr("'shm' takes no interface"));
}

TEST(selection, the_machine_itself_has_a_loopback) {
  const auto all = list_interfaces();
  ASSERT_TRUE(all);
  if (all->empty()) GTEST_SKIP() << "no network interface at all in this sandbox";
  EXPECT_TRUE(std::ranges::any_of(*all, &net_interface::loopback));
}

TEST(addresses, subnets_are_compared_bit_by_bit) {
  EXPECT_TRUE(v4(10, 1, 2, 3, 24).same_subnet(v4(10, 1, 2, 99, 24)));
  EXPECT_FALSE(v4(10, 1, 2, 3, 24).same_subnet(v4(10, 1, 3, 3, 24)));
  EXPECT_TRUE(v4(10, 1, 2, 3, 23).same_subnet(v4(10, 1, 3, 3, 24)));
  EXPECT_TRUE(v4(10, 1, 2, 3, 0).same_subnet(v4(99, 1, 3, 3, 24)));
  EXPECT_FALSE(v4(10, 1, 2, 3, 24).same_subnet({.family = ip_family::v6}));
  EXPECT_EQ(v4(10, 1, 2, 3, 24).text(), "10.1.2.3");
}

}  // namespace
}  // namespace headway::rails

// Which payloads a rail may keep using (rails::packet, `lent`): those of sends whose owner reclaims
// them, from the size on that the rail names.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace headway::messages::lent_tests {
namespace {

/// Notes whether the last packet was lent.
class lending final : public simulation::driver {
 public:
  using driver::driver;
  rails::post send(rails::peer_id to, const rails::packet& what) noexcept override {
    lent = what.lent;
    return driver::send(to, what);
  }
  void reclaim(rails::peer_id peer) noexcept override {
    EXPECT_EQ(peer, rails::peer_id{1});
    ++reclaimed;
  }
  bool lent = false;
  int reclaimed = 0;
};

struct lent_payloads : ::testing::Test {
  lent_payloads() {
    auto made = ends.make_rail<lending>();
    rail = made.get();
    peers.add_rail(std::move(made), packets::rail_use::from_start);
    all = std::make_unique<exchange>(peers, *engine);
    where = all->open_context(0, 0, processes::consecutive(2));
  }
  ~lent_payloads() override { all->close_context(where); }

  /// Whether the rail may keep using what is sent.
  bool is_lent(request& r, std::size_t size) {
    r.reset();
    all->send(*where, r, std::span(memory).first(size), 1, 7);
    EXPECT_TRUE(r.test());
    return rail->lent;
  }

  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  simulation::bare_ends ends{1, {simulation::bare_ends::immediate_but([](auto& plan) {
                               plan.limits.inline_bytes_max = 1024;
                               plan.limits.lent_bytes_min = 2048;
                             })}};
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  packets::peers peers{*engine, rails::peer_id{0}, routes, {.processes = 2}};
  lending* rail = nullptr;
  std::unique_ptr<exchange> all;
  context* where = nullptr;
};

TEST_F(lent_payloads, are_those_of_owners_that_reclaim_them) {
  request r;
  EXPECT_FALSE(is_lent(r, 4000));
  r.reclaim();
  EXPECT_EQ(rail->reclaimed, 0);
  r.reclaims = true;
  EXPECT_TRUE(is_lent(r, 4000));
  r.reclaim();
  r.reclaim();
  EXPECT_EQ(rail->reclaimed, 1) << "once for each use";
}

TEST_F(lent_payloads, have_the_size_that_is_worth_it) {
  request r;
  r.reclaims = true;
  EXPECT_FALSE(is_lent(r, 2047));
  EXPECT_TRUE(is_lent(r, 2048));
  EXPECT_FALSE(is_lent(r, 8)) << "of the next use nothing is lent";
  r.reclaim();
  EXPECT_EQ(rail->reclaimed, 0);
}

}  // namespace
}  // namespace headway::messages::lent_tests

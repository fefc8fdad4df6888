#include "packets/peers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "packets/peer_table.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"
#include "traffic.hpp"

namespace headway::packets::testing {
namespace {

struct ignoring final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { ++losses; }
  int losses = 0;
};

class sink final : public rails::testing::silent_driver {
 public:
  rails::limits query() const noexcept override {
    return {.name = "sink", .header_bytes_max = 64, .eager_bytes_max = 4096};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    return rails::post::done;
  }
  std::size_t reap(std::span<rails::event>) noexcept override { return 0; }
};

struct router_that_fails final : router {
  base::result<> route(peers&, rails::peer_id) override {
    return base::failed(base::fault_kind::unsupported, "there is no way there");
  }
};

struct router_without_memory final : router {
  base::result<> route(peers&, rails::peer_id) override { throw std::bad_alloc(); }
};

struct fixture {
  explicit fixture(router& routes) : all{*engine, rails::peer_id{0}, routes} {
    all.add_rail(std::make_unique<sink>());
    all.start(above);
  }
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  ignoring above;
  peers all;
};

TEST(peers, look_up_the_rails_of_a_peer_once_and_on_its_first_use) {
  reaches_all routes;
  fixture f(routes);
  EXPECT_EQ(routes.asked, 0);
  EXPECT_EQ(f.all.find(rails::peer_id{70'000}), nullptr);
  peer& first = f.all.at(rails::peer_id{70'000});
  EXPECT_EQ(routes.asked, 1);
  EXPECT_EQ(&f.all.at(rails::peer_id{70'000}), &first);
  EXPECT_EQ(f.all.find(rails::peer_id{70'000}), &first);
  EXPECT_EQ(routes.asked, 1);
  EXPECT_FALSE(first.lost());
  EXPECT_EQ(f.all.peers_on(0), 1);
  EXPECT_EQ(f.all.find(rails::peer_id{3}), nullptr);
}

TEST(peers, that_no_rail_reaches_are_lost_from_the_start) {
  router_that_fails routes;
  fixture f(routes);
  peer& unreached = f.all.at(rails::peer_id{1});
  EXPECT_TRUE(unreached.lost());
  send_item item;
  item.head_bytes = sizeof(stream_head);
  EXPECT_EQ(unreached.post(item), posted::down);
  EXPECT_EQ(f.above.losses, 0) << "nothing was under way with it";
}

TEST(peers, for_whose_rails_there_is_no_memory_are_lost) {
  router_without_memory routes;
  fixture f(routes);
  const auto done = f.all.use(rails::peer_id{1});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::fault_kind::no_memory);
  EXPECT_TRUE(f.all.at(rails::peer_id{1}).lost());
}

TEST(peers, are_not_connected_any_more_when_the_rails_have_stopped) {
  reaches_all routes;
  fixture f(routes);
  f.all.stop();
  EXPECT_TRUE(f.all.at(rails::peer_id{1}).lost());
  EXPECT_EQ(routes.asked, 0);
}

TEST(peers, are_made_once_by_threads_that_use_them_at_the_same_time) {
  constexpr std::uint32_t count = 300;
  reaches_all routes;
  fixture f(routes);
  std::vector<peer*> seen[3];
  std::vector<std::thread> users;
  for (auto& mine : seen)
    users.emplace_back([&] {
      for (std::uint32_t i = 0; i < count; ++i) mine.push_back(&f.all.at(rails::peer_id{i}));
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(routes.asked, static_cast<int>(count));
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(peers, are_made_by_what_they_send) {
  simulation::job world({.processes = 4, .rails = 2});
  traffic there(world, 0, 1, 5);
  there.add(100);
  there.add(100'000);
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  there.check();
  EXPECT_NE(world.peers(1).find(rails::peer_id{0}), nullptr);
  EXPECT_EQ(world.peers(0).find(rails::peer_id{2}), nullptr);
  EXPECT_EQ(world.peers(2).find(rails::peer_id{0}), nullptr);
}

}  // namespace
}  // namespace headway::packets::testing

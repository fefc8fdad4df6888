#include "packets/bundle/bundle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "packets/events.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/driver.hpp"
#include "tests/simulation/job.hpp"
#include "traffic.hpp"

namespace headway::packets::testing::bundle_tests {
namespace {

class bundle_on : public ::testing::TestWithParam<std::uint32_t> {
 protected:
};

std::uint32_t any_rail(std::mt19937& random) { return static_cast<std::uint32_t>(random() % 3); }

std::size_t random_size(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return random() % 200'000;
    case 1:
      return random() % 4'000;
    default:
      return random() % 100;
  }
}

TEST_P(bundle_on, brings_every_message_whole_and_in_order_over_three_rails) {
  simulation::job world({.processes = 2, .rails = 3, .seed = GetParam()});
  ASSERT_FALSE(rendezvous::preposts_for(world.peers(0).at(1)));  // several rails reach it
  std::mt19937 random(GetParam());
  traffic there(world, 0, 1, 5);
  traffic back(world, 1, 0, 6);
  for (int i = 0; i < 100; ++i) {
    there.add(random_size(random));
    back.add(random_size(random));
    if (random() % 4 == 0) world.step();
  }
  ASSERT_TRUE(world.run_until([&] { return there.done() && back.done(); }));
  there.check();
  back.check();
}

TEST_P(bundle_on, drops_what_comes_twice) {
  simulation::job world({.processes = 2, .rails = 2, .seed = GetParam()});
  world.net().doubles = true;
  std::mt19937 random(GetParam());
  traffic there(world, 0, 1, 5);
  for (int i = 0; i < 100; ++i) {
    there.add(random_size(random));
    world.step();
  }
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  there.check();
  EXPECT_GT(world.peers(1).counts().duplicates.load(), 0u);
}

TEST_P(bundle_on, loses_nothing_when_rails_are_cut_and_come_back) {
  simulation::job world({.processes = 2, .rails = 3, .seed = GetParam()});
  std::mt19937 random(GetParam());
  traffic there(world, 0, 1, 5);
  traffic back(world, 1, 0, 6);
  for (int i = 0; i < 200; ++i) {
    there.add(random_size(random));
    back.add(random_size(random));
    for (auto rounds = random() % 20; rounds > 0; --rounds) world.step();
    if (random() % 10 == 0) world.net().cut(any_rail(random), 0, 1);
  }
  ASSERT_TRUE(world.run_until([&] { return there.done() && back.done(); }));
  there.check();
  back.check();
  EXPECT_GT(world.peers(0).counts().rail_losses.load(), 0u);
}

/// Counts the events of one type for as long as it lives.
class event_count {
 public:
  explicit event_count(base::event_type& type) : type_(type) {
    seen = 0;
    type.observe([](const auto&, const base::event_type::values& with) noexcept {
      if (with[0] < 2 && with[1] < 3) ++seen;  // a peer and a rail that there are
    });
  }
  ~event_count() { type_.observe(nullptr); }
  event_count(const event_count&) = delete;
  event_count& operator=(const event_count&) = delete;
  [[nodiscard]] std::uint64_t operator()() const { return seen; }

 private:
  static inline thread_local std::uint64_t seen = 0;
  base::event_type& type_;
};

TEST_P(bundle_on, raises_an_event_for_each_loss_and_each_return_of_a_rail) {
  const auto count_of = [](simulation::job& world, auto member) {
    return (world.peers(0).counts().*member).load() + (world.peers(1).counts().*member).load();
  };
  for (const bool lost : {true, false}) {
    simulation::job world({.processes = 2, .rails = 3, .seed = GetParam()});
    const event_count seen(lost ? events::rail_lost : events::rail_returned);
    const auto counted = lost ? &statistics::rail_losses : &statistics::rail_returns;
    traffic there(world, 0, 1, 5);
    for (int i = 0; i < 30; ++i) {
      there.add(1000);
      for (int round = 0; round < 20; ++round) world.step();
      if (i % 10 == 5) world.net().cut(static_cast<std::uint32_t>(i) / 10, 0, 1);
    }
    ASSERT_TRUE(world.run_until([&] { return there.done() && count_of(world, counted) > 0; }));
    EXPECT_EQ(seen(), count_of(world, counted));
  }
}

TEST_P(bundle_on, finds_a_silent_rail_and_goes_on_over_the_other) {
  simulation::job world({.processes = 2, .rails = 2, .seed = GetParam()});
  std::mt19937 random(GetParam());
  traffic there(world, 0, 1, 5);
  for (int i = 0; i < 20; ++i) there.add(random_size(random));
  // A rail that has never answered carries nothing, and its absence is no fault.
  ASSERT_TRUE(world.run_until([&] {
    return there.done() && world.peers(0).counts().rail_proofs.load() == 2 &&
           world.peers(1).counts().rail_proofs.load() == 2;
  }));
  world.net().mute(0, 0, 1);
  for (int i = 0; i < 20; ++i) there.add(10'000 + i);
  ASSERT_TRUE(world.run_until([&] {
    return world.peers(0).counts().rail_losses.load() > 0 ||
           world.peers(1).counts().rail_losses.load() > 0;
  }));
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  there.check();
  world.net().mend(0, 0, 1);
  for (int i = 0; i < 20; ++i) there.add(random_size(random));
  ASSERT_TRUE(world.run_until([&] {
    return there.done() && world.peers(0).counts().rail_returns.load() > 0 &&
           world.peers(1).counts().rail_returns.load() > 0;
  }));
  there.check();
}

TEST_P(bundle_on, loses_nothing_to_random_cuts_and_silences) {
  simulation::job world({.processes = 3, .rails = 3, .seed = GetParam()});
  std::mt19937 random(GetParam());
  traffic one(world, 0, 1, 5);
  traffic two(world, 1, 2, 6);
  traffic three(world, 2, 0, 7);
  for (int i = 0; i < 150; ++i) {
    for (auto* t : {&one, &two, &three}) t->add(random_size(random));
    for (auto rounds = random() % 20; rounds > 0; --rounds) world.step();
    const auto a = static_cast<std::uint32_t>(random() % 3);
    const auto b = (a + 1) % 3;
    switch (random() % 12) {
      case 0:
        world.net().cut(any_rail(random), a, b);
        break;
      case 1:
        world.net().mute(any_rail(random), a, b);
        break;
      case 2:
      case 3:
        for (std::uint32_t rail = 0; rail < 3; ++rail) world.net().mend(rail, a, b);
        break;
      default:
        break;
    }
  }
  for (std::uint32_t rail = 0; rail < 3; ++rail)
    for (std::uint32_t a = 0; a < 3; ++a) world.net().mend(rail, a, (a + 1) % 3);
  ASSERT_TRUE(world.run_until([&] { return one.done() && two.done() && three.done(); }));
  for (auto* t : {&one, &two, &three}) t->check();
}

TEST_P(bundle_on, puts_small_packets_that_wait_into_one_frame) {
  simulation::job world({.processes = 2, .rails = 2, .seed = GetParam()});
  traffic there(world, 0, 1, 5);
  for (int i = 0; i < 500; ++i) there.add(8);
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  there.check();
  const auto one = world.peers(0).use_of(0).value(), other = world.peers(0).use_of(1).value();
  EXPECT_GE(one.packets + other.packets, 500u);
  EXPECT_LT((one.frames + other.frames) * 3, one.packets + other.packets);
}

TEST(bundle, ends_what_is_being_pulled_when_its_rails_stop) {
  simulation::job world({.rails = 2, .seed = 3});
  traffic there(world, 0, 1, 5);
  there.add(4'000'000);
  // More than are under way at a time on two rails: some are in.
  ASSERT_TRUE(world.run_until([&] { return world.peers(1).counts().pieces.load() > 4; }));
  const auto& m = there.all.front();
  ASSERT_FALSE(m.receive.test() || m.send.test());
  world.net().run_out();
  world.peers(1).stop();
  EXPECT_TRUE(m.receive.test());
  EXPECT_NE(m.receive.arrived.how, messages::outcome::ok);
  world.peers(0).stop();
  EXPECT_TRUE(m.send.test());
  EXPECT_NE(m.send.arrived.how, messages::outcome::ok);
}

TEST(bundle, has_the_same_rails_at_both_ends_where_there_are_more_than_it_takes) {
  constexpr std::uint32_t count = rails_per_peer_max + 2;
  simulation::network net(2, std::vector<simulation::rail_plan>(count, {.severable = true}), {}, 1);
  const auto machine = topology::machine::read().value();
  processes::table known;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    known.add({.job = simulation::network::job, .rank = rank});
  for (std::uint32_t self = 0; self < 2; ++self) {
    const auto engine =
        progress::engine::start(*machine, {.points = progress::polling::off}, 1, net.clock())
            .value();
    reaches_all routes(count);
    packets::peers all(*engine, rails::peer_id{self}, routes, settings{.processes = 2});
    auto& turns = routes.turns;  // each end has them in another order
    for (std::uint32_t i = 0; i < count; ++i) {
      turns.push_back(self == 0 ? i : count - 1 - i);
      all.add_rail(std::make_unique<simulation::driver>(
          net, static_cast<std::uint32_t>(turns.back()), self, known, rails::peer_id{self}));
    }
    ASSERT_TRUE(all.use(rails::peer_id{1 - self}));
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(all.use_of(i).has_value(), turns[i] < rails_per_peer_max) << self << ' ' << i;
  }
}

TEST(bundle, of_one_job_runs_as_it_does_alone_beside_another_job_at_another_time) {
  constexpr simulation::job_options chosen{.rails = 2, .seed = 5};
  constexpr std::size_t bytes = 500'000;
  const auto alone = [&] {
    simulation::job world(chosen);
    traffic there(world, 0, 1, 5);
    there.add(bytes);
    EXPECT_TRUE(world.run_until([&] { return there.done(); }));
    return world.net().fingerprint();
  }();
  simulation::job world(chosen), beside({.rails = 2, .seed = 6});
  beside.net().jump(3'600'000'000'000);
  traffic there(world, 0, 1, 5), over_there(beside, 0, 1, 5);
  there.add(bytes);
  over_there.add(bytes);
  static_cast<void>(beside.run_until([] { return true; }));  // all are awake
  ASSERT_TRUE(world.run_until([&] {
    if (!over_there.done()) beside.step();
    return there.done();
  }));
  EXPECT_TRUE(beside.run_until([&] { return over_there.done(); }));
  EXPECT_EQ(world.net().fingerprint(), alone);
  EXPECT_LT(world.net().now_ns() + 3'000'000'000'000, beside.net().now_ns());
  there.check();
  over_there.check();
}

INSTANTIATE_TEST_SUITE_P(seeds, bundle_on, ::testing::Range(1u, 4u));

}  // namespace
}  // namespace headway::packets::testing::bundle_tests

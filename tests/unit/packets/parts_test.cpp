// Goal:   packets that leave in parts over several rails arrive whole, once and in order,
//         whichever thread gives the parts to their rails, also if rails refuse, are cut or return.
// Method: a strategy that cuts every packet. Simulated, where everything is late on a
//         seed and one thread runs; over TCP on loopback, with threads of the engine as helpers.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "base/clock.hpp"
#include "packets/strategies/sampled.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"
#include "tests/loopback.hpp"
#include "tests/random_bytes.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/job.hpp"

namespace headway::packets::testing::parts_tests {
namespace {

/// In as many parts as there are idle rails, of sizes that are no multiple of anything.
class always final : public strategy {
 public:
  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override {
    return strategies::sampled().choose(waiting, rail, rails, room);
  }
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override {
    return strategies::sampled().split(what, rails, pieces);
  }
  [[nodiscard]] std::size_t cut(std::uint64_t bytes, std::uint32_t rail,
                                std::span<const rail_state> rails, const helpers&,
                                std::span<piece> pieces) const noexcept override {
    std::size_t count = 0;
    pieces[count++] = {.offset = 0, .bytes = bytes / 3 + 1, .rail = rail};
    for (std::uint32_t i = 0; i < rails.size(); ++i) {
      if (i == rail || rails[i].now != rail_state::condition::idle) continue;
      const auto& before = pieces[count - 1];
      pieces[count++] = {.offset = before.offset + before.bytes, .bytes = bytes / 5 + 1, .rail = i};
    }
    auto& last = pieces[count - 1];
    last.bytes = bytes - last.offset;
    return count;
  }
};

const always as_always;

struct message {
  std::vector<std::byte> sent, received;
  messages::request send, receive;

  explicit message(std::size_t bytes, std::uint32_t seed) : sent(bytes), received(bytes) {
    headway::testing::fill_at_random(sent, seed);
  }
};

constexpr std::uint64_t cut_off_ns = 1'500'000'000;

class parts_simulated : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void exchange_messages(bool cut, bool doubles);
};

void parts_simulated::exchange_messages(bool cut, bool doubles) {
  simulation::job world({.rails = 3, .seed = GetParam(), .cut_off_ns = cut_off_ns});
  world.net().doubles = doubles;
  auto* from = world.open(0, 5);
  auto* to = world.open(1, 5);
  world.peers(0).at(1).use(as_always);
  std::mt19937 random(GetParam());
  std::deque<message> all;
  for (int i = 0; i < 200; ++i) {
    // Sizes about that of the largest packet, which is 4 KB here.
    auto& m = all.emplace_back(random() % 2 == 0 ? 3'900 + random() % 100 : random() % 200, i);
    world.messages(1).receive(*to, m.receive, m.received, 0, 7);
    world.messages(0).send(*from, m.send, m.sent, 1, 7);
    for (auto rounds = random() % 10; rounds > 0; --rounds) world.step();
    if (cut && random() % 10 == 0) world.net().cut(static_cast<std::uint32_t>(random() % 3), 0, 1);
    // What waits behind others is not cut.
    if (random() % 4 == 0) continue;
    ASSERT_TRUE(world.run_until([&] { return m.receive.test(); })) << i;
  }
  ASSERT_TRUE(world.run_until([&] {
    return std::ranges::all_of(all,
                               [](const message& m) { return m.send.test() && m.receive.test(); });
  }));
  for (const auto& m : all) {
    ASSERT_EQ(m.receive.arrived.how, messages::outcome::ok);
    ASSERT_EQ(m.receive.arrived.bytes, m.sent.size());
    ASSERT_TRUE(m.sent == m.received);
  }
  EXPECT_GT(world.peers(0).counts().cut.load(), 0u);
  world.messages(0).close_context(from);
  world.messages(1).close_context(to);
}

TEST_P(parts_simulated, arrive_whole_and_in_order) { exchange_messages(false, false); }
TEST_P(parts_simulated, arrive_once_though_frames_come_twice) { exchange_messages(false, true); }
TEST_P(parts_simulated, arrive_though_rails_are_cut_and_come_back) {
  exchange_messages(true, false);
}

INSTANTIATE_TEST_SUITE_P(seeds, parts_simulated, ::testing::Range(1u, 6u));

/// Two processes in one, each with its own engine and three connections to the other.
struct tcp_pair {
  struct process {
    reaches_all routes{0};  // to the other
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    std::unique_ptr<messages::exchange> messages;
    messages::context* context = nullptr;
  };
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  process all[2];

  tcp_pair() {
    const auto job = "parts" + std::to_string(base::machine_now_ns());
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto& one = all[i];
      one.engine =
          progress::engine::start(*machine, {.points = progress::polling::automatic}).value();
      one.peers =
          std::make_unique<packets::peers>(*one.engine, rails::peer_id{i}, one.routes,
                                           settings{.processes = 2, .cut_off_ns = cut_off_ns});
      for (int r = 0; r < 3; ++r) {
        auto tcp = std::make_unique<rails::tcp::tcp_driver>(
            rails::tcp::config{.known = &headway::testing::table_of(job, 2),
                               .me = rails::peer_id{i},
                               .secret = {},
                               .interfaces = headway::testing::loopback()});
        all[1 - i].routes.addresses.emplace_back(tcp->open().value());
        one.peers->add_rail(std::move(tcp));
      }
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(all[i].peers->use(rails::peer_id{1 - i}));
      all[i].peers->at(1 - i).use(as_always);
      all[i].messages = std::make_unique<messages::exchange>(*all[i].peers, *all[i].engine);
      all[i].context =
          all[i].messages->open_context(3, static_cast<int>(i), headway::processes::consecutive(2));
    }
  }
  ~tcp_pair() {
    for (auto& one : all) one.messages->close_context(one.context);
  }
};

TEST(parts_over_tcp, arrive_whole_with_helpers_on_other_threads) {
  tcp_pair w;
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::deque<message> both;
    for (std::size_t from = 0; from < 2; ++from) {
      auto& m = both.emplace_back(5'000 + random() % 55'000, i);
      auto& to = w.all[1 - from];
      to.messages->receive(*to.context, m.receive, m.received, static_cast<int>(from), 7);
      w.all[from].messages->send(*w.all[from].context, m.send, m.sent, 1 - static_cast<int>(from),
                                 7);
    }
    for (std::size_t from = 0; from < 2; ++from) {
      auto& m = both[from];
      const auto until = base::machine_now_ns() + 20'000'000'000;
      ASSERT_TRUE(w.all[from].engine->wait_until(m.send, until)) << i;
      ASSERT_TRUE(w.all[1 - from].engine->wait_until(m.receive, until)) << i;
      ASSERT_EQ(m.receive.arrived.how, messages::outcome::ok);
      ASSERT_TRUE(m.sent == m.received);
    }
  }
  EXPECT_GT(w.all[0].peers->counts().cut.load(), 0u);
}

}  // namespace
}  // namespace headway::packets::testing::parts_tests

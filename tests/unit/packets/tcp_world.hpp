#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "base/clock.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/drivers/faulty_driver.hpp"
#include "tests/job_table.hpp"
#include "tests/loopback.hpp"
#include "tests/random_bytes.hpp"
#include "tests/reaches_all.hpp"

namespace headway::packets::testing {

constexpr std::uint32_t rail_count = 3;
constexpr std::uint64_t patience_ns = 60'000'000'000;  // only to detect a hang

struct process {
  reaches_all routes{0};  // to the other
  std::unique_ptr<progress::engine> engine;
  std::unique_ptr<packets::peers> peers;
  std::unique_ptr<messages::exchange> messages;
  messages::context* context = nullptr;
};

/// Two processes in one, TCP rails on loopback between them, each wrapped by the faulty driver at
/// both ends.
struct world {
  explicit world(const rails::faulty::plan& p, std::uint32_t rails_between = rail_count) {
    machine = topology::machine::read().value();
    const auto job = "tcp_bundle" + std::to_string(base::machine_now_ns());
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto& one = all[i];
      one.engine =
          progress::engine::start(*machine, {.points = progress::polling::automatic}).value();
      one.peers =
          std::make_unique<packets::peers>(*one.engine, rails::peer_id{i}, one.routes,
                                           settings{.processes = 2, .cut_off_ns = 60'000'000'000});
      for (std::uint32_t r = 0; r < rails_between; ++r) {
        auto tcp = std::make_unique<rails::tcp::tcp_driver>(
            rails::tcp::config{.known = &headway::testing::table_of(job, 2),
                               .me = rails::peer_id{i},
                               .secret = {},
                               .interfaces = headway::testing::loopback()});
        auto plan = p;
        plan.seed = p.seed * 100 + i * 10 + r;
        // A peer that is silent on every rail for ever looks like one that computes.
        if (r == 0) plan.mute_one_in = 0;
        auto faulty = std::make_unique<rails::faulty::faulty_driver>(std::move(tcp), plan);
        all[1 - i].routes.addresses.emplace_back(faulty->open().value());
        one.peers->add_rail(std::move(faulty));
      }
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(all[i].peers->use(rails::peer_id{1 - i}));
      all[i].messages = std::make_unique<messages::exchange>(*all[i].peers, *all[i].engine);
      all[i].context =
          all[i].messages->open_context(3, static_cast<int>(i), headway::processes::consecutive(2));
    }
  }
  ~world() {
    for (auto& one : all)
      if (one.context) one.messages->close_context(one.context);
  }
  std::unique_ptr<topology::machine> machine;
  process all[2];
};

struct message {
  std::vector<std::byte> sent, received;
  messages::request send, receive;
};

/// Random messages in both directions, each checked for its contents.
template <class World>
void exchange_messages(World& w, std::uint32_t seed, int count) {
  std::deque<message> traffic[2];
  std::mt19937 random(seed);
  for (int i = 0; i < count; ++i) {
    for (std::size_t from = 0; from < 2; ++from) {
      auto& m = traffic[from].emplace_back();
      const std::size_t bytes = random() % 8 == 0 ? random() % 1'000'000 : random() % 5'000;
      m.sent.resize(bytes);
      headway::testing::fill_at_random(m.sent, random());
      m.received.resize(bytes);
      auto& to = w.all[1 - from];
      to.messages->receive(*to.context, m.receive, m.received, static_cast<int>(from), 7);
      w.all[from].messages->send(*w.all[from].context, m.send, m.sent, 1 - static_cast<int>(from),
                                 7);
    }
    if (i < 20) continue;
    for (std::size_t from = 0; from < 2; ++from) {
      auto& m = traffic[from][static_cast<std::size_t>(i) - 20];
      const auto until = base::machine_now_ns() + patience_ns;
      ASSERT_TRUE(w.all[from].engine->wait_until(m.send, until)) << i;
      ASSERT_TRUE(w.all[1 - from].engine->wait_until(m.receive, until)) << i;
    }
  }
  for (std::size_t from = 0; from < 2; ++from)
    for (auto& m : traffic[from]) {
      const auto until = base::machine_now_ns() + patience_ns;
      ASSERT_TRUE(w.all[from].engine->wait_until(m.send, until));
      ASSERT_TRUE(w.all[1 - from].engine->wait_until(m.receive, until));
      ASSERT_EQ(m.receive.arrived.how, messages::outcome::ok);
      ASSERT_EQ(m.receive.arrived.bytes, m.sent.size());
      const auto wrong = std::ranges::mismatch(m.sent, m.received).in1 - m.sent.begin();
      ASSERT_EQ(wrong, m.sent.end() - m.sent.begin()) << "the first wrong byte";
    }
}

}  // namespace headway::packets::testing

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/random_bytes.hpp"
#include "tests/simulation/job.hpp"

namespace headway::packets::testing {

inline std::vector<std::byte> contents_of(std::size_t bytes, std::uint32_t number) {
  std::vector<std::byte> made(bytes);
  headway::testing::fill_at_random(made, number);
  return made;
}

/// Messages of one direction, checked for order and contents.
struct traffic {
  struct message {
    std::vector<std::byte> sent, received;
    messages::request send, receive;
  };
  std::deque<message> all;
  messages::context *from, *to;
  simulation::job& world;

  traffic(simulation::job& w, std::size_t a, std::size_t b, std::uint32_t id)
      : from(w.open(a, id)), to(w.open(b, id)), world(w), a_(a), b_(b) {}
  ~traffic() {
    world.messages(a_).close_context(from);
    world.messages(b_).close_context(to);
  }
  void add(std::size_t bytes) {
    auto& m = all.emplace_back();
    m.sent = contents_of(bytes, static_cast<std::uint32_t>(all.size()));
    m.received.resize(bytes);
    // One tag: what is overtaken lands in another's buffer, and its size or contents are wrong.
    world.messages(b_).receive(*to, m.receive, m.received, static_cast<int>(a_), 7);
    world.messages(a_).send(*from, m.send, m.sent, static_cast<int>(b_), 7);
  }
  [[nodiscard]] bool done() const {
    return std::ranges::all_of(all,
                               [](const message& m) { return m.send.test() && m.receive.test(); });
  }
  void check() const {
    for (const auto& m : all) {
      EXPECT_EQ(m.receive.arrived.how, messages::outcome::ok);
      EXPECT_EQ(m.send.arrived.how, messages::outcome::ok);
      ASSERT_EQ(m.receive.arrived.bytes, m.sent.size());
      ASSERT_TRUE(m.sent == m.received);
    }
  }

 private:
  std::size_t a_, b_;
};

}  // namespace headway::packets::testing

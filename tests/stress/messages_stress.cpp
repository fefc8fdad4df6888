// Goal:   matching, streams, credits and rendezvous are right when every thread of two processes
//         sends and receives at once, with progression in the background.
// Method: two exchanges in one process over a network in memory that retries, posts and delays on a
//         seed (tests/simulation); each of four threads a side has messages of random
//         sizes with each of the other side's, by specific and wildcard receives; contents and
//         order are checked. Run under ThreadSanitizer.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/simulation/job.hpp"

namespace headway::messages {
namespace {

constexpr int thread_count = 4;
constexpr int messages_each = 150;

struct side {
  exchange* own;
  context* world;
  int rank;
};

/// Message `i` of a stream: its length and contents follow from its number.
std::vector<int> contents(int stream, int i) {
  std::minstd_rand random(static_cast<unsigned>(stream * 7919 + i + 1));
  random.discard(3);
  const std::size_t count = random() % 5 == 0 ? random() % 5000 : random() % 20;
  std::vector<int> v(count + 1, stream);
  v[0] = i;
  return v;
}

void send_all(const side& s, int stream) {
  for (int i = 0; i < messages_each; ++i) {
    const auto data = contents(stream, i);
    request r;
    r.background = i % 2 == 0;
    s.own->send(*s.world, r, std::as_bytes(std::span(data)), 1 - s.rank, stream,
                i % 7 == 0 ? send_mode::synchronous : send_mode::standard);
    s.own->engine().wait(r);
    ASSERT_EQ(r.arrived.how, outcome::ok);
  }
}

void receive_all(const side& s, int stream) {
  for (int i = 0; i < messages_each; ++i) {
    std::vector<int> room(5001, -1);
    request r;
    r.background = i % 2 == 0;
    s.own->receive(*s.world, r, std::as_writable_bytes(std::span(room)),
                   i % 3 == 0 ? any_source : 1 - s.rank, stream);
    s.own->engine().wait(r);
    ASSERT_EQ(r.arrived.how, outcome::ok);
    room.resize(r.arrived.bytes / sizeof(int));
    ASSERT_EQ(room, contents(stream, i));
  }
}

TEST(messages_stress, every_thread_gets_its_messages_whole_and_in_order) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    simulation::job job({.seed = seed,
                         .time = simulation::time_source::machine,
                         .points = progress::polling::automatic});
    side sides[2];
    for (int i = 0; i < 2; ++i)
      sides[i] = {&job.messages(static_cast<std::size_t>(i)),
                  job.open(static_cast<std::size_t>(i), 0), i};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < thread_count; ++t) {
        for (const side& s : sides) {
          threads.emplace_back([&s, t] { send_all(s, s.rank * thread_count + t); });
          threads.emplace_back([&s, t] { receive_all(s, (1 - s.rank) * thread_count + t); });
        }
      }
    }
    for (const side& s : sides) s.own->close_context(s.world);
  }
}

}  // namespace
}  // namespace headway::messages
